/// Transient and graph instances, created in the task of their request.
extension Request {
    nonisolated(nonsending) func makeTransient<Service: Sendable>(
        _ binding: Binding, as service: Service.Type
    ) async throws -> Service {
        // Unchecked because the key under which the registration was found has proved the type.
        let factory = unsafeDowncast(binding.blueprint.factory, to: ServiceFactory<Service>.self)
        if binding.hasHooks || factory.isDecorated { return try await makeTransientCell(binding).value(as: service) }
        let run = try beginRun(of: binding)
        defer { end(run) }
        do {
            return try await run.callFactory(service)
        } catch {
            throw translated(error, in: run)
        }
    }

    nonisolated(nonsending) func makeTransientCell(_ binding: Binding) async throws -> Cell {
        let run = try beginRun(of: binding)
        defer { end(run) }
        let cell = try await run.makeCell()
        if binding.hasHooks { try await binding.runHooks(cell, in: run) }
        return cell
    }

    /// Creates a service that need not be `Sendable`, and sends it to the caller.
    nonisolated(nonsending) func make<Service>(_ service: Service.Type) async throws -> sending Service {
        try await awaitModules()
        guard var (binding, table) = try registration() else { throw host.miss(key, asker: asker) }
        while isHeldUp(by: table) {
            try await loadModules(of: table.host)
            guard let found = try registration() else { throw host.miss(key, asker: asker) }
            (binding, table) = found
        }
        // Unchecked because the key, which only a `making:` registration has, has proved the type.
        let factory = unsafeDowncast(binding.blueprint.factory, to: MakingFactory<Service>.self)
        let run = try beginRun(of: binding)
        defer { end(run) }
        let resolver = Resolver(run)
        do {
            return try await run.call { try await factory.make(resolver, pack) }
        } catch {
            throw translated(error, in: run)
        }
    }

    private func beginRun(of binding: Binding) throws -> Run {
        try Task.checkCancellation()
        try refuseWhileDraining()
        try checkInlineCycle(binding)
        graph?.enter()
        return Run(of: binding, pack, host: host, inside: asker, creation: nil, holder: holder, graph: graph)
    }

    private func end(_ run: Run) {
        run.end()
        if let graph { graph.leave() } else if asker == nil { run.leaveOwnGraph() }
    }

    /// Throws if an outer run in this task already creates the same registration with equal arguments.
    func checkInlineCycle(_ binding: Binding) throws {
        guard let asker else { return }
        if asker.isMaking(binding, pack, in: host) || asker.isRepeated(binding, pack, in: host)
            || asker.isInsideRepetition
        {
            throw circular([])
        }
    }

    // MARK: Graph

    /// The instance of the graph; nil if the request must start over.
    ///
    /// A creation that this request has begun before, and that others complete, is `own`.
    nonisolated(nonsending) func graphInstance(_ binding: Binding, after own: Creation? = nil) async throws -> Cell? {
        var own = own
        try refuseWhileDraining()
        let graph = graph ?? asker?.graph ?? ResolutionGraph()
        let isOutermost = self.graph != nil || asker == nil
        if isOutermost { graph.enter() }
        defer { if isOutermost { graph.leave() } }
        let key = CreationKey(binding, pack, asked: host)
        while true {
            let complete: Cell?
            switch graph.join(
                key, pack, host: host, asker: asker, holder: holder, isInner: isInner, mayWait: !Task.isCancelled,
                after: own)
            {
            case .start(let creation, _):
                own = creation
                complete = try await run(creation, in: graph)
            case .ready(let cell):
                complete = cell
            case let decision:
                if let delivery = try await follow(decision) { return delivery.cell }
                continue
            }
            if let complete { return graph.instance(of: key, agreeingWith: complete, madeFor: holder) }
        }
    }

    /// Runs a graph creation in this task.
    ///
    /// Nil while it is incomplete: the caller must query the graph again.
    private nonisolated(nonsending) func run(_ creation: Creation, in graph: ResolutionGraph) async throws -> Cell? {
        let run = Run(
            of: creation.binding, creation.pack, host: host, inside: asker, creation: creation, holder: holder,
            graph: graph)
        var hooksRunElsewhere = false
        defer {
            if !hooksRunElsewhere { run.end() }
        }
        let instance: Cell
        do {
            if let error = creation.repetition(in: run) { throw error }
            instance = try await creation.makeInstance(in: run)
            if let asker, !creation.binding.blueprint.propertyHooks.isEmpty {
                hooksRunElsewhere = true
                return try await waitForHooks(of: creation, instance, run: run, in: graph, asker: asker)
            }
            if creation.binding.hasHooks { try await creation.binding.runHooks(instance, in: run) }
        } catch {
            if hooksRunElsewhere { throw error }
            if Task.isCancelled { graph.abandon(creation) }
            creation.settle(.failure(error), in: run)
            throw error
        }
        guard creation.settle(.success(instance), in: run) else { return nil }
        guard let failure = creation.failure else { return instance }
        // It received the instance of a creation that was cancelled, but not on behalf of this task: it starts over.
        if failure is CancellationError, !Task.isCancelled { return nil }
        // A creation that received an unfinished instance fails with it.
        throw delivered(failure, by: creation)
    }

    /// Runs the hooks of a nested creation in a task of their own.
    ///
    /// They may need an instance that this task is creating; this task can then receive the unfinished instance and
    /// continue.
    private nonisolated(nonsending) func waitForHooks(
        of creation: Creation, _ instance: Cell, run: Run, in graph: ResolutionGraph, asker: Run
    ) async throws -> Cell? {
        let decision = graph.handOver(creation, asker: asker)
        creation.launchHooks(of: instance, in: Run(hooksOf: run), endingWith: run)
        guard let decision else { return nil }
        do {
            return try await follow(decision)?.cell
        } catch {
            // Its hooks are part of this request, and may use instances that its scope disposes next.
            await creation.cancelledHooksEnd(before: asker)
            throw error
        }
    }
}
