/// The methods that request services: the same for a container, a factory's resolver and the free functions.
///
/// Only types of the library conform to it.
public protocol _Resolving: Sendable {
    /// The requester of the requests made through this value.
    var _requester: _Requester { get }
}

extension _Resolving {
    /// Returns an instance of an unqualified service, creating it if necessary.
    ///
    /// Runs in the caller's task and isolation. A request for an existing instance takes no lock, runs no generic code
    /// and does not suspend. Concurrent requests share one creation of a shared instance.
    ///
    /// - Parameter service: The service type; may be inferred.
    /// - Returns: The instance.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError`, at once, when the
    ///   calling task is cancelled while it waits for an instance that another task creates.
    @inlinable @inline(__always)
    public nonisolated(nonsending) func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self
    ) async throws -> Service {
        // Swift 6.3 forgets that a copy specialized for one type runs in its caller's isolation: a caller that has
        // awaited another actor before would not return to its own for the call. Always inlined, it does, because the
        // look-up needs the actor. Functions that do not begin with such a call must not be specialized by callers:
        // they name internal symbols. `IsolationStress` has each form of a request.
        switch try _requester.find(Service.self, onActor: isOnActor()) {
        case .hit(let hit):
            // Until the read has ended: the end of the container waits for it.
            defer { withExtendedLifetime(self) {} }
            return hit.instance(of: service)
        case .instance(let cell):
            return cell.value(as: service)
        case .run(let run):
            return try await run.make(service)
        case .wait(let waiter):
            return try await waiter.cell().value(as: service)
        case .other(let request):
            return try await resolveOther(service, request)
        }
    }

    /// Handles requests that the look-up cannot answer at once.
    ///
    /// A separate function, so that its caller is small enough to be inlined, which saves a quarter of a hit's time. It
    /// makes the requester, so that the frame of a task that waits stays in the memory that the task has.
    @inlinable @inline(never)
    nonisolated(nonsending) func resolveOther<Service: Sendable>(
        _ service: Service.Type, _ request: DecidedRequest?
    ) async throws -> Service {
        try await _requester.resolveOther(service, request)
    }

    /// Returns an instance of a service, creating it if necessary.
    ///
    /// The same as ``resolve(_:)``, for a service that may have a qualifier.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError`, at once, when the
    ///   calling task is cancelled while it waits for an instance that another task creates.
    public nonisolated(nonsending) func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> Service {
        // Not by `resolveUnready`, whose callers may be specialized: see `resolve(_:)`.
        try await _requester.carryOut(ServiceKey(Service.self, qualifier: qualifier)) { try await $0.resolve(service) }
    }

    /// Returns an instance of a service with a qualifier of known type, creating it if necessary.
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public nonisolated(nonsending) func resolve<Service: Sendable, Name: Qualifier>(
        _ service: Service.Type = Service.self, qualifier: Name
    ) async throws -> Service {
        if let probe = QualifierProbe(Service.self, of: qualifier) {
            if let hit = _requester.beginHit(probe) {
                // Until the read has ended: the end of the container waits for it.
                defer { withExtendedLifetime(self) {} }
                if let instance = hit.instance(of: service, qualifier: qualifier) { return instance }
            }
            if let run = _requester.beginPlainRun(probe, isSame: { QualifiedDetails<Name>.name(in: $0) == qualifier }) {
                return try await run.make(service)
            }
        }
        return try await _requester.resolveUnready(service, qualifier)
    }

    /// Returns an instance of a service created with arguments.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument. Pass several arguments one by one: a tuple is one argument.
    ///   - rest: The other arguments.
    /// - Returns: The instance for these arguments.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError`, at once, when the
    ///   calling task is cancelled while it waits for an instance that another task creates.
    public nonisolated(nonsending) func resolve<Service: Sendable, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Service {
        let pack = Arguments(first, repeat each rest)
        // Not by `resolveUnready`, whose callers may be specialized: see `resolve(_:)`.
        return try await _requester.carryOut(ServiceKey(Service.self, qualifier: qualifier, with: pack), pack) {
            try await $0.resolveUnready(service)
        }
    }

    /// Returns an instance of a service, or nil when it is not registered.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance, or nil when the service is not registered, or expected of each scope and not supplied.
    /// - Throws: The same as ``resolve(_:qualifier:)``, except for this service's own absence.
    public nonisolated(nonsending) func optional<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> Service? {
        try await _requester.carryOut(ServiceKey(Service.self, qualifier: qualifier)) { request in
            try await request.optional(service)
        }
    }

    /// Returns an instance of a service created with arguments, or nil when it is not registered.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    /// - Returns: The instance, or nil when the service is not registered at all.
    /// - Throws: ``ResolutionError/Code/argumentMismatch`` when it is registered with other arguments, and the errors
    ///   of ``resolve(_:qualifier:arguments:_:)``.
    public nonisolated(nonsending) func optional<Service: Sendable, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Service? {
        let pack = Arguments(first, repeat each rest)
        return try await _requester.carryOut(
            ServiceKey(Service.self, qualifier: qualifier, arguments: type(of: pack)), pack
        ) { request in try await request.optional(service) }
    }

    /// Creates a service that need not be `Sendable`, registered with `Registration(making:)`: a new one each time.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - arguments: The arguments of the factory.
    /// - Returns: The instance, sent to the caller's isolation.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``.
    public nonisolated(nonsending) func make<Service, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, arguments: repeat each Argument
    ) async throws -> sending Service {
        let (key, pack) = ServiceKey.making(Service.self, qualifier, repeat each arguments)
        return try await _requester.carryOut(key, pack) { request in try await request.make(service) }
    }

    /// Returns every contribution to a service, in the order of registration: an ancestor's contributions first.
    ///
    /// Missing instances are created concurrently, without an influence on the order. A contribution that overrides
    /// another by its key, in this container or above it, takes the other's place.
    /// ```swift
    /// try await container.registerMany((any Plugin).self) { _ in SpellChecker() }
    /// try await container.registerMany((any Plugin).self) { _ in WordCounter() }
    /// let plugins = try await container.resolveMany((any Plugin).self)
    /// ```
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the contributions were registered with.
    /// - Returns: An instance of each contribution; an empty array without contributions.
    /// - Throws: A factory's error, unchanged; ``ResolutionError``; `CancellationError`.
    public nonisolated(nonsending) func resolveMany<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> [Service] {
        try await _requester.carryOut(ServiceKey(Service.self, qualifier: qualifier)) { request in
            try await request.contributions().instances(of: service)
        }
    }

    /// Returns the contributions to a service under keys of one type; a nearer container's contribution hides one above
    /// it with the same key.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - key: The type of the keys; contributions without a key, or with one of another type, are left out.
    ///   - qualifier: The qualifier that the contributions were registered with.
    /// - Returns: An instance of each contribution by its key.
    /// - Throws: A factory's error, unchanged; ``ResolutionError``; `CancellationError`.
    public nonisolated(nonsending) func resolveMap<Service: Sendable, Key: Hashable & Sendable>(
        _ service: Service.Type = Service.self, keyedBy key: Key.Type, qualifier: (any Qualifier)? = nil
    ) async throws -> [Key: Service] {
        try await _requester.carryOut(ServiceKey(Service.self, qualifier: qualifier)) { request in
            try await request.contributions(keyedBy: key).dictionary(of: service, keyedBy: key)
        }
    }

    /// Diagnoses a request whose type the compiler cannot infer.
    @available(*, unavailable, message: "name the service, resolve(Service.self), or give the result a type")
    public nonisolated(nonsending) func resolve() async throws -> Never { fatalError() }

    /// Diagnoses a request whose type the compiler cannot infer.
    @available(
        *, unavailable, message: "name the service, resolve(Service.self, qualifier: …), or give the result a type"
    )
    public nonisolated(nonsending) func resolve(qualifier: any Qualifier) async throws -> Never { fatalError() }

    /// Diagnoses a request whose type the compiler cannot infer.
    @available(
        *, unavailable, message: "name the service, resolve(Service.self, arguments: …), or give the result a type"
    )
    public nonisolated(nonsending) func resolve<First: Sendable, each Argument: Sendable>(
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Never { fatalError() }
}
