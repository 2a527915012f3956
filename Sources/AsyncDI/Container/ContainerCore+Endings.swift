/// The ends of creations, with the delivery of their instances to the waiters.
extension ContainerCore {
    func finish(_ creation: Creation, _ result: Result<Cell, any Error>) {
        guard case .success(let cell) = result, let storage = creation.storage, let instance = cell.anyValue else {
            _ = endFlight(creation, result)
            return
        }
        // The instance is stored, and then the creation ended; by another caller, if that one is using the storage.
        // Until the flight has ended, requests wait for it and do not load from the storage.
        let store = StorageWork.store((creation, cell, instance))
        if withState({ $0.storageWork.begin(store, on: storage) }) { work(on: storage, beginningWith: store) }
    }

    func finishAlone(_ creation: Creation, _ result: Result<Cell, any Error>) -> Bool {
        // A storage is user code, and receives the instance only after it is known to be complete.
        !creation.isStored && endFlight(creation, result, unlessInGraph: true) != nil
    }

    /// Ends a flight, and carries out the consequences.
    ///
    /// - Returns: The consequences; nil if the graph of waits must decide first.
    func endFlight(
        _ creation: Creation, _ result: Result<Cell, any Error>, unlessInGraph: Bool = false,
        storedIn storage: (any InstanceStorage)? = nil, isWritten: Bool = false
    ) -> Ending? {
        var ending = Ending(storage: storage ?? creation.storage)
        // A start that fails sees the flight until the creation uses nothing any longer.
        if case .failure = result, creation.instance == nil, startMeter?.isMeasuring == true,
            !creation.heldLeases.isEmpty
        {
            for lease in creation.takeLeases() { lease.end() }
        }
        let now = elapsed()
        let time = startMeter?.time()
        // For the observers, outside the lock, because the path of a cycle is found by comparing arguments. An observer
        // may keep it.
        if case .failure(let error) = result, events?.wanted.contains(.failed) == true {
            ending.told = ResolutionError.withoutOrigins(error)
        }
        let action: Flights.FinishAction? = withState { state in
            if unlessInGraph, creation.isInGraph { return nil }
            let action = endFlight(creation, result, at: now, in: &state, into: &ending)
            // In this step, because another thread may find the instance at once, and with it end the start.
            if let time { startMeter?.end(of: creation, with: result, storedAs: ending.generation, at: time) }
            if let storage {
                // A disposal has begun meanwhile, and waits for the call before it closes the instance.
                if isWritten, !ending.isKept, state.life.phase == .disposing {
                    state.clear(storage, into: &ending.removals)
                }
                // In this step, so that every request finds either the flight or its stored instance.
                ending.nextWork = state.storageWork.next(on: storage)
                ending.isDropped = state.life.phase == .disposed
            }
            return action
        }
        guard let action else { return nil }
        // Before the calls that wait for the end go on.
        for lease in ending.leases { lease.end() }
        creation.finishEnd()
        // For a start that began meanwhile.
        startMeter?.end(of: creation, with: result, storedAs: ending.generation)
        if ending.isKept, creation.binding.lifetime.bounds.idle != nil { watchIdle(creation.binding) }
        for lease in ending.prolonged { lease.wakeSuccessors() }
        dispose(of: ending.removals)
        action.resumeWaiters(
            with: result, makeLease: ending.leased.map { leased in { Lease(core: self, key: creation.key, leased) } })
        for continuation in ending.drained { continuation.resume() }
        return ending
    }

