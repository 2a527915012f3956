extension Container {
    /// The resolver for requests made through this container.
    ///
    /// Inside `withScope`, an outer container stands for the innermost scope below it. Inside a factory, a request goes
    /// to exactly the container that it names, so that an override can resolve the original from the outer container.
    nonisolated var resolver: Resolver {
        ResolutionContext.activeRun == nil ? core.resolver : Resolver(host: core, run: nil)
    }

    /// Returns an instance of a service, creating it if necessary.
    ///
    /// Runs in the caller's task and isolation. A request for an existing instance takes no lock and does not suspend.
    /// Concurrent requests share one creation of a shared instance.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError` when the calling task is
    ///   cancelled while it waits, at once.
    public nonisolated(nonsending) func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> Service {
        try await resolveUnready(service, qualifier)
    }

    /// Returns an instance of a service with a qualifier of known type, creating it if necessary.
    @_documentation(visibility: internal)
    @inlinable
    public nonisolated(nonsending) func resolve<Service: Sendable, Name: Qualifier>(
        _ service: Service.Type = Service.self, qualifier: Name
    ) async throws -> Service {
        if let hit = beginHit(service, qualifier) {
            // Until the read has ended: the end of the container waits for it.
            defer { withExtendedLifetime(self) {} }
            if let instance = hit.instance(of: service, qualifier: qualifier) { return instance }
        }
        return try await resolveUnready(service, qualifier)
    }

    @usableFromInline
    nonisolated(nonsending) func resolveUnready<Service: Sendable>(
        _ service: Service.Type, _ qualifier: (any Qualifier)?
    ) async throws -> Service {
        let resolver = resolver
        do {
            return try await resolver.resolve(service, qualifier: qualifier)
        } catch let error where core.isOvertaken(error, asking: resolver.host) {
            return try await resolveUnready(service, qualifier)
        }
    }

    /// Returns an instance of an unqualified service, creating it if necessary.
    ///
    /// The same as ``resolve(_:qualifier:)`` without a qualifier, and faster: a request for an existing instance runs
    /// no generic code.
    ///
    /// - Parameter service: The service type; may be inferred.
    /// - Returns: The instance.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError` when the calling task is
    ///   cancelled while it waits, at once.
    @inlinable
    public nonisolated(nonsending) func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self
    ) async throws -> Service {
        switch find(service) {
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
        case .indexed:
            return try await resolveOther(service, nil)
        }
    }

    /// Handles requests that the look-up cannot answer at once.
    ///
    /// A separate function, so that the one above is small enough to be inlined: on a hit this saves a quarter of the
    /// time.
    @inlinable @inline(never)
    nonisolated(nonsending) func resolveOther<Service: Sendable>(
        _ service: Service.Type, _ request: DecidedRequest?
    ) async throws -> Service {
        if let request { return try await request.value(as: service) }
        return try await resolveUnready(service, nil)
    }

    /// The published instance of a service with a qualifier, perhaps a different one of the same type and hash.
    @inlinable
    nonisolated func beginHit<Name: Qualifier>(
        _ service: any Any.Type, _ qualifier: Name
    ) -> InstanceTable.QualifiedHit? {
        // An instance of a class may be one of a subclass: such a request takes the long way.
        if Name.self is AnyClass { return nil }
        return beginHit(
            QualifierProbe(service, QualifiedDetails<Name>.self, QualifiedDetails<Name>.hash(of: qualifier)))
    }

    @usableFromInline
    nonisolated func beginHit(_ probe: QualifierProbe) -> InstanceTable.QualifiedHit? {
        guard isOutsideRuns else { return nil }
        guard standsForItself else { return core.asked.table.find(probe) }
        return table.find(probe)
    }

    @usableFromInline
    nonisolated func find(_ service: any Any.Type) -> Answer {
        guard isOutsideRuns else { return .other(nil) }
        guard standsForItself else { return core.asked.find(service) }
        // Not through the core, which would be retained: a hit retains only the instance.
        guard let found = table.find(service) else { return core.beginShared(service) }
        return found.answer(from: core, table)
    }

    /// Returns an instance of a service created with arguments.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument. Pass several arguments one by one: a tuple is one argument.
    ///   - rest: The other arguments.
    /// - Returns: The instance for these arguments.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError` when the calling task is
    ///   cancelled while it waits, at once.
    public nonisolated(nonsending) func resolve<Service: Sendable, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Service {
        let resolver = resolver
        do {
            return try await resolver.resolve(service, qualifier: qualifier, arguments: first, repeat each rest)
        } catch let error where core.isOvertaken(error, asking: resolver.host) {
            return try await resolve(service, qualifier: qualifier, arguments: first, repeat each rest)
        }
    }

    /// Returns an instance of a service, or nil when it is not registered.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance, or nil when the service is not registered.
    /// - Throws: The same as ``resolve(_:qualifier:)``, except for this service's own absence.
    public nonisolated(nonsending) func optional<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> Service? {
        let resolver = resolver
        do {
            return try await resolver.optional(service, qualifier: qualifier)
        } catch let error where core.isOvertaken(error, asking: resolver.host) {
            return try await optional(service, qualifier: qualifier)
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
        let resolver = resolver
        do {
            return try await resolver.optional(service, qualifier: qualifier, arguments: first, repeat each rest)
        } catch let error where core.isOvertaken(error, asking: resolver.host) {
            return try await optional(service, qualifier: qualifier, arguments: first, repeat each rest)
        }
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
        let resolver = resolver
        do {
            return try await resolver.make(service, qualifier: qualifier, arguments: repeat each arguments)
        } catch let error where core.isOvertaken(error, asking: resolver.host) {
            return try await make(service, qualifier: qualifier, arguments: repeat each arguments)
        }
    }

    /// Diagnoses a request whose type the compiler cannot infer.
    @available(*, unavailable, message: "name the service, resolve(Service.self), or give the result a type")
    public nonisolated(nonsending) func resolve() async throws -> Never { fatalError() }

    /// Returns an existing instance of an unqualified service, synchronously.
    @_documentation(visibility: internal)
    @inlinable
    public nonisolated func ready<Service: Sendable>(_ service: Service.Type = Service.self) throws -> Service {
        if let hit = beginHit(service) {
            // Until the read has ended: the end of the container waits for it.
            defer { withExtendedLifetime(self) {} }
            return hit.instance(of: service)
        }
        return try ready(service, qualifier: nil)
    }

    /// The published instance of a service, for a request from outside every run.
    @usableFromInline
    nonisolated func beginHit(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard isOutsideRuns else { return nil }
        let found = standsForItself ? table.find(service) : core.asked.table.find(service)
        guard case .hit(let hit)? = consume found else { return nil }
        return hit
    }

    /// Returns an existing instance, synchronously.
    ///
    /// The instance exists after an earlier resolve or an eager start, or as an `instance:` registration.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance.
    /// - Throws: ``ResolutionError`` with the code `notReady` when it has not been created, or `notRegistered`.
    public nonisolated func ready<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) throws -> Service {
        let resolver = resolver
        do {
            return try resolver.request(ServiceKey(service, qualifier: qualifier), .none).ready(service)
        } catch let error where core.isOvertaken(error, asking: resolver.host) {
            return try ready(service, qualifier: qualifier)
        }
    }

    /// Creates an object from existing instances, synchronously; registers and stores nothing.
    ///
    /// For objects that are bound to the main actor or not `Sendable`, such as view models and controllers.
    /// ```swift
    /// let model = try container.ready(using: ViewModel.init)
    /// ```
    /// - Parameter initializer: The initializer, or any function.
    /// - Returns: The initializer's result.
    /// - Throws: ``ResolutionError`` with the code `notReady`, which names the first missing dependency, and the
    ///   initializer's error.
    public nonisolated func ready<Service, each Dependency: Sendable>(
        using initializer: (repeat each Dependency) throws -> Service
    ) throws -> Service {
        try initializer(repeat try ready((each Dependency).self))
    }
}

extension Resolver {
    /// The container that resolves, such as the scope in which a service is being created, for hooks that must know it;
    /// nil when it no longer exists.
    ///
    /// Keep the resolver rather than the container: an instance that holds the container that holds it is never freed.
    public var container: Container? { (host as? ContainerCore)?.handle() }
}
