/// Disposal: ordered, awaited, exactly once.
extension ContainerCore {
    /// Disposes the container, or waits for the disposal that is under way.
    ///
    /// - Parameters:
    ///   - reason: What hooks are told.
    ///   - isEndOfBody: Whether the scope's own body has ended: any other call interrupts it.
    ///   - deadline: How long to wait.
    /// - Throws: `DisposalError`; `invalidOperation` where the call would wait for itself.
    func dispose(
        reason: DisposalReason = DisposalReason(), isEndOfBody: Bool = false, deadline: Duration? = nil
    ) async throws {
        if try disposeAtOnce() { return }
        let asker = Waits.asker(of: ResolutionContext.activeRun)
        // Known before the first hook runs: a hook that needs what the caller is making is refused.
        let suspension = Suspension()
        if let asker, let runs = Waits.begin(suspension, from: asker, for: disposal) {
            // A hook that disposes what waits for it (its own container, a parent) does not wait in turn.
            if asker.run?.isDisposing == true {
                _ = beginDisposal(reason: reason, isEndOfBody: isEndOfBody)
                return
            }
            guard isEndOfBody else { throw waitsForItself("disposes \(displayName)", asker, runs) }
            // No other call would close the scope. The caller is told that its work is lost, so it has to be.
            let error = waitsForItself("ends \(displayName)", asker, runs)
            _ = beginDisposal(reason: DisposalReason(error: reason.error ?? error), isEndOfBody: true)
            throw error
        }
        defer { if asker != nil { Waits.end(suspension) } }
        // A hook that blocks its thread must not keep the call from its deadline.
        let depth = deadline == nil ? 0 : Int.max
        guard let disposal = beginDisposal(reason: reason, isEndOfBody: isEndOfBody, depth: depth) else { return }
        try await wait(for: disposal, deadline: deadline)
    }

    /// Disposes the container if that takes no waiting: there is no hook to run, and nothing that must end first.
    ///
    /// - Returns: Whether the container is disposed.
    func disposeAtOnce() throws -> Bool {
        try refuseInsideOwnFactory(to: "disposes")
        try refuseInsideLease(to: "disposes")
        return endAtOnce()
    }

    /// The container's disposal, whether or not it has begun.
    var disposal: Disposal { disposalReference.loadOrInitialize { Disposal(below: parent) } }

    var ends: [Activity] {
        // Not retained by hand because a reference that is there is never exchanged.
        if let disposal = disposalReference.load()?.takeUnretainedValue() { return [disposal] }
        return parent?.ends ?? []
    }

    /// Why the work of this scope's body was not completed, although the body returned.
    var lostWork: ResolutionError? { disposalReference.load()?.takeUnretainedValue().lostWork }

    private func wait(for disposal: Disposal, deadline: Duration?) async throws {
        let hasEnded = await disposal.wait(atMost: deadline, clock: clock)
        var errors = disposal.errors
        if !hasEnded {
            errors.append(timedOut("the disposal of \(displayName)", waitingFor: disposal.current ?? "its end"))
        }
        if !errors.isEmpty { throw DisposalError(errors: errors) }
    }

    func timedOut(_ disposal: String, waitingFor current: String) -> ResolutionError {
        ResolutionError(
            .disposalTimedOut, "\(disposal) did not end by its deadline: it waits for \(current).",
            advice: "It continues in the background; look for a hook or a factory that does not return.")
    }

    /// The error that hooks see when a scope or a creation ends before its work is done.
    static func cutShort(_ place: any ResolutionHost) -> ResolutionError {
        ResolutionError(
            .disposed, "\(place.displayName) was disposed before its work was done.",
            advice: "Let work end first: drain() waits for running bodies, and withScope ends with its body.")
    }

