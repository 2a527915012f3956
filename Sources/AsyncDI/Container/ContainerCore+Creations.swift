/// Single flight: finding, joining and starting the creations of shared instances.
extension ContainerCore {
    func join(_ key: CreationKey, for request: borrowing Request, attempt: borrowing JoinAttempt) -> JoinDecision {
        // The clock is user code, so it is read outside the lock.
        let now = elapsed()
        var firstUsed: Binding?
        defer { if let firstUsed { settings.interceptors.didResolve(firstUsed) } }
        return withState { state in
            guard state.life.isOpen else { return .disposed(self) }
            // Under the lock: a drain that has begun sees the lease or the creation, or the request is refused.
            let refuser = refuser(of: request)
            if let refuser, attempt.takesLease { return .disposed(refuser) }
            // The registration may have been replaced since the request found it. A replacement takes this lock too. If
            // an ancestor has the registration, no look-up finds the old binding after its retirement.
            guard key.binding.isCurrent else { return .stale }
            // Looked up once: comparing arguments is user code.
            let kept = state.cached(key)
            // Inside a decorated scoped instance, another one would hide it: both have one key in one container.
            let isHidden = request.isInner && key.binding.lifetime.sharing == .resolvingContainer
            if let decision = state.answer(key, found: kept, attempt: attempt, now: now, isHidden: isHidden) {
                guard case .ready(let cell) = decision, let kept else { return decision }
                if kept.isToBePublished, !isHidden {
                    publishAgain(kept, registrationCount: attempt.registrationCount, in: &state)
                    if kept.isFixed { firstUsed = kept.binding }
                }
                guard attempt.takesLease else { return decision }
                // In this step, because the instance may be evicted as soon as the lock is released.
                let leased = state.beginLease(of: cell, for: key, in: kept, at: now)
                return .leased(cell, Lease(core: self, key: key, leased))
            }
            let predecessor = state.ending(of: key)
            let leases = predecessor?.leasesAwaited
            if let leases { state.retired.append(leases) }
            // Before the search for a holder: one that comes later is noticed by the creation.
            let holdersBelow = leases?.holdersBelow ?? 0
            let holder = leases?.container(leasingAround: request.host, below: self)
            if let holder, key.binding.lifetime.kind == .multiton { return .leasedAround(holder) }
            if let decision = state.flights.ask(
                key, asker: request.asker, mayWait: attempt.mayWait, takesLease: attempt.takesLease)
            {
                guard holder != nil, case .wait(let waiter, let releasing) = decision,
                    let wait = waiter.creation.successorWait
                else { return decision }
                // The holder may end after this request, which the creation therefore does not wait for.
                return .wait(waiter, releasing: releasing + [(wait, early: nil)])
            }
            guard attempt.mayWait else { return .refused }
            if let refuser { return .disposed(refuser) }
            // An instance for arguments that do not equal themselves could never be found again.
            guard key.isEqualToItself else { return .unusableArguments }
            let storage = key.binding.lifetime.makeStorage == nil ? nil : state.instances[key]?.storage
            let creation = Creation(
                key, for: request, asking: self, storage: storage, registrationCount: attempt.registrationCount,
                begin: now,
                after: state.earlierCreation(of: key).map { .creation($0) }
                    ?? (holder == nil
                        ? predecessor.map { .disposal(SuccessorWait(for: $0, holdersBelow: holdersBelow)) } : nil))
            return .start(creation, begin(creation, for: request, takesLease: attempt.takesLease, in: &state))
        }
    }

    /// Publishes a scoped instance at its second request; further requests find it without the lock.
    private func publishAgain(_ kept: CacheEntry, registrationCount: UInt, in state: inout State) {
        guard let cell = kept.cell else { return }
        publish(cell, of: kept.binding, registrationCount: registrationCount, in: &state)
        kept.isToBePublished = false
        kept.isPublished = true
    }

    /// Publishes an instance, so that readers find it without the lock.
    func publish(_ cell: Cell, of binding: Binding, registrationCount: UInt, in state: inout State) {
        // The cell of a registered instance may be published elsewhere, too.
        if binding.blueprint.instance == nil {
            cell.isSharedBelow = binding.lifetime.sharing == .registeringContainer
            cell.isResettable = binding.lifetime.isResettable
        }
        // An inherited instance, decorated or not, must not hide a nearer registration that is added later. The owner
        // of a registration cannot have a nearer one.
        let own = table.ownRegistration(of: binding.key)
        let isInherited = binding.lifetime.sharing == .resolvingContainer && own !== binding
        // One that was added meanwhile keeps its place.
        if isInherited, own != nil { return }
        if isInherited || binding.base?.isInherited == true { cell.stamp(registrationCount) }
        table.publish(cell, for: binding.key, retired: &state.retired)
    }

    /// Begins a flight.
    ///
    /// Returns the wait of a request that takes a lease; other requests attend the creation.
    private func begin(
        _ creation: Creation, for request: Request, takesLease: Bool, in state: inout State
    ) -> Waiter? {
        if !creation.binding.blueprint.isHidden { noteCreation(of: creation.binding.lifetime) }
        let endsWhenAbandoned = creation.binding.blueprint.abandonment == .cancel
        let waiter = takesLease ? Waiter(for: creation, takesLease: true) : nil
        state.flights.start(
            creation, for: creation.key, waiter: waiter, isAttended: waiter == nil,
            waitsFirst: creation.predecessor != nil, endsWhenAbandoned: endsWhenAbandoned)
        guard let waiter else { return nil }
        // A new creation has no waits yet, so this wait cannot close a cycle.
        creation.noteLink()
        if let caller = self.caller(of: request.asker) { _ = Waits.ask(waiter, from: caller, for: creation) }
        return waiter
    }

