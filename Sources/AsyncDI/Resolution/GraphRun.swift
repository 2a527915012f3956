/// One run for a graph instance that is nothing but a call of the factory, in the asker's task.
///
/// The short way of what ``Request`` does for every graph instance, with the same steps.
@usableFromInline struct GraphRun {
    @usableFromInline let frame: Frame

    /// Finds the instance in the graph of the asker, or begins to make it.
    static func begin(
        _ recipe: Recipe, host: any ResolutionHost, table: InstanceTable, asker: Frame?
    ) -> FoundAtOnce {
        let graph = asker?.graph ?? ResolutionGraph(isEntered: true)
        let key = CreationKey(withoutArguments: recipe, asked: host)
        let holder = asker?.holder
        switch graph.join(key, .none, host: host, asker: asker, holder: holder, mayWait: !Task.isCancelled) {
        case .ready(let cell):
            return .instance(cell)
        case .start(let creation, _):
            let run = GraphRun(frame: Frame(of: creation, inside: asker, graph: graph, table: table))
            guard run.frame.isInNewer, let asker, asker.isRepeated(recipe, .none, in: host) else { return .graph(run) }
            _ = run.failed(run.request.circular([]))
            return .other(DecidedRequest(run.request, for: recipe, .cycle([])))
        case let decision:
            // In a graph of its own: the task is cancelled, and that is the answer.
            let request = Request(key: recipe.key, pack: .none, host: host, asker: asker)
            return .other(DecidedRequest(request, for: recipe, decision))
        }
    }

    /// Makes the instance.
    @inlinable @inline(never)
    nonisolated(nonsending) func make<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        defer { leave() }
        let instance: Service
        do {
            instance = try await frame.run(service)
        } catch {
            throw failed(error)
        }
        if try isComplete(with: StrongCell(instance)) { return instance }
        return try await again(service)
    }

    @usableFromInline func failed(_ error: any Error) -> any Error {
        let error = translated(error, in: frame)
        if Task.isCancelled { graph.abandon(creation) }
        creation.settle(.failure(error), in: frame)
        frame.end()
        return error
    }

    /// Ends the creation, unless it has to wait for others that it was given early.
    @usableFromInline func isComplete(with instance: Cell) throws -> Bool {
        let isComplete = creation.settle(.success(instance), in: frame)
        // Before anything waits: a task that outlives the factory is not inside it any more.
        frame.end()
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
        try await request.again(creation.recipe, as: service)
    }

    /// The request that the run is for, in the graph that is in use.
    private var request: Request {
        Request(key: frame.recipe.key, pack: .none, host: frame.host, asker: frame.parent, graph: graph)
    }

    @usableFromInline func leave() {
        // It began the graph's use.
        if frame.parent == nil { graph.leaveAsMaker() }
    }

    private var graph: ResolutionGraph { frame.graph }
    private var creation: Creation {
        guard let creation = frame.creation else { preconditionFailure("a run for a graph instance is a creation") }
        return creation
    }
}

/// A request that has been decided upon, and must suspend or fail.
@usableFromInline final class DecidedRequest: Sendable {
    private let request: Request
    private let recipe: Recipe
    private let decision: JoinDecision

    init(_ request: Request, for recipe: Recipe, _ decision: JoinDecision) {
        self.request = request
        self.recipe = recipe
        self.decision = decision
    }

    /// Carries the decision out.
    @usableFromInline
    nonisolated(nonsending) func value<Service: Sendable>(as service: Service.Type) async throws -> Service {
        guard case .answer(let cell) = try await request.follow(decision), let instance = cell.load(as: service) else {
            return try await request.again(recipe, as: service)
        }
        return instance
    }
}

extension Request {
    /// The instance, asked for again; of a graph, that of this very registration, which may have been replaced
    /// meanwhile.
    fileprivate nonisolated(nonsending) func again<Service: Sendable>(
        _ recipe: Recipe, as service: Service.Type
    ) async throws -> Service {
        if recipe.isPlainGraph, let instance = try await graphInstance(recipe)?.load(as: service) { return instance }
        return try await resolve(service)
    }
}
