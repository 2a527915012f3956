/// Resolves a factory's dependencies.
///
/// It resolves from the container that creates the service, and knows its creation: cycles are found even
/// when it is used in another task. After the factory's end it still resolves from the same container, outside any
/// creation, and does not keep that container alive.
public struct Resolver: Sendable {
    let run: Run?
    /// The container, when it is not the run's host: a run's own resolver is nothing but its run.
    private let otherHost: (any ResolutionHost)?
    /// The graph that every request shares, when it is not that of the run.
    let graph: ResolutionGraph?

    init(host: any ResolutionHost, run: Run?, graph: ResolutionGraph? = nil) {
        self.run = run
        otherHost = run?.host === host ? nil : host
        self.graph = graph
    }

    /// The resolver of a run.
    @usableFromInline
    init(_ run: Run) {
        self.run = run
        otherHost = nil
        graph = nil
    }

    /// The container that resolves.
    var host: any ResolutionHost {
        if let otherHost { return otherHost }
        guard let run else { preconditionFailure("a resolver without a run has a host") }
        return run.host
    }

    /// The requesting run: the one that this task is in, or else the one for which the resolver was created.
    var asker: Run? {
        if let active = ResolutionContext.activeRun { return active }
        guard let run, run.isActive else { return nil }
        return run
    }

    func request(_ key: ServiceKey, _ pack: ArgumentPack) -> Request {
        Request(key: key, pack: pack, host: host, asker: asker, graph: graph)
    }

    /// Returns an instance of a service, creating it if necessary.
    ///
    /// Runs in the caller's task and isolation. A request for an existing instance takes no lock and does not suspend.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError` when the calling task is
    ///   cancelled while it waits.
    public nonisolated(nonsending) func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> Service {
        try await request(ServiceKey(service, qualifier: qualifier), .none).resolve(service)
    }

    /// Returns an instance of an unqualified service, creating it if necessary.
    ///
    /// The same as ``resolve(_:qualifier:)`` without a qualifier, and faster: a request for an existing instance runs
    /// no generic code.
    ///
    /// - Parameter service: The service type; may be inferred.
    /// - Returns: The instance.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError` when the calling task is
    ///   cancelled while it waits.
    @inlinable
    public nonisolated(nonsending) func resolve<Service: Sendable>(
        _ service: Service.Type = Service.self
    ) async throws -> Service {
        switch try find(service) {
        case .hit(let hit):
            // Until the read has ended: the resolver's references must not end during it.
            defer { withExtendedLifetime(self) {} }
            return hit.instance(of: service)
        case .instance(let cell):
            return cell.value(as: service)
        case .run(let run):
            return try await run.makeHere(service)
        case .wait(let waiter):
            return try await waiter.cell().value(as: service)
        case .other(let request):
            return try await resolveOther(service, request)
        case .indexed:
            return try await resolveOther(service, nil)
        }
    }

    /// Handles requests that the look-up cannot answer at once.
    @usableFromInline
    nonisolated(nonsending) func resolveOther<Service: Sendable>(
        _ service: Service.Type, _ request: DecidedRequest?
    ) async throws -> Service {
        if let request { return try await request.value(as: service) }
        return try await resolve(service, qualifier: nil)
    }

    /// The instance that a look-up finds: where no rule about its holder applies, and nothing is recorded.
    @usableFromInline
    func find(_ service: any Any.Type) throws -> Answer {
        guard let run = runOfThisTask else { return try findElsewhere(service) }
        return try run.find(service)
    }

    /// The run that the request belongs to, if that run's task and container make it, as for most requests.
    @inline(__always)
    var runOfThisTask: Run? {
        guard otherHost == nil, graph == nil, let run, ResolutionContext.run === run, run.isActive else {
            return nil
        }
        return run
    }

    @inline(never)
    private func findElsewhere(_ service: any Any.Type) throws -> Answer {
        guard graph == nil else { return .other(nil) }
        guard let asker else {
            let host = host
            let table = host.table
            guard let found = table.find(service) else { return .other(nil) }
            return found.answer(from: host, table)
        }
        guard asker.host === host else { return .other(nil) }
        return try asker.find(service)
    }

    /// The published instance, where no rule about its holder applies, and nothing is recorded.
    @usableFromInline
    func beginHit(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard let run = runOfThisTask else { return beginHitElsewhere(service) }
        return run.beginHit(service)
    }

    @inline(never)
    private func beginHitElsewhere(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard graph == nil else { return nil }
        let asker = asker
        guard asker?.holder == nil, asker?.recorded == nil, asker?.isOfOutlivingTask != true,
            case .hit(let hit)? = host.table.find(service)
        else { return nil }
        return hit
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
    ///   cancelled while it waits.
    public nonisolated(nonsending) func resolve<Service: Sendable, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Service {
        let pack = Arguments(first, repeat each rest)
        return try await request(ServiceKey(service, qualifier: qualifier, arguments: type(of: pack)), pack)
            .resolveUnready(service)
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
        try await request(ServiceKey(service, qualifier: qualifier), .none).optional(service)
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
        return try await request(ServiceKey(service, qualifier: qualifier, arguments: type(of: pack)), pack)
            .optional(service)
    }

    /// Returns an instance that is not disposed before the instance that is being created.
    ///
    /// ```swift
    /// Registration(UnitOfWork.self, lifetime: .scoped) { r in
    ///     UnitOfWork(pool: try await r.lease(TenantPool.self, arguments: "acme"))
    /// }
    /// ```
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    /// - Returns: The instance.
    /// - Throws: ``ResolutionError/Code/invalidOperation`` when no container owns the end of the new instance, and the
    ///   errors of ``resolve(_:qualifier:arguments:_:)``.
    public nonisolated(nonsending) func lease<Service: Sendable, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Service {
        let pack = Arguments(first, repeat each rest)
        return try await request(ServiceKey(service, qualifier: qualifier, arguments: type(of: pack)), pack)
            .leasedForCreation(service)
    }

    /// Returns an instance without arguments that is not disposed before the instance that is being created.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance.
    /// - Throws: ``ResolutionError/Code/invalidOperation`` when no container owns the end of the new instance, and the
    ///   errors of ``resolve(_:qualifier:)``.
    public nonisolated(nonsending) func lease<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) async throws -> Service {
        try await request(ServiceKey(service, qualifier: qualifier), .none).leasedForCreation(service)
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
        let (key, pack) = ServiceKey.making(service, qualifier, repeat each arguments)
        return try await request(key, pack).make(service)
    }

    /// Diagnoses a request whose type the compiler cannot infer.
    @available(*, unavailable, message: "name the service, resolve(Service.self), or give the result a type")
    public nonisolated(nonsending) func resolve() async throws -> Never { fatalError() }
}

extension ServiceKey {
    /// The key of a `making:` registration, and the arguments erased.
    static func making<Service, each Argument: Sendable>(
        _ service: Service.Type, _ qualifier: (any Qualifier)?, _ arguments: repeat each Argument
    ) -> (ServiceKey, ArgumentPack) {
        let pack = ArgumentPack.erasing(repeat each arguments)
        let isEmpty = Arguments<repeat each Argument>.types.isEmpty
        let key = ServiceKey(service, qualifier: qualifier, arguments: isEmpty ? nil : type(of: pack), role: .making)
        return (key, pack)
    }
}