    /// Ends a flight in one step under the lock.
    private func endFlight(
        _ creation: Creation, _ result: Result<Cell, any Error>, at now: Duration,
        in state: inout State, into ending: inout Ending
    ) -> Flights.FinishAction {
        let end = state.flights.end(creation, succeeded: result.isSuccess)
        let action = end.action
        state.noteEnd(
            of: creation, isSuccess: result.isSuccess, failure: ending.told, at: now, waiters: end.mostWaiters)
        let product = creation.product(
            of: result, isAnnounced: state.observed.contains(.disposed), isOpen: state.life.isOpen,
            unusedLeases: &ending.leases)
        if case .success(let cell) = result, case .deliver(let waiters, _) = action, !waiters.isEmpty {
            // One lease for each waiter, before the instance can be evicted and before a waiter resumes.
            for waiter in waiters where waiter.takesLease {
                ending.leased = state.beginLease(of: cell, for: creation.key, at: now)
            }
        }
        if case .success(let cell) = result, case .deliver(_, keep: true) = action, state.life.isOpen {
            ending.isKept = true
            ending.generation = cache(cell, product, of: creation, at: now, in: &state, into: &ending.removals)
        } else if result.isSuccess, let product {
            if state.life.phase == .disposed {
                // The container was dropped: no hook runs, but the factory's leases of other containers end.
                ending.leases = product.leases
            } else {
                ending.prolonged = state.settle(product, deliveredBy: end, into: &ending.removals)
            }
        } else if let product {
            // The instance was created before a hook failed. It must be disposed, and will not reach a request.
            if end.isInvalidated {
                state.endOvertaken(product, in: &ending.removals)
            } else {
                state.owe(product, in: &ending.removals)
            }
        }
        if !ending.isKept {
            if let storage = ending.storage { state.forget(storage, of: creation, into: &ending.removals) }
            let requestedEnd = creation.requestedEnd
            if let leased = ending.leased, requestedEnd?.wasDrained == true {
                if let item = state.awaitLeases(of: leased, drainedBy: self) { requestedEnd?.produced(item) }
            } else if let product, ending.removals.contains(product) {
                requestedEnd?.produced(product)
            }
        }
        state.noteEndOfEarlier(creation)
        if state.flights.isEmpty { ending.drained = state.life.over(.creations) }
        creation.end(attended: end.isAttended ? end.attended(result) : nil)
        // Checked after the end: a call of a task that outlives the creation either sees the end, or is seen here.
        if creation.isInGraph { Waits.graph.withLock { $0.remove(creation) } }
        return action
    }

    /// The consequences of a creation's end, outside the lock.
    ///
    /// Not copyable, because a copy counts the references in all of its lists.
    struct Ending: ~Copyable {
        /// The storage of the creation, which may have ended meanwhile.
        let storage: (any InstanceStorage)?
        var isKept = false
        /// The failure, as observers get it.
        var told: (any Error)?
        /// The number of a storage's new content.
        var generation: Int?
        var leases: [any HeldLease] = []
        /// The leases whose end successors no longer wait for.
        var prolonged: [Lease] = []
        /// The leased instance, for the waiters that take a lease.
        var leased: LeasedCell?
        var removals = Removals()
        var drained: [CheckedContinuation<Void, Never>] = []
        /// The storage's next pending call.
        var nextWork: StorageWork?
        var isDropped = false
    }

