/// One run for a graph instance that is nothing but a call of the factory, in the asker's task.
///
/// The short way of what ``Request`` does for every graph instance, with the same steps.
@usableFromInline struct GraphRun {
    @usableFromInline let run: Run

    /// Finds the instance in the graph of the asker, or begins to make it.
    static func begin(
        _ binding: Binding, host: any ResolutionHost, table: InstanceTable, asker: Run?
    ) -> FoundAtOnce {
        let graph = asker?.graph ?? ResolutionGraph(isEntered: true)
        let key = CreationKey(withoutArguments: binding, asked: host)
        let holder = asker?.holder
        switch graph.join(key, .none, host: host, asker: asker, holder: holder, mayWait: !Task.isCancelled) {
        case .ready(let cell):
            return .instance(cell)
        case .start(let creation, _):
            let graphRun = GraphRun(run: Run(of: creation, inside: asker, graph: graph, table: table))
            guard graphRun.run.isInNewer, let asker, asker.isRepeated(binding, .none, in: host) else {
                return .graph(graphRun)
            }
            _ = graphRun.failed(graphRun.request.circular([]))
            return .other(DecidedRequest(graphRun.request, for: binding, .cycle([])))
        case let decision:
            // In a graph of its own: the task is cancelled, and that is the answer.
            let request = Request(key: binding.key, pack: .none, host: host, asker: asker)
            return .other(DecidedRequest(request, for: binding, decision))
        }
    }

    /// Makes the instance.
    @inlinable @inline(never)
    nonisolated(nonsending) func make<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        defer { leave() }
        let instance: Service
        do {
            instance = try await run.callFactory(service)
        } catch {
            throw failed(error)
        }
        if try isComplete(with: StrongCell(instance)) { return instance }
        return try await again(service)
    }

    @usableFromInline func failed(_ error: any Error) -> any Error {
        let error = translated(error, in: run)
        if Task.isCancelled { graph.abandon(creation) }
        creation.settle(.failure(error), in: run)
        run.end()
        return error
    }

    /// Ends the creation, unless it has to wait for others that it was given early.
    @usableFromInline func isComplete(with instance: Cell) throws -> Bool {
        let isComplete = creation.settle(.success(instance), in: run)
        // Before anything waits: a task that outlives the factory is not inside it any more.
        run.end()
        guard isComplete else { return false }
        guard let failure = creation.failure else { return true }
        // Given an instance of a creation that was cancelled, for others than this task: it starts over.
        if failure is CancellationError, !Task.isCancelled { return false }
        // It was given an instance which failed meanwhile, and fails with it.
        throw request.delivered(failure, by: creation)
    }

    /// Waits until others have completed the instance.
    @usableFromInline
    nonisolated(nonsending) func again<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        try await request.again(creation.binding, as: service)
    }

    /// The request that the run is for, in the graph that is in use.
    private var request: Request {
        Request(key: run.binding.key, pack: .none, host: run.host, asker: run.parent, graph: graph)
    }

    @usableFromInline func leave() {
        // It began the graph's use.
        if run.parent == nil { graph.leaveAsMaker() }
    }

    private var graph: ResolutionGraph { run.graph }
    private var creation: Creation {
        guard let creation = run.creation else { preconditionFailure("a run for a graph instance is a creation") }
        return creation
    }
}

/// A request that has been decided upon, and must suspend or fail.
@usableFromInline final class DecidedRequest: Sendable {
    private let request: Request
    private let binding: Binding
    private let decision: JoinDecision

    init(_ request: Request, for binding: Binding, _ decision: JoinDecision) {
        self.request = request
        self.binding = binding
        self.decision = decision
    }

    /// Carries the decision out.
    @usableFromInline
    nonisolated(nonsending) func value<Service: Sendable>(as service: Service.Type) async throws -> Service {
        guard case .answer(let cell) = try await request.follow(decision), let instance = cell.load(as: service) else {
            return try await request.again(binding, as: service)
        }
        return instance
    }
}

extension Request {
    /// The instance, asked for again; of a graph, that of this very registration, which may have been replaced
    /// meanwhile.
    fileprivate nonisolated(nonsending) func again<Service: Sendable>(
        _ binding: Binding, as service: Service.Type
    ) async throws -> Service {
        if binding.isPlainGraph, let instance = try await graphInstance(binding)?.load(as: service) { return instance }
        return try await resolve(service)
    }
}
