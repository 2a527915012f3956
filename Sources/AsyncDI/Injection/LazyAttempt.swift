/// An instance of a ``Lazy``, and the container that it was requested from.
struct LazyFound<Service: Sendable>: Sendable {
    let instance: Service
    let host: any ResolutionHost
    /// The registration whose product was to hold the instance.
    ///
    /// Weak because it may be that of a request, which the `Lazy` must not keep.
    private(set) weak var holder: Binding?

    /// The answer to a request.
    init(_ instance: Service, of question: Request) {
        self.instance = instance
        host = question.host
        holder = question.holder?.binding
    }
}

/// The place in which a ``Lazy`` resolves its service: a graph of one instance.
///
/// Concurrent callers wait there, are cancelled alone, retry, and fail in a cycle, as in any other graph.
///
/// The graph holds the instance only during a call: the instance's dependencies lead back to the graph.
struct LazyAttempt: Sendable {
    let graph = ResolutionGraph()
    private let binding = Locked<Binding?>(nil)

    /// Resolves the instance.
    ///
    /// - Returns: The instance, and the container that it was requested from.
    nonisolated(nonsending) func instance<Service: Sendable>(
        _ service: Service.Type, from source: LazySource
    ) async throws -> LazyFound<Service> {
        let requester = source.requester
        let question = try source.question(service, from: requester)
        // A task that has outlived scopes makes an attempt of its own, which no other task joins.
        let outlived = question.graph?.outlived ?? question.asker?.outlived
        let graph = outlived.map { ResolutionGraph(self.graph, outliving: $0.scopes) } ?? self.graph
        do {
            try await question.awaitModules()
            if let (_, table) = question.host.table.registration(of: question.key), question.isHeldUp(by: table) {
                try await question.loadModules(of: table.host)
            }
            // A draining container refuses the attempt, which is a creation of its own, but returns cached instances.
            if question.isRefusedWhileDraining, let cached = try? question.ready(service) {
                return LazyFound(cached, of: question)
            }
            let recorded = source.origin?.asker?.recorded ?? question.asker?.recorded
            let isDeferred = source.origin?.asker?.isActive == false
            recorded?.asks(for: question.key, of: question.host, isDeferred: isDeferred)
            let request = Request(
                key: ServiceKey(Lazy<Service>.self, qualifier: source.qualifier), pack: .none, host: question.host,
                asker: question.asker, graph: graph, heldBy: question.heldBy)
            while true {
                let cell = try await request.graphInstance(
                    binding(asking: question, service, isShared: outlived == nil))
                if let instance = cell?.load(as: service) {
                    return LazyFound(instance, of: question)
                }
            }
        } catch {
            // Two steps, because the graph's instance stands before the service in the path.
            guard requester?.isOvertaken(error, asking: question.host, depth: 2) == true else { throw error }
            return try await instance(service, from: source)
        }
    }

    /// The binding of the attempt: its factory resolves the service.
    private func binding<Service: Sendable>(
        asking question: Request, _ service: Service.Type, isShared: Bool
    ) -> Binding {
        var blueprint = Blueprint(
            key: ServiceKey(Lazy<Service>.self, qualifier: question.key.qualifier), lifetime: .graph,
            factory: ServiceFactory<Service> { resolver, _ in
                let inner = Request(
                    key: question.key, pack: question.pack, host: resolver.host, asker: resolver.run,
                    graph: question.graph ?? ResolutionGraph(), heldBy: question.heldBy)
                return try await inner.resolve(service)
            })
        // In a graph, the owner of the `Lazy` requests the service.
        blueprint.change {
            $0.isHidden = true
            $0.underlying = question.key
        }
        guard isShared else { return Binding(blueprint, defaultLifetime: .graph) }
        return binding.withLock { [blueprint] binding in
            if let binding { return binding }
            let new = Binding(blueprint, defaultLifetime: .graph)
            binding = new
            return new
        }
    }
}

