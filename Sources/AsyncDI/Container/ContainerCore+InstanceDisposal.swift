/// The disposal of single instances: in the order of their container's disposal, or dropped before it.
extension ContainerCore {
    /// Runs the hooks of one instance.
    func dispose(_ item: Disposable, reason: DisposalReason) async -> [any Error] {
        var errors: [any Error] = []
        let hooks = item.binding.blueprint.disposalHooks
        if !hooks.isEmpty, let cell = item.cell {
            let reason = item.failure.map { DisposalReason(error: $0) } ?? reason
            // A hook is a run like a factory's: its waits are in the graph of waits.
            let run = Run(disposing: item.binding, in: self, as: item)
            for hook in hooks {
                do {
                    try await run.call { try await hook(cell, reason) }
                } catch {
                    errors.append(error)
                }
            }
            run.end()
            run.leaveOwnGraph()
        }
        if events != nil {
            withState { state in
                for error in errors { state.note(.failed, of: item.key.arguments, .failed(item.binding.key, error)) }
                if item.isAnnounced { state.note(.disposed, of: item.key.arguments, .disposed(item.binding.key)) }
            }
        }
        for lease in item.leases { errors += await end(lease, heldBy: item) }
        for error in errors { item.add(error) }
        item.end()
        return errors
    }

    /// Ends a lease that an instance held.
    ///
    /// Instances that this frees here are disposed at once, as part of this disposal: the next one in the order may be
    /// older than both.
    private func end(_ lease: any HeldLease, heldBy holder: Disposable) async -> [any Error] {
        guard let own = lease as? Lease, own.core === self else {
            lease.end()
            return []
        }
        var errors: [any Error] = []
        for freed in release(own) {
            // The holder's disposal ends after this one: a hook that needs the holder's successor would wait for
            // itself.
            freed.isFollowed(by: holder)
            errors += await dispose(freed, reason: DisposalReason())
            settle(freed, errors: [])
        }
        return errors
    }

    /// An owed instance is disposed; a disposal that is under way reports the errors.
    private func settle(_ item: Disposable, errors: [any Error]) {
        // Before the debt is settled: the disposal waits for that.
        if !errors.isEmpty, withState({ $0.phase == .disposing }) { for error in errors { disposal.add(error) } }
        var waiting: [CheckedContinuation<Void, Never>] = []
        let ended = withState { state in
            state.owed -= 1
            if state.owed == 0, state.rarely({ !$0.owedWaiters.isEmpty }) { swap(&waiting, &state.owedWaiters) }
            guard state.rarely({ $0.endings[item.key] === item }) else { return nil as Disposable? }
            return state.endings.removeValue(forKey: item.key)
        }
        for continuation in waiting { continuation.resume() }
        withExtendedLifetime(ended) {}
    }

    /// Disposes instances that were dropped, in a task of its own that sees no caller's cancellation; `dispose()` waits
    /// for it.
    ///
    /// They are owed already.
    @discardableResult
    func cleanUp(_ items: [Disposable], reason: DisposalReason = DisposalReason()) -> Task<[any Error], Never>? {
        guard !items.isEmpty else { return nil }
        for (item, next) in zip(items, items.dropFirst()) { item.isFollowed(by: next) }
        let observed = observedHandle()
        return Task.detached {
            var errors: [any Error] = []
            for item in items {
                let new = await self.dispose(item, reason: reason)
                self.settle(item, errors: new)
                errors += new
            }
            withExtendedLifetime(observed) {}
            return errors
        }
    }
}
