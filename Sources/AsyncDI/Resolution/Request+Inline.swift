/// Transient and graph instances: made in the asker's task.
extension Request {
    nonisolated(nonsending) func makeTransient<Service: Sendable>(
        _ recipe: Recipe, as service: Service.Type
    ) async throws -> Service {
        // Unchecked because the key under which the registration was found has proved the type.
        let factory = unsafeDowncast(recipe.blueprint.factory, to: ServiceFactory<Service>.self)
        if recipe.hasHooks || factory.isDecorated { return try await makeTransientCell(recipe).value(as: service) }
        let frame = try beginFrame(of: recipe)
        defer { end(frame) }
        do {
            return try await frame.run(service)
        } catch {
            throw translated(error, in: frame)
        }
    }

    nonisolated(nonsending) func makeTransientCell(_ recipe: Recipe) async throws -> Cell {
        let frame = try beginFrame(of: recipe)
        defer { end(frame) }
        let cell = try await translatingCancellation(in: frame) {
            try await ResolutionContext.$frame.bind(frame) {
                try await recipe.blueprint.factory.makeCell(Resolver(host: host, frame: frame), pack) { _ in }
            }
        }
        if recipe.hasHooks { try await recipe.runHooks(cell, in: frame) }
        return cell
    }

    /// Makes a service that need not be `Sendable`, and sends it to the caller.
    nonisolated(nonsending) func make<Service>(_ service: Service.Type) async throws -> sending Service {
        try await awaitModules()
        guard !host.table.isClosed else { throw host.disposedError(key, asker: asker) }
        let found = host.table.registration(of: key)
        try checkOutlived(answeredBy: found?.recipe)
        guard let (recipe, table) = found else { throw host.miss(key, asker: asker) }
        asker?.recorded?.asks(for: recipe, in: table)
        if let problem = recipe.problem { throw problem }
        // Unchecked because the key, which only a `making:` registration has, has proved the type.
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

    private func beginFrame(of recipe: Recipe) throws -> Frame {
        try Task.checkCancellation()
        try refuseWhileDraining()
        try checkInlineCycle(recipe)
        graph?.enter()
        return Frame(of: recipe, pack, host: host, inside: asker, creation: nil, holder: holder, graph: graph)
    }

    private func end(_ frame: Frame) {
        frame.end()
        if let graph { graph.leave() } else if asker == nil { frame.leaveOwnGraph() }
    }

    /// The same registration with equal arguments is already being made further out in this task: it would be forever.
    func checkInlineCycle(_ recipe: Recipe) throws {
        guard let asker else { return }
        if asker.isMaking(recipe, pack, in: host) || asker.isRepeated(recipe, pack, in: host) { throw circular([]) }
    }

    // MARK: Graph

    nonisolated(nonsending) func graphInstance(_ recipe: Recipe) async throws -> Cell? {
        try refuseWhileDraining()
        let graph = graph ?? asker?.graph ?? ResolutionGraph()
        let isOutermost = self.graph != nil || asker == nil
        if isOutermost { graph.enter() }
        defer { if isOutermost { graph.leave() } }
        let key = CreationKey(recipe, pack, asked: host)
        while true {
            switch graph.join(
                key, pack, host: host, asker: asker, holder: holder, isInner: isInner, mayWait: !Task.isCancelled)
            {
            case .start(let creation, _):
                if let cell = try await run(creation, in: graph) { return cell }
            case .ready(let cell):
                return cell
            case let decision:
                if case .answer(let cell) = try await follow(decision) { return cell }
            }
        }
    }

    /// Runs a graph creation in this task.
    ///
    /// Nil when it is not complete yet: ask the graph again.
    private nonisolated(nonsending) func run(_ creation: Creation, in graph: ResolutionGraph) async throws -> Cell? {
        let frame = Frame(
            of: creation.recipe, creation.pack, host: host, inside: asker, creation: creation, holder: holder,
            graph: graph)
        var hooksRunElsewhere = false
        defer {
            if !hooksRunElsewhere { frame.end() }
        }
        let instance: Cell
        do {
            if frame.isInNewer, let asker, asker.isRepeated(creation.recipe, pack, in: host) { throw circular([]) }
            instance = try await creation.makeInstance(in: frame)
            if let asker, !creation.recipe.blueprint.propertyHooks.isEmpty {
                hooksRunElsewhere = true
                return try await waitForHooks(of: creation, instance, frame: frame, in: graph, asker: asker)
            }
            if creation.recipe.hasHooks { try await creation.recipe.runHooks(instance, in: frame) }
        } catch {
            if hooksRunElsewhere { throw error }
            if Task.isCancelled { graph.abandon(creation) }
            creation.settle(.failure(error), in: frame)
            throw error
        }
        guard creation.settle(.success(instance), in: frame) else { return nil }
        guard let failure = creation.failure else { return instance }
        // Given an instance of a creation that was cancelled, for others than this task: it starts over.
        if failure is CancellationError, !Task.isCancelled { return nil }
        // A creation that was given an instance which failed meanwhile fails with it.
        throw delivered(failure, by: creation)
    }

    /// The hooks of a nested creation may need what this task is in the middle of making: they run in a task of their
    /// own, so that this one can be given the unfinished instance and go on.
    private nonisolated(nonsending) func waitForHooks(
        of creation: Creation, _ instance: Cell, frame: Frame, in graph: ResolutionGraph, asker: Frame
    ) async throws -> Cell? {
        let decision = graph.handOver(creation, asker: asker)
        creation.launchHooks(of: instance, in: Frame(hooksOf: frame), endingWith: frame)
        guard let decision else { return nil }
        guard case .answer(let cell) = try await follow(decision) else { return nil }
        return cell
    }
}

extension Frame {
    /// Makes a plain transient instance, and ends the frame.
    @inlinable @inline(never)
    nonisolated(nonsending) func make<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        try await makeHere(service)
    }

    /// The same as a part of its caller.
    ///
    /// A transient instance costs little but the way to its factory, of which each asynchronous function on it is a
    /// good part.
    @inlinable @inline(__always)
    nonisolated(nonsending) func makeHere<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        defer { finish() }
        do {
            if Task.isCancelled { throw CancellationError() }
            return try await run(service)
        } catch {
            throw failed(error)
        }
    }

    @usableFromInline func failed(_ error: any Error) -> any Error { translated(error, in: self) }
    @usableFromInline func finish() {
        end()
        leaveOwnGraph()
    }
    @usableFromInline static let current = ResolutionContext.$frame

    /// Runs the factory inside this frame.
    @inlinable @inline(__always)
    func run<Service: Sendable>(
        _ service: Service.Type, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Service {
        // The closure captures the isolation: it stays on the caller's executor.
        try await Frame.current.withValue(self) {
            _ = isolation
            // Unchecked because the key under which the registration was found has proved the type.
            return try await unsafeDowncast(recipe.blueprint.factory, to: ServiceFactory<Service>.self).make(
                Resolver(self), pack)
        }
    }
}