    /// Begins the disposal unless it has begun; nil when it is over.
    ///
    /// - Parameters:
    ///   - reason: What hooks are told.
    ///   - isEndOfBody: Whether the scope's own body has ended.
    ///   - depth: How many disposals go on around this one in the caller's thread; `.max` where no hook may run there.
    /// - Returns: The disposal that is under way.
    func beginDisposal(reason: DisposalReason, isEndOfBody: Bool = false, depth: Int = .max) -> Disposal? {
        if endAtOnce() { return nil }
        let disposal = disposal
        var mustRun: DisposalReason?
        let interruption = reason.error == nil && !isEndOfBody ? Self.cutShort(self) : nil
        let isOver = withState { state in
            guard state.phase == .open else { return state.phase == .disposed }
            state.phase = .disposing
            mustRun = reason
            if hasOwner, !isEndOfBody {
                // The body has not done its work yet.
                let error = interruption ?? Self.cutShort(self)
                if reason.error == nil { mustRun = reason.with(error) }
                disposal.isInterruption(error)
            }
            return false
        }
        if isOver { return nil }
        if let reason = mustRun {
            // From this moment on, hits miss and everything that misses throws `disposed`.
            table.close()
            scopeBeginsClosing()
            let observed = observedHandle()
            detach(depth: depth) {
                await self.run(disposal, reason: reason, depth: depth)
                withExtendedLifetime(observed) {}
            }
        }
        return disposal
    }

