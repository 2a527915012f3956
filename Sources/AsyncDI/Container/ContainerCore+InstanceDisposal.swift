/// The disposal of single instances: in the order of their container's disposal, or earlier if they were dropped.
extension ContainerCore {
    /// Runs the hooks of one instance.
    func dispose(_ item: Disposable, reason: DisposalReason) async -> [any Error] {
        var errors: [any Error] = []
        let hooks = item.binding.blueprint.disposalHooks
        if !hooks.isEmpty, let cell = item.cell {
            item.noteBeginOfHooks()
            let error = item.isCutShort ? reason.error ?? item.failure : item.failure ?? item.cause ?? reason.error
            // A hook may keep the error, whose runs keep this container.
            let reason = DisposalReason(
                error: error.map(ResolutionError.withoutOrigins), hasCaller: reason.hasCaller || item.isDrained)
            // A hook is a run like that of a factory: its waits are in the graph of waits.
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
        if events != nil, item.isAnnounced || !errors.isEmpty {
            // An observer may keep them, and their runs keep this container.
            let told = errors.map(ResolutionError.withoutOrigins)
            withState { state in
                for error in told { state.note(.failed, of: item.key.arguments, .failed(item.binding.key, error)) }
                if item.isAnnounced { state.note(.disposed, of: item.key.arguments, .disposed(item.binding.key)) }
            }
        }
        errors = errors.map { HookError($0, of: item.binding) }
        for lease in item.leases { errors += await end(lease, heldBy: item, reason) }
        for error in errors { item.add(error) }
        item.end()
        return errors
    }

    /// Ends a lease that an instance held.
    ///
    /// Instances that this frees are disposed at once, as part of this disposal, because the next instance in the order
    /// may be older than both.
    private func end(
        _ lease: any HeldLease, heldBy holder: Disposable, _ reason: DisposalReason
    ) async -> [any Error] {
        guard let own = lease as? Lease, own.core === self else {
            lease.end()
            return []
        }
        var errors: [any Error] = []
        for freed in release(own) {
            // The holder's disposal ends after this one, so a hook that needs the holder's successor would wait for
            // itself.
            freed.noteNext(holder)
            freed.noteReset(by: holder.resetter)
            errors += await dispose(freed, reason: DisposalReason(hasCaller: reason.hasCaller))
            settle(freed, errors: [])
        }
        return errors
    }

    /// Notes that an owed instance is disposed; a current disposal of the container reports the errors.
    private func settle(_ item: Disposable, errors: [any Error]) {
        // Before the instance counts as disposed, which the container's disposal waits for.
        if !errors.isEmpty, withState({ $0.life.phase == .disposing }) { for error in errors { disposal.add(error) } }
        var waiting: [CheckedContinuation<Void, Never>] = []
        let ended = withState { state in
            waiting = state.life.endRemoval()
            let key = EndingKey(item.key)
            if state.rarely({ !$0.closing.isEmpty }) { state.closing[ObjectIdentifier(item)] = nil }
            guard state.rarely({ $0.endings[key] === item }), let index = state.endings.index(forKey: key) else {
                return nil as (key: EndingKey, value: Disposable)?
            }
            // With its key, which may be that of an earlier instance for equal arguments.
            return state.endings.remove(at: index)
        }
        for continuation in waiting { continuation.resume() }
        withExtendedLifetime(ended) {}
    }

    /// Disposes dropped instances in a task of its own, which does not inherit a caller's cancellation; `dispose()`
    /// waits for it.
    ///
    /// The instances are already counted as owed.
    @discardableResult
    func cleanUp(
        _ batch: DisposalBatch, reason: DisposalReason = DisposalReason(hasCaller: false)
    ) -> Task<[any Error], Never>? {
        guard !batch.turns.isEmpty else { return nil }
        let observed = observedHandle()
        return Task.detached {
            var errors: [any Error] = []
            for turn in batch.turns { errors += await self.dispose(turn, reason: reason) }
            batch.end?.finish()
            withExtendedLifetime(observed) {}
            return errors
        }
    }

    /// Disposes the instances of a turn, side by side.
    private func dispose(_ turn: DisposalBatch.Turn, reason: DisposalReason) async -> [any Error] {
        @Sendable func disposeAndSettle(_ item: Disposable) async -> [any Error] {
            let errors = await dispose(item, reason: reason)
            settle(item, errors: errors)
            return errors
        }
        if turn.others.isEmpty { return await disposeAndSettle(turn.first) }
        let errors = Locked<[(number: Int, errors: [any Error])]>([])
        await withDiscardingTaskGroup { group in
            for (number, item) in turn.items.enumerated() {
                let operation: @Sendable () async -> Void = {
                    let new = await disposeAndSettle(item)
                    if !new.isEmpty { errors.withLock { $0.append((number, new)) } }
                }
                // A hook that does not suspend needs no thread of its own.
                if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    group.addImmediateTask(operation: operation)
                } else {
                    group.addTask(operation: operation)
                }
            }
        }
        return errors.withLock { $0 }.sorted { $0.number < $1.number }.flatMap(\.errors)
    }
}