    /// Caches a complete instance and publishes it where readers find it without the lock.
    ///
    /// - Returns: The number of the storage's new content; nil if no storage keeps the instance.
    private func cache(
        _ cell: Cell, _ product: Disposable?, of creation: Creation, at now: Duration, in state: inout State,
        into removals: inout Removals
    ) -> Int? {
        let binding = creation.binding
        // Only weak and stored instances can have an old entry under the flight's key. Others skip the look-up, because
        // comparing arguments is user code.
        let old = binding.lifetime.isWeak || creation.isStored ? state.instances[creation.key] : nil
        // A storage had already released the old instance, whose remaining leases delay its disposal.
        if let id = old?.ledgerID, let replaced = state.ledger.take(id) {
            state.end(replaced, in: &removals, hasSuccessor: true)
        }
        let ledgerID = product.map { state.record($0) }
        if creation.isStored {
            old?.stored?.isFilled = true
            old?.stored?.generation = state.nextNumber()
            old?.ledgerID = ledgerID
            return old?.stored?.generation
        }
        // A value has no weak form, so it is not cached.
        guard let keptCell = binding.lifetime.isWeak ? cell.weakened() : cell else {
            if let id = ledgerID, let product = state.ledger.take(id) { state.end(product, in: &removals) }
            return nil
        }
        let node = state.beginUse(
            of: creation.key, again: old?.node, isLeased: state.leases.isLeased(cell), at: now, by: stopwatch,
            into: &removals)
        let isIndexed = binding.isIndexed
        let arguments = isIndexed ? creation.pack : nil
        let kept =
            node.map { BoundedCacheEntry(creation.key, arguments, cell: keptCell, node: $0) }
            ?? CacheEntry(creation.key, arguments, cell: keptCell)
        kept.ledgerID = ledgerID
        if let old {
            state.unpublish(old)
            // The entry of a released instance is released later, because the deinitializers of its arguments are user
            // code.
            state.retired.append(old)
        }
        // A scoped instance of an ancestor's registration that was replaced meanwhile must not take its successor's
        // place.
        let isScoped = binding.lifetime.sharing == .resolvingContainer
        // Inside a decorated scoped instance, another one would hide it: both have one key in one container.
        if binding.key.arguments == nil, binding.isCurrent, !binding.lifetime.bounds.needsOrder,
            !(isScoped && creation.isInner)
        {
            if isScoped {
                kept.isToBePublished = true
            } else {
                publish(keptCell, of: binding, registrationCount: creation.registrationCount, in: &state)
                kept.isPublished = true
            }
        }
        if isIndexed {
            binding.index.loadOrInitialize { InstanceIndex() }.insert(kept, retired: &state.retired)
        }
        state.instances.insert(kept, insteadOf: old)
        if keptCell.isHeldWeakly, old == nil { state.sweepDeadEntries(into: &removals) }
        return nil
    }
}

extension ContainerCore.State {
    /// A number for the new content of a storage, or for a watcher of idle instances, that no other one has.
    mutating func nextNumber() -> Int {
        self.lastNumber += 1
        return self.lastNumber
    }

    /// Notes the end of a creation for observers.
    fileprivate mutating func noteEnd(
        of creation: Creation, isSuccess: Bool, failure: (any Error)?, at now: Duration, waiters: Int
    ) {
        guard !observed.isEmpty, !creation.binding.blueprint.isHidden else { return }
        let (key, arguments) = (creation.binding.key, creation.key.arguments)
        if isSuccess {
            note(
                .created, of: arguments, ownDuration: creation.ownDuration(until: now),
                .created(key, duration: creation.duration(until: now), waiters: waiters))
        } else if let failure, creation.extrasIfAny({ $0.isOvertaken }) != true {
            // The factory of an overtaken creation never ran, and its requests start over.
            note(.failed, of: arguments, .failed(key, failure))
        }
    }

    /// Arranges the disposal of an instance that was invalidated in flight and belongs to its waiters alone.
    ///
    /// If every waiter took a lease, it is disposed after the last lease, and without waiters it is disposed at once. A
    /// caller without a lease may use the instance as long as the container exists, because the end of that use is
    /// unknown. In a multiton, such a caller must be prepared for an eviction. There the instance is not kept, because
    /// the next instance of its key is on its way, and a file or a lock may not be open twice. Nor is a decoration of
    /// another instance, whose successor waits for the end of the decoration's lease.
    ///
    /// - Returns: The leases whose end successors no longer wait for; the caller wakes these outside the lock.
    fileprivate mutating func settle(
        _ product: Disposable, deliveredBy end: borrowing Flights.Ending,
        into removals: inout Removals
    ) -> [Lease] {
        let isMultiton = product.binding.lifetime.kind == .multiton
        guard life.isOpen, isMultiton || !end.isPinned, case .deliver(let waiters, _) = end.action,
            isMultiton || product.binding.base != nil || !end.isAttended && waiters.allSatisfy(\.takesLease)
        else {
            // No reset finds a decoration that is kept only for its holders: successors must not wait for its leases.
            let prolonged =
                life.isOpen && product.binding.base != nil ? product.leases.compactMap { $0 as? Lease } : []
            for lease in prolonged { lease.noteHolderUnknownToResets(in: product.home) }
            if product.isSilent { self.end(product, in: &removals) } else { _ = record(product) }
            return prolonged
        }
        endOvertaken(product, in: &removals)
        return []
    }