    /// Runs a disposal in a task of its own, which sees nothing of the caller's.
    ///
    /// Where it can, it begins in the caller's thread: with hooks that do not suspend it is over when this returns. Not
    /// when other disposals or factories are under way around it: the thread's stack would grow with their depth.
    private func detach(depth: Int, _ disposal: @escaping @Sendable () async -> Void) {
        if depth < Self.greatestDepthOnOneStack, ResolutionContext.peek.isNil,
            #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        {
            Task.immediateDetached(operation: disposal)
        } else {
            Task.detached(operation: disposal)
        }
    }

    private static var greatestDepthOnOneStack: Int { 8 }

    /// The whole disposal in one step, if there is nothing to wait for; true also when it is over already.
    private func endAtOnce() -> Bool {
        var dropped = Dropped()
        let isOver: Bool? = withState { state in
            if state.phase == .disposed { return true }
            guard state.phase == .open, state.hasNothingToWaitFor else { return nil }
            table.close()
            // Nothing runs for them: their disposal is an event.
            while let item = state.ledger.takeNewest() {
                if item.isAnnounced { state.note(.disposed, of: item.key.arguments, .disposed(item.binding.key)) }
                dropped.silent.append(item)
            }
            drop(from: &state, into: &dropped)
            // Copied, so that the last reference to what was published does not go before the scope's key is free.
            dropped.retired = state.retired
            return false
        }
        guard let isOver else { return false }
        if isOver { return true }
        // Before the user's deinitializers and storages run, which may take long or open the key again.
        withExtendedLifetime(dropped) { scopeBeginsClosing() }
        dropped.clear()
        scopeIsClosed()
        return true
    }

    private func run(_ disposal: Disposal, reason: DisposalReason, depth: Int) async {
        stopWatching()
        stopCreations()
        await disposeChildren(disposal, reason: reason, depth: min(depth, Self.greatestDepthOnOneStack) + 1)
        await drainCreations(disposal)
        await awaitCleanups(disposal)
        while let item = withState({ $0.ledger.takeNewest() }) {
            let key = item.binding.key
            disposal.isWaiting(for: "the last lease of \(key)")
            if let cell = item.cell { await leasesEnd(of: cell) }
            disposal.isWaiting(for: "the onDispose of \(key)")
            if item.binding.hasDisposalHooks { disposal.noteHooks() }
            for error in await dispose(item, reason: reason) { disposal.add(error) }
        }
        // What was evicted while it was leased is disposed by the end of the last lease.
        disposal.isWaiting(for: "the end of leases")
        await allLeasesEnd()
        await awaitCleanups(disposal)
        disposal.isWaitingForNothing()
        end(disposal)
    }

    private func end(_ disposal: Disposal) {
        do {
            // Released before waiters learn that the disposal has ended: an instance's deinitializer may close something.
            var dropped = Dropped()
            withState { drop(from: &$0, into: &dropped) }
            dropped.clear()
        }
        scopeIsClosed()
        disposal.finish()
    }

    /// Nothing idles out any more: instances are disposed in order.
    private func stopWatching() {
        var watchers: [ObjectIdentifier: IdleWatcher] = [:]
        withState { state in
            if state.rarely({ !$0.idleWatchers.isEmpty }) { swap(&watchers, &state.idleWatchers) }
        }
        for watcher in watchers.values { watcher.task.cancel() }
    }

    /// Waiters are told at once; creations are cancelled.
    private func stopCreations() {
        let (waiters, creations) = withState { $0.flights.close() }
        for waiter in waiters { waiter.resume(.disposed) }
        for creation in creations { creation.cancel() }
    }

    /// Open scopes and children, the latest first: what they were in the middle of is not done.
    private func disposeChildren(_ disposal: Disposal, reason: DisposalReason, depth: Int) async {
        for child in childCores {
            disposal.isWaiting(for: child.displayName)
            let reason = reason.with(reason.error ?? Self.cutShort(child))
            guard let childDisposal = child.beginDisposal(reason: reason, depth: depth) else { continue }
            _ = await childDisposal.wait(atMost: nil, clock: clock)
            for error in childDisposal.errors { disposal.add(error) }
        }
        disposal.isWaitingForNothing()
    }

    private func drainCreations(_ disposal: Disposal) async {
        let keys = withState { state in state.flights.isEmpty ? [] : state.flights.all.map(\.binding.key) }
        if keys.isEmpty { return }
        disposal.isWaiting(for: "the creation of " + keys.map(\.description).sorted().joined(separator: ", "))
        await withCheckedContinuation { continuation in
            let isEmpty = withState { state in
                if !state.flights.isEmpty { state.drained.append(continuation) }
                return state.flights.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }

    private func awaitCleanups(_ disposal: Disposal) async {
        if withState({ $0.owed == 0 }) { return }
        disposal.isWaiting(for: "the disposal of evicted, reset or replaced instances")
        await withCheckedContinuation { continuation in
            let isOwed = withState { state in
                if state.owed > 0 { state.owedWaiters.append(continuation) }
                return state.owed > 0
            }
            if !isOwed { continuation.resume() }
        }
    }

    /// What a disposed container had, to be dealt with outside its lock: deinitializers are user code.
    private struct Dropped {
        var registrations: RegistrationTable<Binding>?
        var instances = InstanceCache()
        var aliases: [ObjectIdentifier: [Publication]] = [:]
        var multitons: [ObjectIdentifier: MultitonCache<CreationKey>] = [:]
        var watchers: [ObjectIdentifier: IdleWatcher] = [:]
        var endings: [CreationKey: Disposable] = [:]
        var silent: [Disposable] = []
        /// What was published, where its release must wait until the scope's key is free.
        var retired: [AnyObject] = []

        func clear() {
            if !watchers.isEmpty { for watcher in watchers.values { watcher.task.cancel() } }
            instances.forEach { $0.storage?.clear() }
        }
    }

    /// The container is disposed from now on.
    private func drop(from state: inout State, into dropped: inout Dropped) {
        if !state.registrations.isEmpty {
            for binding in state.registrations.inOrder { binding.retire() }
            if parent != nil { state.formerKeys = state.registrations.inOrder.map(\.key) }
            dropped.registrations = state.registrations
            state.registrations.removeAll()
        }
        table.unpublishAll(retired: &state.retired)
        state.clearIndexes()
        state.phase = .disposed
        if state.rarely({ !$0.endings.isEmpty }) { swap(&dropped.endings, &state.endings) }
        swap(&dropped.instances, &state.instances)
        if state.rarely({ !$0.aliases.isEmpty }) { swap(&dropped.aliases, &state.aliases) }
        if state.rarely({ !$0.multitons.isEmpty }) { swap(&dropped.multitons, &state.multitons) }
        if state.rarely({ !$0.idleWatchers.isEmpty }) { swap(&dropped.watchers, &state.idleWatchers) }
    }

    /// The handle that observers are given, kept while hooks run: what they throw is reported even when no other
    /// reference holds the container.
    func observedHandle() -> Container? { events == nil ? nil : handle() }
}

extension ContainerCore.State {
    /// Whether a disposal that has just begun is over at once: no hook to run, no creation, lease, scope or child to
    /// wait for.
    fileprivate var hasNothingToWaitFor: Bool {
        flights.isEmpty && leases.isEmpty
            && (ledger.isEmpty || observed.contains(.disposed) && ledger.inOrder.allSatisfy(\.isSilent))
            && owed == 0
            && !rarely { !$0.scopes.isEmpty || !$0.children.isEmpty }
    }
}
