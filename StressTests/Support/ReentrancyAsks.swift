import AsyncDI

/// Requests, and the tasks that make them.
extension ReentrantWorld {
    func perform(_ ask: Step.Ask, _ asker: String, in situation: Situation) async throws {
        let moment = checker.now
        // Values kept from elsewhere resolve from the current scope if that is below their container, or else from the
        // container around it once it has ended.
        let homes = situation.scopes.flatMap { home(of: $0).andAbove }
        switch ask.way {
        case .callProvider(let slot):
            guard !situation.isUnseen, let kept = kept.providers.withLock({ $0[slot] }) else { return }
            let made = try await kept.wrapper()
            note(made, asking: kept.asking + homes, since: moment, asker, in: situation)
            return
        case .callLazy(let slot):
            guard !situation.isUnseen, let kept = kept.lazies.withLock({ $0[slot] }) else { return }
            // The instance of a `Lazy` is its own: it may be older than the end of its container.
            let made = try await kept.wrapper()
            note(made, asking: kept.asking + homes, since: nil, asker, in: situation)
            return
        default:
            break
        }
        if let place = ask.place {
            guard !situation.isUnseen, let container = container(place, in: situation) else { return }
            let source = Source(container: container, asks: asked(container, in: situation))
            try await perform(ask, from: source, moment, asker, in: situation)
        } else if let resolver = situation.resolver {
            // The resolver of a finished run counts as one from outside.
            let own = (resolver.container.map { [home(of: $0)] } ?? []) + (situation.isAwaited ? [] : homes)
            let source = Source(resolver: resolver, asks: situation.resolverAsks.map { $0 + homes } ?? own)
            try await perform(ask, from: source, moment, asker, in: situation)
        }
    }

    /// The services that a request may begin to create.
    func services(of ask: Step.Ask) -> [Int] {
        switch ask.way {
        case .callProvider(let slot): kept.providers.withLock { $0[slot].map { [$0.service] } } ?? []
        case .callLazy(let slot): kept.lazies.withLock { $0[slot].map { [$0.service] } } ?? []
        default: [ask.service]
        }
    }

    /// The object that resolves: a container, or a resolver.
    private struct Source {
        var container: Container?
        var resolver: Resolver?
        /// The containers that may resolve the request.
        var asks: [Home]
    }

    private func perform(
        _ ask: Step.Ask, from source: Source, _ moment: Int, _ asker: String, in situation: Situation
    ) async throws {
        let takesArgument = plan.services[ask.service].takesArgument
        let name = NodeID(index: ask.service)
        func note(_ made: Made?) {
            guard let made else { return }
            self.note(made, asking: source.asks, since: moment, asker, in: situation)
        }
        if plan.services[ask.service].isContribution {
            if let container = source.container {
                for made in try await container.resolveMany(Made.self, qualifier: name) { note(made) }
            } else if let resolver = source.resolver {
                for made in try await resolver.resolveMany(Made.self, qualifier: name) { note(made) }
            }
            return
        }
        switch (ask.way, takesArgument) {
        case (.optional, false):
            if let container = source.container {
                note(try await container.optional(Made.self, qualifier: name))
            } else {
                note(try await source.resolver?.optional(Made.self, qualifier: name))
            }
        case (.optional, true):
            if let container = source.container {
                note(try await container.optional(Made.self, qualifier: name, arguments: ask.argument))
            } else {
                note(try await source.resolver?.optional(Made.self, qualifier: name, arguments: ask.argument))
            }
        case (.ready, false):
            note(try source.container?.ready(Made.self, qualifier: name))
        case (.lease, false):
            note(try await source.resolver?.lease(Made.self, qualifier: name))
        case (.lease, true):
            note(try await source.resolver?.lease(Made.self, qualifier: name, arguments: ask.argument))
        case (.provider, _), (.keepProvider, _):
            let provider = try await resolved(Provider<Made>.self, name, from: source)
            guard let provider else { return }
            if case .keepProvider(let slot) = ask.way, !takesArgument {
                kept.providers.withLock {
                    $0[slot] = CacheEntry.Way(wrapper: provider, service: ask.service, asking: source.asks)
                }
            }
            note(takesArgument ? try await provider(ask.argument) : try await provider())
        case (.lazy, false), (.keepLazy, false):
            guard let lazy = try await resolved(Lazy<Made>.self, name, from: source) else { return }
            if case .keepLazy(let slot) = ask.way {
                kept.lazies.withLock {
                    $0[slot] = CacheEntry.Way(wrapper: lazy, service: ask.service, asking: source.asks)
                }
            }
            note(try await lazy())
        case (_, false):
            note(try await resolved(Made.self, name, from: source))
        case (_, true):
            if let container = source.container {
                note(try await container.resolve(Made.self, qualifier: name, arguments: ask.argument))
            } else {
                note(try await source.resolver?.resolve(Made.self, qualifier: name, arguments: ask.argument))
            }
        }
    }

    private func resolved<S: Sendable>(_ service: S.Type, _ name: NodeID, from source: Source) async throws -> S? {
        if let container = source.container { return try await container.resolve(service, qualifier: name) }
        return try await source.resolver?.resolve(service, qualifier: name)
    }

    // MARK: Tasks

    func spawn(_ spawning: Step.Spawning, _ steps: [Step], in situation: Situation) async throws {
        var inner = situation.deeper
        // The task-local for the current scope stays behind.
        var detached = inner
        detached.scopes = []
        switch spawning {
        case .childTask:
            let situation = inner
            async let done: Void = perform(steps, in: situation)
            try await done
        case .group:
            let situation = inner
            try await withThrowingTaskGroup(of: Void.self) { group in
                for step in steps { group.addTask { try await self.perform([step], in: situation) } }
                try await group.waitForAll()
            }
        case .task:
            let situation = inner
            try await Task { try await self.perform(steps, in: situation) }.value
        case .detached:
            // The task that waits for this one is invisible behind a captured container or the resolver of a graph. The
            // resolver of a factory leads to the factory, and not to a body in it that holds a lease.
            detached.isUnseen = inner.isAwaited
            if inner.isAwaited, inner.resolverAsks != nil || inner.holdsLease { detached.resolver = nil }
            let situation = detached
            try await Task.detached { try await self.perform(steps, in: situation) }.value
        case .leftTask:
            inner.isLeft()
            inner.isAnywhere = inner.isInsideRun
            let situation = inner
            leave(Task { await self.perform(steps, later: situation) })
        case .leftDetached:
            detached.isLeft()
            let situation = detached
            leave(Task.detached { await self.perform(steps, later: situation) })
        }
    }

    /// In most cases, lets the task that left it go first.
    private func perform(_ steps: [Step], later situation: Situation) async {
        var random = SeededRandom(seed: seed, stream: -1, run: numbers.add())
        await random.shake(upTo: 30)
        try? await perform(steps, in: situation)
    }

    private func leave(_ task: Task<Void, Never>) { left.withLock { $0.append(task) } }
}

extension Situation {
    /// Marks the task as one without a waiter.
    fileprivate mutating func isLeft() {
        actor = "left by \(actor)"
        isAwaited = false
        isUnseen = false
        holdsLease = false
        holdsScope = false
        hand = nil
    }
}
