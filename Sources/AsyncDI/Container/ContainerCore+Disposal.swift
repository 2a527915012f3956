/// Disposal: ordered, awaited, exactly once.
extension ContainerCore {
    /// Disposes the container, or waits for the disposal that is under way.
    ///
    /// - Parameters:
    ///   - reason: The reason that hooks receive.
    ///   - isEndOfBody: Whether the scope's own body has ended; any other call interrupts the body.
    ///   - deadline: The longest time to wait.
    /// - Throws: `DisposalError`; `invalidOperation` if the call would wait for itself.
    func dispose(
        reason: DisposalReason = DisposalReason(), isEndOfBody: Bool = false, deadline: Duration? = nil
    ) async throws {
        if try disposeAtOnce() { return }
        try await disposeWaiting(reason: reason, isEndOfBody: isEndOfBody, deadline: deadline)
    }

    /// Disposes a container and waits for the disposal, if the call is allowed to.
    func disposeWaiting(reason: DisposalReason, isEndOfBody: Bool, deadline: Duration? = nil) async throws {
        // Here, a scope's own body has ended.
        let caller = isEndOfBody ? self.caller(of: ResolutionContext.activeRun) : callerOfDisposal
        let isLimited = deadline != nil || isEndOfBody && !hasParent && earliestDeadline != nil
        if !isLimited, let disposal = beginWithHooksOnly(reason: reason, isEndOfBody: isEndOfBody, caller: caller) {
            // Most hooks do not suspend.
            let hasEnded = disposal.hasEnded ? true : await wait(for: disposal, isEndOfBody: isEndOfBody)
            return try report(disposal, hasEnded: hasEnded)
        }
        // Begun before the first hook: a hook that needs an instance of the caller's creation is refused.
        let suspension = Suspension()
        if let caller, let runs = Waits.begin(suspension, from: caller, for: disposal) {
            // A hook that disposes a container that waits for it (its own, or a parent) does not wait in turn.
            if caller.run?.isDisposing == true {
                _ = beginDisposal(reason: reason.withoutCaller, isEndOfBody: isEndOfBody)
                return
            }
            guard isEndOfBody else { throw waitsForItself("disposes \(displayName)", caller, runs) }
            // No other call would close the scope. The caller receives the error of lost work, so work must be lost.
            let error = waitsForItself("ends \(displayName)", caller, runs)
            _ = beginDisposal(reason: reason.with(reason.error ?? error).withoutCaller, isEndOfBody: true)
            throw error
        }
        defer { if caller != nil { Waits.end(suspension) } }
        // A hook that blocks its thread must not delay the deadline.
        let depth = isLimited ? Int.max : 0
        guard let disposal = beginDisposal(reason: reason, isEndOfBody: isEndOfBody, depth: depth) else { return }
        guard let deadline else {
            return try report(disposal, hasEnded: await wait(for: disposal, isEndOfBody: isEndOfBody))
        }
        noteDeadline(stopwatch.elapsed() + deadline.addable)
        try report(disposal, hasEnded: await disposal.wait(atMost: deadline, clock: clock))
    }

    /// Disposes the container if that needs neither a hook nor a wait.
    ///
    /// - Returns: Whether the container is disposed.
    func disposeAtOnce() throws -> Bool {
        try refuseDisposalHere()
        return endAtOnce()
    }

    /// The container's disposal, whether or not it has begun.
    var disposal: Disposal { disposalReference.loadOrInitialize { Disposal(below: parent) } }

    /// The container's disposal, nil before a call has waited for it.
    var disposalUnderWay: Disposal? { disposalReference.object }

    var end: Completion? { disposalUnderWay }
    var ends: [Activity] { firstUpwards { $0.disposalUnderWay }.map { [$0] } ?? [] }

    /// The error for work that was lost although this scope's body returned; nil if the work is complete.
    var lostWork: ResolutionError? { disposalUnderWay?.lostWork }