    /// Arranges the disposal of an instance whose creation was invalidated.
    ///
    /// A later instance may be in disposal already, for which the next creation must wait: that stays noted. There is
    /// none if this creation held it off.
    fileprivate mutating func endOvertaken(_ product: Disposable, in removals: inout Removals) {
        let later = product.binding.holdsOffSuccessors ? nil : ending(of: product.key)
        end(product, in: &removals)
        if let later, !later.hasEnded { self.endings[EndingKey(product.key)] = later }
    }

    /// Drops the entries of released weak instances, once for as many new entries as instances were alive before.
    fileprivate mutating func sweepDeadEntries(into removals: inout Removals) {
        self.weakEntriesBeforeSweep -= 1
        guard self.weakEntriesBeforeSweep < 0 else { return }
        var living = 0
        var dead: [CacheEntry] = []
        instances.forEach { kept in
            guard let cell = kept.cell, cell.isHeldWeakly else { return }
            if let instance = cell.strengthened() {
                // Reading retains the instance. This may become the last reference, so it is released outside the lock.
                retired.append(instance)
                living += 1
            } else {
                dead.append(kept)
            }
        }
        drop(dead, into: &removals)
        // The search reads every entry, so it must not come often where most are held strongly.
        self.weakEntriesBeforeSweep = max(64, living * 2, instances.count / 4) - living
    }
}

extension Creation {
    /// The entry for a later disposal; nil if the instance has neither a hook nor leases of its own, and observers do
    /// not want its events.
    ///
    /// The caller must end the leases of a creation without an instance.
    fileprivate func product(
        of result: Result<Cell, any Error>, isAnnounced: Bool, isOpen: Bool, unusedLeases: inout [any HeldLease]
    ) -> Disposable? {
        let leases = takeLeases()
        var isAnnounced = isAnnounced && !binding.blueprint.isHidden
        var failure: (any Error)?
        var cell = instance
        switch result {
        case .success(let made):
            cell = made
            // The container was disposed during the creation, so the instance does not reach a request.
            if !isOpen { failure = ContainerCore.cutShort(host) }
        case .failure(let error):
            failure = error
            isAnnounced = false
        }
        guard var cell else {
            unusedLeases = leases
            return nil
        }
        guard binding.hasDisposalHooks || !leases.isEmpty || isAnnounced else { return nil }
        // A storage decides how long its instance lives, unless the instance must be closed.
        let isOnlyAnnounced = isStored && !binding.hasDisposalHooks && leases.isEmpty
        if binding.lifetime.isWeak || isOnlyAnnounced { cell = cell.weakened() ?? Cell(isHeldWeakly: true) }
        return Disposable(
            cell, key, in: host, leases: leases, failure: failure, isCutShort: result.isSuccess && !isOpen,
            isAnnounced: isAnnounced, failedStart: result.isSuccess ? nil : start)
    }
}

extension Flights.Ending {
    /// The outcome for the request that attends the creation.
    fileprivate func attended(_ result: Result<Cell, any Error>) -> Waiter.Outcome {
        if isClosed { return .disposed }
        if case .retry = action { return .retry }
        return switch result {
        case .success(let cell): .instance(cell)
        case .failure(let error): .failure(error)
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { return true }
        return false
    }
}