extension LazySource {
    /// Whether every request goes to one container, that of the factory whose dependency the `Lazy` is.
    var isFixed: Bool { given == nil && origin != nil }

    /// The kept instance that answers a request, by the rules of requests; nil if it needs one of its own.
    ///
    /// In most cases no rule applies, because no shared instance will hold it, and nothing is recorded.
    ///
    /// - Parameters:
    ///   - known: The kept instances.
    ///   - question: The request.
    ///   - isProved: Whether a creation has proved that an unshared service needs nothing of the scopes that the
    ///     requesting task has outlived.
    /// - Returns: The instance; nil if the request needs one of its own.
    /// - Throws: The errors of the captive rule and of outlived scopes.
    func instance<Service: Sendable>(
        among known: [LazyFound<Service>], for question: Request, isProved: () -> Bool
    ) throws -> Service? {
        guard question.asker?.holder != nil || question.asker?.recorded != nil || question.isOfOutlivingTask else {
            return known.first?.instance
        }
        if question.host.table.isClosed { return try question.instanceAfterEnd(among: known) }
        guard let (binding, table) = try question.registration(),
            let place = question.place(of: binding, owner: table.host)
        else {
            if question.isOfOutlivingTask, !isFixed, !isProved() { return nil }
            return known.instance(for: question.holder)
        }
        try question.checkCaptive(binding, in: place)
        return known.first?.instance
    }

    /// The requester of the service; nil for the run that the `Lazy` came from, and without a container.
    var requester: _Requester? {
        given ?? (origin == nil ? Injection.requester() : nil)
    }

    /// The request that resolves the service.
    func question<Service>(_ service: Service.Type, from requester: _Requester?) throws -> Request {
        let key = ServiceKey(Service.self, qualifier: qualifier, with: pack)
        let asker = ResolutionContext.activeRun
        if given == nil, let origin {
            // In a task of the run that it came from, it still belongs to that run.
            let asker = asker ?? origin.asker.flatMap { $0.isActive ? $0 : nil }
            return Request(
                key: key, pack: pack, host: origin.host, asker: asker, graph: origin.graph ?? origin.asker?.graph,
                heldBy: origin.holder)
        }
        guard let resolver = requester?.resolver else { throw Injection.noContainer(key) }
        return Request(
            key: key, pack: pack, host: resolver.host, asker: asker, graph: resolver.graph, heldBy: origin?.holder)
    }
}

extension Request {
    /// The kept instance, after the end of the request's container.
    ///
    /// For an instance of a container above, only one that an open container keeps, or that was created for the same
    /// registration: any other may have belonged to an ended scope.
    fileprivate func instanceAfterEnd<Service: Sendable>(among known: [LazyFound<Service>]) throws -> Service? {
        guard let holder, let home = holder.home, host.isBelow(home), !holder.binding.blueprint.isHidden else {
            return known.first?.instance
        }
        let core = host as? ContainerCore
        if let core, let open = core.openAround, let (binding, table) = open.table.registration(of: key),
            binding.lifetime.sharing == .registeringContainer,
            !core.lineage.prefix(while: { $0 !== open }).contains(where: { $0.registeredKeys.contains(key) })
        {
            try checkCaptive(binding, in: table.host)
            return known.first?.instance
        }
        if let instance = known.instance(for: holder) { return instance }
        throw host.refusal(of: key, asker: asker)
    }

    /// Whether the service is a transient or graph one, or a wrapper, whose content depends on the request.
    var isOfUnsharedService: Bool {
        host.table.registration(of: key).map { place(of: $0.binding, owner: $0.table.host) == nil } ?? true
    }
}

extension Array {
    /// The instance of a transient or graph service that a creation's product may hold: the content of one that was
    /// made for another holder was checked for that one.
    func instance<Service>(for holder: Creation?) -> Service? where Element == LazyFound<Service> {
        guard let holder, let kept = first, holder.mustNotShare(whatWasMadeFor: kept.holder, in: kept.host)
        else { return first?.instance }
        return first { $0.holder === holder.binding }?.instance
    }
}
