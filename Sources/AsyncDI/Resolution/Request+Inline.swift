/// Transient and graph instances: made in the asker's task.
extension Request {
    nonisolated(nonsending) func makeTransient<Service: Sendable>(
        _ recipe: Recipe, as service: Service.Type
    ) async throws -> Service {
        let factory = unsafeDowncast(recipe.blueprint.factory, to: ServiceFactory<Service>.self)
        if recipe.hasHooks || factory.isDecorated { return try await makeTransientCell(recipe).value(as: service) }
        return try await inFrame(of: recipe) { resolver, frame in
            try await translatingCancellation(in: frame) { try await factory.make(resolver, pack) }
        }
    }

    nonisolated(nonsending) func makeTransientCell(_ recipe: Recipe) async throws -> Cell {
        try await inFrame(of: recipe) { resolver, frame in
            let cell = try await translatingCancellation(in: frame) {
                try await recipe.blueprint.factory.makeCell(resolver, pack)
            }
            if recipe.hasHooks { try await recipe.runHooks(cell, in: frame) }
            return cell
        }
    }

    /// Makes a service that need not be `Sendable`, and sends it to the caller.
    nonisolated(nonsending) func make<Service>(_ service: Service.Type) async throws -> sending Service {
        try await awaitModules()
        guard !host.table.isClosed else { throw host.disposedError(key, asker: asker) }
        guard let (recipe, _) = host.table.registration(of: key) else { throw host.miss(key, asker: asker) }
        if let problem = recipe.problem { throw problem }
        let factory = unsafeDowncast(recipe.blueprint.factory, to: MakingFactory<Service>.self)
        let frame = try beginFrame(of: recipe)
        defer { end(frame) }
        let resolver = Resolver(host: host, frame: frame)
        do {
            return try await ResolutionContext.$frame.bind(frame) { try await factory.make(resolver, pack) }
        } catch {
            throw translated(error, in: frame)
        }
    }

    private nonisolated(nonsending) func inFrame<R: Sendable>(
        of recipe: Recipe, _ body: nonisolated(nonsending) (Resolver, Frame) async throws -> R
    ) async throws -> R {
        let frame = try beginFrame(of: recipe)
        defer { end(frame) }
        return try await ResolutionContext.$frame.bind(frame) {
            try await body(Resolver(host: host, frame: frame), frame)
        }
    }

    private func beginFrame(of recipe: Recipe) throws -> Frame {
        try Task.checkCancellation()
        let step = PathStep(key: recipe.key, recipe: recipe, pack: pack)
        try checkInlineCycle(step)
        return Frame(step, host: host, inside: asker, creation: nil, holder: holder, graph: enterGraph())
    }

    private func end(_ frame: Frame) {
        frame.end()
        leaveGraph(frame.graph)
    }

    /// The graph that instances are shared in, for as long as this request takes.
    private func enterGraph() -> ResolutionGraph {
        if let graph {
            graph.enter()
            return graph
        }
        return asker?.graph ?? ResolutionGraph(isEntered: true)
    }

    private func leaveGraph(_ used: ResolutionGraph) {
        if graph != nil || asker == nil { used.leave() }
    }

    /// The same registration with equal arguments is already being made further out in this task: it would be forever.
    private func checkInlineCycle(_ step: PathStep) throws {
        var frame = asker
        while let current = frame {
            if current.host === host, current.step.isSame(as: step) { throw circular([]) }
            frame = current.parent
        }
    }

    // MARK: Graph

    nonisolated(nonsending) func graphInstance(_ recipe: Recipe) async throws -> Cell? {
        let graph = enterGraph()
        let key = CreationKey(recipe, pack, asked: host)
        defer { leaveGraph(graph) }
        while true {
            let waiter = Waiter()
            switch graph.join(key, for: self, waiter: waiter, mayWait: !Task.isCancelled) {
            case .start(let creation):
                if let cell = try await run(creation, in: graph) { return cell }
            case let decision:
                if case .answer(let cell) = try await follow(decision, waiter: waiter) { return cell }
            }
        }
    }

    /// Runs a graph creation in this task.
    ///
    /// Nil when it is not complete yet: ask the graph again.
    private nonisolated(nonsending) func run(_ creation: Creation, in graph: ResolutionGraph) async throws -> Cell? {
        let frame = Frame(creation.step, host: host, inside: asker, creation: creation, holder: holder, graph: graph)
        var hooksRunElsewhere = false
        defer {
            if !hooksRunElsewhere { frame.end() }
        }
        let result: Result<Void, any Error>
        do {
            try await creation.makeInstance(in: frame)
            if let asker, !creation.recipe.blueprint.propertyHooks.isEmpty {
                hooksRunElsewhere = true
                return try await waitForHooks(of: creation, frame: frame, in: graph, asker: asker)
            }
            try await creation.runHooks(in: frame)
            result = .success(())
        } catch {
            if hooksRunElsewhere { throw error }
            if Task.isCancelled { graph.abandon(creation) }
            creation.settle(.failure(error), in: frame)
            throw error
        }
        let instance = creation.instance
        return creation.settle(result, in: frame) ? try resultOfInlineRun(creation, instance) : nil
    }

    /// A creation that is complete gives its instance; one that was given an instance which failed meanwhile fails with it.
    private func resultOfInlineRun(_ creation: Creation, _ instance: Cell?) throws -> Cell? {
        if let failure = creation.failure { throw delivered(failure, by: creation) }
        return instance
    }

    /// The hooks of a nested creation may need what this task is in the middle of making: they run in a task of their own, so that
    /// this one can be given the unfinished instance and go on.
    private nonisolated(nonsending) func waitForHooks(
        of creation: Creation, frame: Frame, in graph: ResolutionGraph, asker: Frame
    ) async throws -> Cell? {
        let waiter = Waiter()
        let decision = graph.handOver(creation, to: waiter, asker: asker)
        creation.launchHooks(in: Frame(hooksOf: frame), endingWith: frame)
        guard let decision else { return nil }
        guard case .answer(let cell) = try await follow(decision, waiter: waiter) else { return nil }
        return cell
    }
}