    private func report(_ disposal: Disposal, hasEnded: Bool) throws {
        var errors = disposal.errors
        if !hasEnded {
            var (text, keys) = disposal.subject?.facts(in: self) ?? ("its end", [])
            // These bodies run beside the first wait, and may be the reason of the next one.
            let awaited = Set(keys)
            let leased = keysLeasedByBodies.filter { !awaited.contains($0) }
            if !leased.isEmpty { text += ", and then for the last lease of \(Disposal.Subject.list(leased))" }
            errors.append(timedOut("the disposal of \(displayName)", waitingFor: text, of: keys))
        }
        if !errors.isEmpty { throw DisposalError(errors: errors) }
    }

    /// Begins the disposal unless it has begun; returns nil after its end.
    ///
    /// - Parameters:
    ///   - reason: The reason that hooks receive.
    ///   - isEndOfBody: Whether the scope's own body has ended.
    ///   - depth: The number of disposals around this one in the caller's thread; `.max` if no hook may run there.
    /// - Returns: The disposal that is under way.
    func beginDisposal(reason: DisposalReason, isEndOfBody: Bool = false, depth: Int = .max) -> Disposal? {
        if endAtOnce() { return nil }
        let disposal = disposal
        var mustRun: DisposalReason?
        let isOver = withState { state in
            guard state.life.isOpen else { return state.life.isOver }
            mustRun = begin(disposal, reason: reason, isEndOfBody: isEndOfBody, in: &state)
            return false
        }
        if isOver { return nil }
        if let reason = mustRun { launch(disposal, reason: reason, depth: depth, hasHooksOnly: false) }
        return disposal
    }

    /// Begins a disposal that only hooks can delay, which is the case for most scopes with instances.
    ///
    /// The disposal waits only for its hooks, which have not begun to wait. The call of `dispose` therefore closes no
    /// cycle, and enters the graph of waits only when a hook waits: see ``Disposable/beginner``.
    ///
    /// - Parameters:
    ///   - reason: The reason that hooks receive.
    ///   - isEndOfBody: Whether the scope's own body has ended.
    ///   - caller: The call that waits for the disposal, nil outside every activity.
    /// - Returns: The disposal; nil if it must begin in the general way.
    private func beginWithHooksOnly(reason: DisposalReason, isEndOfBody: Bool, caller: Caller?) -> Disposal? {
        let disposal = Disposal(below: parent, begunBy: caller)
        let reason: DisposalReason? = withState { state in
            guard state.life.isOpen, state.hasHooksOnly,
                disposalReference.loadOrInitialize({ disposal }) === disposal
            else { return nil }
            return begin(disposal, reason: reason, isEndOfBody: isEndOfBody, in: &state)
        }
        guard let reason else { return nil }
        launch(disposal, reason: reason, depth: 0, hasHooksOnly: true)
        return disposal
    }

    /// Begins the disposal in one step under the lock.
    ///
    /// - Returns: The reason that hooks receive.
    private func begin(
        _ disposal: Disposal, reason: DisposalReason, isEndOfBody: Bool, in state: inout State
    ) -> DisposalReason {
        state.life.beginDisposal()
        // From now on, every look-up misses, and every miss throws `disposed`.
        table.close()
        if let body = bodyReference.object { disposal.noteLeases(of: body) }
        if !state.flights.isEmpty { disposal.noteStopped(state.flights.close()) }
        if reason.error != nil, !isEndOfBody { disposal.noteInterruptedWork() }
        // The body has not done its work yet, or the owner has said that it failed, perhaps while it also ends it.
        guard hasOwner, !isEndOfBody || reason.error != nil && !hasBody else { return reason }
        let error = Self.cutShort(self)
        disposal.noteInterruption(error)
        return reason.error == nil ? reason.with(error) : reason
    }