    func attendNoMore(waitingAs waiter: Waiter) -> Flights.AttendAction {
        withState { $0.flights.attendNoMore(waiter.creation, waitingAs: waiter) }
    }

    func changeFlights<Answer>(joining creation: Creation, _ change: (inout Flights) -> Answer) -> Answer {
        withState { change(&$0.flights) }
    }

    func nextStep(of creation: Creation, after predecessor: Creation.Predecessor) -> Creation.NextStep {
        withState { state in
            if case .creation = predecessor, state.flights[creation]?.isInvalidated == false,
                let earlier = state.earlierCreation(of: creation.key)
            {
                return .wait(.creation(earlier))
            }
            if case .creation = predecessor, state.flights[creation]?.isInvalidated == false,
                let disposal = state.ending(of: creation.key), !disposal.hasEnded
            {
                let leases = disposal.leasesAwaited
                if let leases { state.retired.append(leases) }
                // A request from below a holder of a lease may be refused.
                if leases?.holdersBelow ?? 0 > 0 { return .end }
                let wait = SuccessorWait(for: disposal, holdersBelow: 0)
                creation.note(wait)
                return .wait(.disposal(wait))
            }
            return state.flights.begin(creation) ? .work : .end
        }
    }

    func publish(
        _ converted: Cell, of original: Cell, for key: CreationKey, under alias: Binding, registrationCount: UInt
    ) {
        withState { state in
            // Both registrations and the instance may have changed since the look-up.
            guard state.life.isOpen, key.binding.isCurrent, alias.isCurrent,
                let kept = state.cached(key),
                kept.cell === original, kept.isPublished, alias.key != key.binding.key
            else { return }
            // A nearer registration that was added meanwhile keeps its place.
            let own = table.ownRegistration(of: alias.key)
            guard own == nil || own === alias else { return }
            let id = ObjectIdentifier(kept)
            if let published = state.aliases[id]?.first(where: { $0.key == alias.key }) {
                // Found again at a later count.
                if original.stamp != 0 { published.cell.stamp(registrationCount) }
                return
            }
            converted.isSharedBelow = original.isSharedBelow
            converted.isResettable = original.isResettable
            // Not the count of a later request, for which the original has been published again.
            if original.stamp != 0 { converted.stamp(registrationCount) }
            table.publish(converted, for: alias.key, retired: &state.retired)
            state.aliases[id, default: []].append((alias.key, converted))
        }
    }

    func peek(_ key: CreationKey) -> Peek {
        let now = key.binding.lifetime.bounds.idle == nil ? .zero : elapsed()
        var firstUsed: Binding?
        defer { if let firstUsed { settings.interceptors.didResolve(firstUsed) } }
        return withState { state in
            guard state.life.isOpen, key.binding.isCurrent, let kept = state.cached(key) else {
                return .nothing
            }
            if kept.isFixed, kept.isToBePublished { firstUsed = kept.binding }
            if let stored = kept.stored { return state.isCurrent(stored) ? .storage(stored.instances) : .nothing }
            guard let living = kept.cell?.strengthened() else { return .nothing }
            kept.node?.note(at: now)
            return .instance(living)
        }
    }
}

extension ContainerCore.State {
    /// The cached instance of a key: the answer, or nil when a creation is needed.
    fileprivate mutating func answer(
        _ key: CreationKey, found kept: CacheEntry?, attempt: JoinAttempt, now: Duration, isHidden: Bool
    ) -> JoinDecision? {
        guard let kept else {
            if key.binding.isPlainShared { return nil }
            guard key.binding.lifetime.makeStorage != nil, key.binding.blueprint.instance == nil else { return nil }
            // A storage for arguments that do not equal themselves could never be found again, and each attempt would
            // add one.
            guard key.isEqualToItself else { return .unusableArguments }
            // A cancelled request begins no creation, whose end would remove an entry without an instance.
            guard attempt.mayWait else { return .refused }
            guard let storage = attempt.offeredStorage else { return .makeStorage }
            let stored = StoredCacheEntry(key, storage: storage, generation: nextNumber())
            instances.insert(stored, insteadOf: nil)
            return self.storageWork.isBusy(storage) ? nil : .load(storage, generation: stored.generation)
        }
        if let stored = kept.stored {
            // Until the creation ends, it is unknown whether the storage returns its previous instance or the new one.
            if attempt.takesLease, flights.flight(for: key) != nil { return nil }
            if attempt.emptyGeneration == stored.generation || !isCurrent(stored) { return nil }
            return .load(stored.instances, generation: stored.generation)
        }
        guard let cell = kept.cell, let living = cell.strengthened() else { return nil }
        // Found again at a later registration count, for which the published cell is valid too.
        if cell.stamp != 0, !isHidden { cell.stamp(attempt.registrationCount) }
        kept.node?.note(at: now)
        return .ready(living)
    }

    /// Whether the content of a storage is that of its entry.
    ///
    /// Otherwise it may be an instance that was reset, which is being stored or about to be cleared before the new
    /// instance is stored. Calls for such an instance that are pending after the new one was stored change nothing.
    fileprivate func isCurrent(_ stored: StoredCacheEntry) -> Bool {
        !self.storageWork.isBusy(stored.instances) || stored.isFilled && flights.flight(for: stored.key) == nil
    }
}
