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
        return try await request(ServiceKey(Service.self, qualifier: qualifier, arguments: type(of: pack)), pack)
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
        try await request(ServiceKey(Service.self, qualifier: qualifier), .none).leasedForCreation(service)
    }
}

/// The look-up.
extension Resolver {
    /// The instance that a look-up finds: where no rule about its holder applies, and nothing is recorded.
    @usableFromInline
    func find(_ service: any Any.Type, onActor isOnActor: Bool) throws -> Answer {
        guard let run = runOfThisTask else { return try findElsewhere(service, onActor: isOnActor) }
        return try run.find(service, onActor: isOnActor)
    }

    /// The run that the request belongs to, if that run's task and container make it, as for most requests.
    var runOfThisTask: Run? {
        guard otherHost == nil, graph == nil, let run, ResolutionContext.run === run, run.isActive else {
            return nil
        }
        return run
    }

    private func findElsewhere(_ service: any Any.Type, onActor isOnActor: Bool) throws -> Answer {
        guard graph == nil else { return .other(nil) }
        guard let asker else {
            let host = host
            let table = host.table
            guard let found = table.find(service) else { return .other(nil) }
            return found.answer(from: host, table)
        }
        guard asker.host === host else { return .other(nil) }
        return try asker.find(service, onActor: isOnActor)
    }

    /// The published instance, where no rule about its holder applies, and nothing is recorded.
    @usableFromInline
    func beginHit(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard let run = runOfThisTask else { return beginHitElsewhere(service) }
        return run.beginHit(service)
    }

    private func beginHitElsewhere(_ service: any Any.Type) -> InstanceTable.Hit? {
        guard graph == nil else { return nil }
        let asker = asker
        guard asker?.holder == nil, asker?.recorded == nil, asker?.isOfOutlivingTask != true,
            case .hit(let hit)? = host.table.find(service)
        else { return nil }
        return hit
    }

    /// The published instance of a service with a qualifier, in the same way.
    @usableFromInline
    func beginHit(_ probe: QualifierProbe) -> InstanceTable.QualifiedHit? { runOfThisTask?.beginHit(probe) }

    /// The answer to a request with arguments; nil where it takes every rule into account.
    @usableFromInline
    func find(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int, pack: () -> ArgumentPack
    ) -> ArgumentsAnswer? {
        runOfThisTask?.find(service, arguments, hash: hash, pack: pack)
    }

    /// Whether requests with these arguments find instances by their hash.
    @usableFromInline
    func isIndexed(_ service: any Any.Type, _ arguments: ArgumentPack.Type) -> Bool {
        runOfThisTask != nil && host.table.isIndexed(service, arguments)
    }
}

extension ServiceKey {
    /// The key of a `making:` registration, and the arguments erased.
    static func making<Service, each Argument: Sendable>(
        _ service: Service.Type, _ qualifier: (any Qualifier)?, _ arguments: repeat each Argument
    ) -> (ServiceKey, ArgumentPack) {
        let pack = ArgumentPack.erasing(repeat each arguments)
        return (ServiceKey(Service.self, qualifier: qualifier, with: pack, role: .making), pack)
    }
}