    /// Runs a disposal in a task of its own, which inherits nothing from the caller.
    ///
    /// If possible, it begins in the caller's thread, so that it is over when this returns if no hook suspends. Not
    /// inside other disposals or factories, because the thread's stack would grow with their depth.
    private func launch(_ disposal: Disposal, reason: DisposalReason, depth: Int, hasHooksOnly: Bool) {
        scopeBeginsClosing()
        // The leases of a scope's instances end with this disposal, which may wait for a body.
        if !hasHooksOnly, let held = bodyReference.object?.held { Lease.noteLaterEnd(of: held) }
        dropWrappersElsewhere()
        let observed = observedHandle()
        if depth < Self.greatestDepthOnOneStack, ResolutionContext.run == nil,
            #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        {
            Task.immediateDetached {
                await self.run(disposal, reason: reason, depth: depth, hasHooksOnly: hasHooksOnly)
                withExtendedLifetime(observed) {}
            }
        } else {
            Task.detached {
                await self.run(disposal, reason: reason, depth: depth, hasHooksOnly: hasHooksOnly)
                withExtendedLifetime(observed) {}
            }
        }
    }

    /// Drops the instances with which other containers decorate those of this one, which they may lease.
    ///
    /// The containers below are disposed as a whole, in the order of their instances.
    private func dropWrappersElsewhere() {
        for (core, wrappers) in dropWrappers(around: .everything, where: { !self.isAboveOrSame($0) }) {
            core.dispose(of: wrappers)
        }
    }

    private static var greatestDepthOnOneStack: Int { 8 }

    /// Performs the whole disposal in one step if it needs no wait; returns true also after its end.
    private func endAtOnce() -> Bool {
        var content = State.Content()
        let isOver: Bool? = withState { state in
            if state.life.isOver { return true }
            guard state.life.isOpen, state.hasNothingToWaitFor else { return nil }
            table.close()
            // Their disposal is only an event: they have no hooks.
            while let item = state.ledger.takeNewest() {
                if item.isAnnounced { state.note(.disposed, of: item.key.arguments, .disposed(item.binding.key)) }
                state.retired.append(item)
            }
            state.end(into: &content, hasParent: hasParent)
            // Copied, so that no published instance's last reference is released before the scope's key is free.
            content.retired = state.retired
            return false
        }
        guard let isOver else { return false }
        if isOver { return true }
        // Called before the user's deinitializers and storages, which may take long or open the key again.
        withExtendedLifetime(content) { scopeBeginsClosing() }
        release(content)
        let drains = content.drains
        content = State.Content()
        finish(resuming: drains)
        // Of a call that came meanwhile.
        disposalUnderWay?.finish()
        return true
    }

    /// Ends the current work in the container, which may take long.
    ///
    /// - Returns: The instances that were dropped and are not closed yet.
    private func endWork(_ disposal: Disposal, reason: DisposalReason, depth: Int) async -> [State.Postponed] {
        stopWatching()
        Self.stop(disposal.takeStopped())
        await disposeChildren(disposal, reason: reason, depth: min(depth, Self.greatestDepthOnOneStack) + 1)
        await drainCreations(disposal)
        // An instance may still be written out by what it uses.
        if withState({ $0.isUnfinished(.storages) }) {
            disposal.noteWait(for: .storages)
            await waitForEnd(of: .storages)
        }
        return withState { $0.dropped }
    }

    /// Disposes the instances, the latest first, after the current work unless there is none.
    @inline(__always)
    private func run(_ disposal: Disposal, reason: DisposalReason, depth: Int, hasHooksOnly: Bool) async {
        var postponed = hasHooksOnly ? [] : await endWork(disposal, reason: reason, depth: depth)
        while let next = withState({ $0.nextStep(beside: &postponed) }) {
            switch next {
            case .postponed(let leased):
                await leasesEnd(of: leased.cell, leased.key, disposal)
            case .closing(let item):
                disposal.noteWait(for: .hooks(of: item.key))
                _ = await item.wait(atMost: nil, clock: clock)
            case .recorded(let item, let isLeased):
                if isLeased, let cell = item.cell { await leasesEnd(of: cell, item.key, disposal) }
                disposal.noteWait(for: .hooks(of: item.key), beginsHooks: item.binding.hasDisposalHooks)
                for error in await dispose(item, reason: reason) { disposal.add(error) }
            }
        }
        if withState({ $0.isUnfinished(.leases) || $0.isUnfinished(.removals) }) {
            // Of instances without hooks, which are in no order.
            disposal.noteWait(for: .allLeases)
            await waitForEnd(of: .leases)
            await waitForEnd(of: .removals)
        }
        end(disposal)
    }

    private func end(_ disposal: Disposal) {
        let drains: [CheckedContinuation<Void, Never>]
        do {
            // Released before waiters resume, because an instance's deinitializer may close a resource.
            var content = State.Content()
            withState { $0.end(into: &content, hasParent: hasParent) }
            release(content)
            drains = content.drains
        }
        // Before the next call of `dispose` returns, after which nothing of the container is under way.
        disposal.noteWait(for: nil)
        finish(resuming: drains)
        disposal.finish()
        disposal.forgetBeginner()
    }

    /// Notes that the content is released, so that calls which dispose the container again need not wait.
    private func finish(resuming drains: [CheckedContinuation<Void, Never>]) {
        scopeIsClosed()
        for drain in drains { drain.resume() }
        withState { $0.life.finish() }
    }

    /// Cancels the watchers of idle instances, because the disposal removes instances in order.
    private func stopWatching() {
        var watchers: [ObjectIdentifier: IdleWatcher] = [:]
        withState { state in
            if state.rarely({ !$0.idleWatchers.isEmpty }) { swap(&watchers, &state.idleWatchers) }
        }
        for watcher in watchers.values { watcher.task.cancel() }
    }

    /// Resumes waiters at once, and cancels creations.
    ///
    /// The caller keeps neither: a hook may wait for the end of an argument.
    static func stop(_ stopped: Disposal.StoppedCreations) {
        for waiter in stopped.waiters { waiter.resume(.disposed) }
        for creation in stopped.flights { creation.cancel() }
    }

    private func drainCreations(_ disposal: Disposal) async {
        let keys = withState { state in state.flights.isEmpty ? [] : state.flights.all.map(\.key) }
        if keys.isEmpty { return }
        disposal.noteWait(for: .creations(of: keys))
        await waitForEnd(of: .creations)
    }

    private func leasesEnd(of cell: Cell, _ key: CreationKey, _ disposal: Disposal) async {
        disposal.noteWait(for: .leases(of: key))
        await leasesEnd(of: cell)
    }

    /// The dropped instances whose hooks run.
    var keysBeingClosed: [CreationKey] {
        withState { state in
            state.rarely { !$0.closing.isEmpty }
                ? state.closing.values.filter { !$0.hasEnded && $0.hasBegunHooks }.map(\.key) : []
        }
    }

    /// Waits until work of a kind is over.
    func waitForEnd(of work: State.Work) async {
        while withState({ $0.isUnfinished(work) }) { await nextEnd(of: work) { $0.isUnfinished(work) } }
    }

    /// Waits for the next end of work of a kind, unless it is over.
    func nextEnd(of work: State.Work, while isUnfinished: @Sendable (borrowing State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let mustWait = withState { state in
                let mustWait = isUnfinished(state)
                if mustWait { state.life.add(continuation, for: work) }
                return mustWait
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Ends the watchers of idle instances, clears storages, and lets other objects forget their instances.
    private func release(_ content: State.Content) {
        for watcher in content.idleWatchers { watcher.task.cancel() }
        for memo in content.memos { memo.containerHasEnded(number) }
        content.instances.forEach { $0.storage?.clear() }
    }

    /// The handle for observers, kept while hooks run so that their errors are reported even without another reference
    /// to the container.
    func observedHandle() -> Container? { events == nil ? nil : handle() }
}
