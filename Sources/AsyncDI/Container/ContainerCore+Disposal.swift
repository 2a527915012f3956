/// Disposal: ordered, awaited, exactly once.
extension ContainerCore {
    /// Disposes the container, or waits for the disposal that is under way.
    func dispose(reason: DisposalReason = DisposalReason(), deadline: Duration? = nil) async throws {
        try refuseInsideOwnFactory()
        try refuseInsideLease()
        guard let disposal = beginDisposal(reason: reason) else { return }
        // A hook that disposes what waits for it (its own container, a parent) must not wait in turn.
        if let disposing = DisposalContext.disposing {
            guard !isAboveOrSame(disposing), DisposalContext.beginWait(of: disposing, for: self) else { return }
            defer { DisposalContext.endWait(of: disposing, for: self) }
            try await wait(for: disposal, deadline: deadline)
        } else {
            try await wait(for: disposal, deadline: deadline)
        }
    }

    private func wait(for disposal: Disposal, deadline: Duration?) async throws {
        let hasEnded = await disposal.wait(atMost: deadline, clock: clock)
        var errors = disposal.errors
        if !hasEnded {
            errors.append(
                ResolutionError(
                    .disposalTimedOut,
                    "the disposal of \(displayName) has not ended by its deadline: it waits for \(disposal.current ?? "its end").",
                    advice: "It goes on in the background; look for a hook or a factory that does not return."))
        }
        if !errors.isEmpty { throw DisposalError(errors: errors) }
    }

    /// A factory that waits for the disposal of what waits for it would wait forever.
    private func refuseInsideOwnFactory() throws {
        guard let asker = ResolutionContext.activeFrame else { return }
        var frame: Frame? = asker
        while let current = frame {
            let places = [current.host, current.holder?.home].compactMap { $0 as? ContainerCore }
            if places.contains(where: isAboveOrSame) {
                throw ResolutionError(
                    .invalidOperation,
                    "the factory of \(current.step.key) disposes \(displayName), which waits for it.",
                    advice: "Dispose a container from outside its factories.", steps: asker.path, asker: asker)
            }
            frame = current.parent
        }
    }

    /// The body of a `withInstance` holds a lease that the disposal would wait for.
    private func refuseInsideLease() throws {
        guard LeaseContext.cores.contains(where: isAboveOrSame) else { return }
        throw ResolutionError(
            .invalidOperation, "the body of a withInstance disposes \(displayName), which waits for its lease to end.",
            advice: "Dispose a container after the bodies that use its instances.")
    }

    /// Begins the disposal unless it has begun; nil when it is over.
    func beginDisposal(reason: DisposalReason) -> Disposal? {
        var mustRun: Disposal?
        let disposal: Disposal? = withState { state in
            switch state.phase {
            case .disposed:
                return nil
            case .disposing:
                return state.disposal
            case .open:
                let disposal = Disposal()
                state.phase = .disposing
                state.disposal = disposal
                mustRun = disposal
                return disposal
            }
        }
        if let mustRun {
            // From this moment on, hits miss and everything that misses throws `disposed`.
            table.close()
            scopeBeginsClosing()
            Task.detached { await self.run(mustRun, reason: reason) }
        }
        return disposal
    }

    private func run(_ disposal: Disposal, reason: DisposalReason) async {
        stopCreations()
        await disposeChildren(disposal, reason: reason)
        await drainCreations(disposal)
        await awaitCleanups(disposal)
        while let item = withState({ $0.ledger.takeNewest() }) {
            disposal.isWaiting(for: "the last lease of \(item.recipe.key)")
            await leasesEnd(of: item.cell)
            disposal.isWaiting(for: "the onDispose of \(item.recipe.key)")
            for error in await dispose(item, reason: reason) { disposal.add(error) }
        }
        // What was evicted while it was leased is disposed by whoever ends the last lease.
        disposal.isWaiting(for: "the end of leases")
        await allLeasesEnd()
        await awaitCleanups(disposal)
        disposal.isWaiting(for: nil)
        empty()
        scopeIsClosed()
        disposal.finish()
    }

    /// Waiters are told at once; creations are cancelled.
    private func stopCreations() {
        let (waiters, creations) = withState { $0.flights.close() }
        for waiter in waiters { waiter.resume(.disposed) }
        for creation in creations { creation.cancel() }
    }

    /// Open scopes and children, the latest first.
    private func disposeChildren(_ disposal: Disposal, reason: DisposalReason) async {
        for child in childCores {
            disposal.isWaiting(for: child.displayName)
            guard let childDisposal = child.beginDisposal(reason: reason) else { continue }
            guard DisposalContext.beginWait(of: self, for: child) else { continue }
            defer { DisposalContext.endWait(of: self, for: child) }
            _ = await childDisposal.wait(atMost: nil, clock: clock)
            for error in childDisposal.errors { disposal.add(error) }
        }
    }

    private func drainCreations(_ disposal: Disposal) async {
        let keys = withState { state in state.flights.entries.keys.map(\.recipe.key.description) }
        if !keys.isEmpty { disposal.isWaiting(for: "the creation of " + keys.sorted().joined(separator: ", ")) }
        await withCheckedContinuation { continuation in
            let isEmpty = withState { state in
                if !state.flights.isEmpty { state.drained.append(continuation) }
                return state.flights.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }

    private func awaitCleanups(_ disposal: Disposal) async {
        while let cleanup = withState({ $0.cleanups.first?.value }) {
            disposal.isWaiting(for: "the disposal of what was reset or replaced")
            _ = await cleanup.value
        }
    }

    private func empty() {
        let dropped = withState { state in
            for (_, recipe) in state.registrations.inOrder { recipe.retire() }
            state.retired += table.unpublishAll()
            defer {
                state.phase = .disposed
                state.disposal = nil
                state.registrations.removeAll()
                state.instances = [:]
            }
            return (state.registrations, state.instances)
        }
        let watchers = withState { state in
            defer { (state.idleWatchers, state.multitons) = ([:], [:]) }
            return state.idleWatchers.values
        }
        for watcher in watchers { watcher.cancel() }
        for kept in dropped.1.values { kept.storage?.clear() }
    }

    // MARK: Instances

    /// Runs the hooks of one instance.
    private func dispose(_ item: Disposable, reason: DisposalReason) async -> [any Error] {
        var errors: [any Error] = []
        for hook in item.recipe.blueprint.disposalHooks {
            do {
                try await DisposalContext.$disposing.withValue(self) { try await hook(item.cell, reason) }
            } catch {
                errors.append(error)
            }
        }
        for lease in item.leases { lease.end() }
        for error in errors { send(.failed(item.recipe.key, error)) }
        send(.disposed(item.recipe.key))
        return errors
    }

    /// Disposes instances that were dropped, in a task of its own that sees nobody's cancellation; `dispose()` waits for it.
    @discardableResult
    func cleanUp(_ items: [Disposable]) -> Task<[any Error], Never>? {
        guard !items.isEmpty else { return nil }
        return withState { state in
            let id = state.nextCleanup
            state.nextCleanup += 1
            let task = Task.detached {
                var errors: [any Error] = []
                for item in items { errors += await self.dispose(item, reason: DisposalReason()) }
                // Registered under the same lock before this task could come here.
                _ = self.withState { $0.cleanups.removeValue(forKey: id) }
                return errors
            }
            state.cleanups[id] = task
            return task
        }
    }
}
