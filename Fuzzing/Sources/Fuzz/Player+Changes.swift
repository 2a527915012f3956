import AsyncDI
import Exploration

/// Changes, alone and during requests or leases.
extension Player {
    mutating func change(_ change: Change, _ number: Int) async {
        let mark = mark()
        let before = model
        let perform = perform(change, number)
        await expectNoError(perform.work)
        guard perform.isAwaited else { return }
        expectDisposed(perform.ended, cachedIn: before, by: "\(change)")
        compareOrder(of: perform.ended, since: mark)
    }

    /// Checks the disposal of instances that are known to be cached.
    ///
    /// An instance that a race left to its waiters is disposed at another time.
    func expectDisposed(
        _ ended: Set<ReferenceModel.Place>, cachedIn before: ReferenceModel, by cause: String
    ) {
        for made in world.made where isHooked(made) && ended.contains(made.place) {
            guard before.identities[made.place] == ObjectIdentifier(made.node) else { continue }
            explored.expect(world.isDisposed(made.node), "the instance at \(made.place) was not disposed by \(cause)")
        }
    }

    /// Checks that an instance's dependencies are disposed after it if both end together.
    func compareOrder(of ended: Set<ReferenceModel.Place>, since mark: Mark) {
        let ending = Set(world.made.filter { ended.contains($0.place) }.map { ObjectIdentifier($0.node) })
        var earlier: Set<ObjectIdentifier> = []
        for node in world.disposed[mark.disposed...] where ending.contains(ObjectIdentifier(node)) {
            for held in node.dependencies where earlier.contains(ObjectIdentifier(held)) {
                explored.fail("node \(held.index) was disposed before \(node.index), which holds it")
            }
            earlier.insert(ObjectIdentifier(node))
        }
    }

    struct Performance {
        /// The places whose instances end.
        var ended: Set<ReferenceModel.Place> = []
        /// Whether their disposal is awaited.
        var isAwaited = false
        let work: @Sendable () async throws -> Void
    }

    /// Changes the model, and returns the matching change of the container.
    mutating func perform(_ change: Change, _ number: Int) -> Performance {
        let container = containers[number]
        switch change {
        case .register(let node, let recipe):
            let entry = model.register(node, recipe.sharing, holding: recipe.dependencies, in: number)
            let registration = world.registration(entry, model.entries[entry])
            return Performance { try await container?.register(registration) }
        case .unregister(let node):
            let isThere = model.unregister(node, in: number)
            return Performance { [explored] in
                let wasThere = await container?.unregister(Node.self, qualifier: NodeID(index: node))
                explored.expect(wasThere == isThere, "unregister says \(wasThere as Any)")
            }
        case .reset(let selection):
            let ended = model.reset(selection, in: number)
            return Performance(ended: ended, isAwaited: true) {
                switch selection {
                case .node(let node): try await container?.reset(Node.self, qualifier: NodeID(index: node))
                case .sharing(let sharing): try await container?.reset(sharing.lifetime)
                case .everything: try await container?.reset()
                }
            }
        case .close:
            let ended = model.close(number)
            for other in containers.indices where model.closed.contains(other) { containers[other] = nil }
            return Performance(ended: ended, isAwaited: true) { try await container?.dispose() }
        }
    }

    /// Makes requests during a change: each receives an instance or a refusal, whichever comes first.
    mutating func race(_ asks: [Ask], _ change: Change, _ number: Int) async {
        let asks = asks.map { Ask(node: $0.node, container: open($0.container)) }
        let mark = mark()
        let before = model
        let tasks = start(asks)
        let perform = perform(change, number)
        let task = explored.task("\(change)", perform.work)
        await expectNoError { try await task.value }
        for (ask, task) in zip(asks, tasks) {
            guard case .failure(let error) = await task.result else { continue }
            let mayBeDisposed = if case .close = change { ResolutionError.Code.disposed ~= error } else { false }
            explored.expect(mayBeDisposed || isRefusal(error), "\(ask) failed: \(error)")
        }
        settle(before, since: mark, isChanged: true)
    }

    /// Checks that a leased instance is not disposed before the end of the lease.
    mutating func lease(_ ask: Ask, _ change: Change, _ number: Int, _ steps: Int) async {
        let ask = Ask(node: ask.node, container: open(ask.container))
        let mark = mark()
        let before = model
        let leasing = explored.task("lease of \(ask.node)") {
            [world, explored, container = containers[ask.container]] in
            try await container?.withInstance(Node.self, qualifier: NodeID(index: ask.node)) { node in
                for _ in 0..<steps { await Task.yield() }
                explored.expect(!world.isDisposed(node), "node \(node.index) was disposed while it was leased")
            }
        }
        for _ in 0..<(steps / 2) { await Task.yield() }
        let perform = perform(change, number)
        let task = explored.task("\(change)", perform.work)
        await expectNoError { try await task.value }
        if case .failure(let error) = await leasing.result {
            let mayBeDisposed = if case .close = change { ResolutionError.Code.disposed ~= error } else { false }
            explored.expect(mayBeDisposed || isRefusal(error), "the lease of \(ask) failed: \(error)")
        }
        settle(before, since: mark, isChanged: true)
    }
}
