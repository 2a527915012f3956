/// Instances that a change dropped from the caches, to be handled outside the lock.
struct Removals {
    /// The instances to dispose, newest first.
    var disposables: [Disposable] = []
    /// The instances whose disposal waits for their last lease.
    var postponed: [Disposable] = []
    /// The storages to clear, in the order of their pending calls.
    var storages: [any InstanceStorage] = []
    /// Entries, keys, and instances whose disposal is only an event: released last and outside the lock, because
    /// deinitializers are user code.
    var released: [AnyObject] = []
    /// The watchers of idle instances that have no instance left.
    var watchers: [Task<Void, Never>] = []

    /// Whether an instance is disposed, now or after its last lease; not one without a lease whose disposal is only an
    /// event.
    func contains(_ item: Disposable) -> Bool {
        disposables.contains { $0 === item } || postponed.contains { $0 === item }
    }
}

extension ContainerCore.State {
    /// Drops the selected instances; one in flight reaches its waiters but is not kept.
    ///
    /// Hidden instances are internal and stay: current loads of modules must not run twice. So do those that were
    /// registered as instances.
    mutating func drop(_ selection: ResetSelection, into removals: inout Removals) {
        let selected: [CacheEntry]
        switch selection {
        case .keys(let keys):
            for key in keys { holdOffSuccessor(of: flights.invalidate(key)) }
            selected = keys.compactMap { instances[$0] }
        case .instances(let isSelected):
            let isSelected = { (binding: Binding) in !binding.blueprint.isHidden && isSelected(binding) }
            for creation in flights.invalidate(where: { isSelected($0.binding) }) { holdOffSuccessor(of: creation) }
            selected = instances.all(where: isSelected)
        }
        drop(selected.filter { !$0.isFixed }, into: &removals)
    }

    /// Drops registrations, whose instances are no longer resolved.
    ///
    /// Drops the instances inside decorated ones too, unless `keepingBases`, for a change of decorations.
    ///
    /// The cost depends only on these registrations, so that many can be removed one after the other.
    mutating func drop(
        _ bindings: [Binding], keepingBases: Bool = false, into removals: inout Removals
    ) {
        var affected = bindings
        for binding in bindings {
            binding.retire()
            if binding.key.arguments != nil { self.hasFormerRegistrations = true }
            if !keepingBases, case .instance(let base)? = binding.base {
                base.retire()
                affected.append(base)
            }
            // Decorated forwarded types hold the instance behind them.
            guard isDecorated else { continue }
            affected += registrations.records(forwardingTo: binding.key).filter { $0.blueprint.underlying != nil }
        }
        drop(instances(of: affected), into: &removals)
    }

    /// Returns the cached instances of registrations, and invalidates their creations in flight.
    private mutating func instances(of bindings: [Binding]) -> [CacheEntry] {
        var found: [CacheEntry] = []
        var withArguments: Set<ObjectIdentifier> = []
        for binding in bindings {
            if binding.key.arguments != nil {
                withArguments.insert(ObjectIdentifier(binding))
                if !instances.isEmpty { found += instances.all(of: binding) }
            } else {
                let key = CreationKey(withoutArguments: binding)
                holdOffSuccessor(of: flights.invalidate(key))
                if let kept = instances[key] { found.append(kept) }
            }
        }
        if !withArguments.isEmpty {
            let invalidated = flights.invalidate { withArguments.contains(ObjectIdentifier($0.binding)) }
            for creation in invalidated { holdOffSuccessor(of: creation) }
        }
        return found
    }

    /// Drops cached instances.
    ///
    /// Leased instances are disposed after their last lease.
    mutating func drop(_ dropped: [CacheEntry], into removals: inout Removals) {
        var ids: [DisposalLedger<Disposable>.ID] = []
        for kept in dropped {
            instances.remove(kept)
            unpublish(kept)
            if let storage = kept.storage { clear(storage, into: &removals) }
            if let id = kept.ledgerID { ids.append(id) }
            if let node = kept.node { endUse(node, of: kept.binding, into: &removals) }
            if kept.arguments != nil {
                kept.binding.index.load()?.takeUnretainedValue().remove(kept, retired: &retired)
            }
            removals.released.append(kept)
            if !kept.isFixed, !kept.binding.blueprint.isHidden, kept.stored?.isFilled != false {
                note(.evicted, of: kept.argumentKey, .evicted(kept.binding.key))
            }
        }
        for item in ledger.take(ids) { end(item, in: &removals) }
    }

    /// Takes the turn of a call that clears a storage; a disposal of the container waits for it, because it may close a
    /// file.
    mutating func clear(_ storage: any InstanceStorage, into removals: inout Removals) {
        life.beginRemovals()
        if self.storageWork.begin(.clear, on: storage) { removals.storages.append(storage) }
    }

    /// Lets no request have the next instance before the leases of a dropped one end, even if no hook runs then.
    ///
    /// - Returns: The disposals after the leases.
    mutating func awaitLeases(of keys: Set<EndingKey>, drainedBy core: ContainerCore) -> [Disposable] {
        leases.all(of: keys).filter { instances[$0.key]?.cell !== $0.cell }.compactMap {
            awaitLeases(of: $0, drainedBy: core)
        }
    }

    /// The same for one leased instance that no request finds.
    mutating func awaitLeases(of leased: LeasedCell, drainedBy core: ContainerCore) -> Disposable? {
        if leased.pending.isEmpty {
            // One that was overtaken by a reset stays open until now, to be disposed with the container.
            let id = ledger.latest { $0.cell === leased.cell }
            leased.postpone(id.flatMap { ledger.take($0) } ?? Disposable(leased.cell, leased.key, in: core))
        }
        guard let item = leased.pending.last else { return nil }
        let key = EndingKey(item.key)
        if self.endings[key] == nil { self.endings[key] = item }
        return item
    }

    /// The instances under these keys that are being disposed, or wait for their last lease.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - mayBeSeveral: Whether several of one key may be closed at once. The search for them reads all that are being
    ///     closed.
    /// - Returns: The instances; some may be there twice.
    mutating func dropped(_ keys: Set<EndingKey>, mayBeSeveral: Bool) -> [Disposable] {
        let pending = leases.all(of: keys).flatMap(\.pending).filter { keys.contains(EndingKey($0.key)) }
        let closing = mayBeSeveral && rarely { !$0.closing.isEmpty } ? Array(self.closing.values) : []
        return keys.compactMap { self.endings[$0] } + pending + closing.filter { keys.contains(EndingKey($0.key)) }
    }

    /// Hides an instance from readers of its service.
    mutating func unpublish(_ kept: CacheEntry) {
        if kept.isPublished, let cell = kept.cell {
            table.unpublish(cell, for: kept.binding.key, retired: &retired)
            kept.isPublished = false
        }
        guard rarely({ !$0.aliases.isEmpty }) else { return }
        for alias in self.aliases.removeValue(forKey: ObjectIdentifier(kept)) ?? [] {
            table.unpublish(alias.cell, for: alias.key, retired: &retired)
            // These may be the last references to the instance and to its qualifier, if others have replaced them.
            retired.append(alias.cell)
            if let details = alias.key.details { retired.append(details) }
        }
    }

    /// Records an instance that is disposed with the container, unless it leaves the caches earlier.
    mutating func record(_ item: Disposable) -> DisposalLedger<Disposable>.ID {
        let id = ledger.record(item)
        item.place = id
        return id
    }

    /// Arranges the disposal of an instance that has left the caches: after its last lease, or at once without leases.
    ///
    /// No request waits for the leases of one that has a successor, which a storage released before it.
    mutating func end(_ item: Disposable, in removals: inout Removals, hasSuccessor: Bool = false) {
        if item.place == nil { item.place = ledger.makePlace() }
        guard leases.postpone(item) else {
            guard item.isSilent else { return owe(item, in: &removals) }
            if item.isAnnounced { note(.disposed, of: item.key.arguments, .disposed(item.binding.key)) }
            return removals.released.append(item)
        }
        removals.postponed.append(item)
        if !item.isSilent, !hasSuccessor { self.endings[EndingKey(item.key)] = item }
    }

    /// Notes that an instance must be disposed outside the lock.
    mutating func owe(_ item: Disposable, in removals: inout Removals) {
        life.beginRemovals()
        item.noteEndOfLeases()
        // One whose creation failed has not been recorded.
        if item.place == nil { item.place = ledger.makePlace() }
        self.closing[ObjectIdentifier(item)] = item
        // The creation of a successor waits for this disposal.
        if !item.isSilent { self.endings[EndingKey(item.key)] = item }
        removals.disposables.append(item)
    }

    /// Begins a lease, which a body holds until an instance takes it over.
    ///
    /// A cached instance is not evicted before the end of its last lease.
    mutating func beginLease(
        of cell: Cell, for key: CreationKey, in kept: CacheEntry? = nil, at now: Duration
    ) -> LeasedCell {
        if let node = kept?.node { MultitonCache<CreationKey>.beginLease(node) }
        life.beginBody()
        return leases.begin(cell, for: key, at: now)
    }
}

/// The removal of cached instances.
extension ContainerCore {
    func reset(_ target: ResetTarget, throughAncestors: Bool) async throws {
        var errors: [any Error] = []
        var refusals: [any Error] = []
        for core in lineage.prefix(throughAncestors ? .max : 1) {
            // A refusal of one container does not prevent the reset of the others.
            do { errors += try await core.resetHere(target) } catch { refusals.append(error) }
        }
        // Of a disposed container, the first of those above that are disposed with it says enough.
        let areOfEnd = refusals.allSatisfy { ($0 as? ResolutionError)?.code == .disposed }
        if errors.isEmpty, let first = refusals.first, refusals.count == 1 || areOfEnd { throw first }
        errors += refusals
        if !errors.isEmpty { throw DisposalError(errors: errors) }
    }

    private func resetHere(_ target: ResetTarget) async throws -> [any Error] {
        let removals = try drop(target)
        // They hold the dropped instances, and are disposed before these.
        let decorating = dropWrappers(around: target)
        var leased = decorating.isEmpty ? [] : (decorating.map(\.removals) + [removals]).flatMap(\.postponed)
        var errors: [any Error] = []
        var refusals: [any Error] = []
        for (core, wrappers) in decorating {
            do { errors += try await core.disposeAndWait(wrappers) } catch { refusals.append(error) }
        }
        do { errors += try await disposeAndWait(removals) } catch { refusals.append(error) }
        // The disposals that waited only for those of the wrappers, which held leases; each may end the lease of
        // another.
        while let index = leased.firstIndex(where: { $0.leaseHolders == nil }) {
            let item = leased.remove(at: index)
            // A hook may need an instance of the caller's creation.
            let (caller, suspension) = (self.caller(of: ResolutionContext.activeRun), Suspension())
            defer { if caller != nil { Waits.end(suspension) } }
            if let caller, let runs = Waits.begin(suspension, from: caller, for: item) {
                refusals.append(waitsForItself("resets \(item.binding.key)", caller, runs))
                continue
            }
            _ = await item.wait(atMost: nil, clock: clock)
            errors += item.errors
        }
        if errors.isEmpty, let refusal = refusals.first { throw refusal }
        return errors + refusals
    }

    /// Removes the instances with which other containers decorate the selected ones.
    func dropWrappers(
        around target: ResetTarget, where isMeant: (ContainerCore) -> Bool = { _ in true }
    ) -> [(core: ContainerCore, removals: Removals)] {
        if withState({ !$0.hasDecorators }) { return [] }
        let selection = selection(target)
        // This container keeps no instances of other registrations, and a scope's own are not reset from here.
        let bindings = withState { state in
            state.registrations.inOrder.filter { $0.lifetime.sharing == .registeringContainer }
        }
        // Kept until the end, so that no other registration has the address of one of them.
        defer { withExtendedLifetime(bindings) {} }
        let own = Set(bindings.map(ObjectIdentifier.init))
        let selected: [Binding] =
            switch selection {
            case .keys(let keys): keys.map(\.binding)
            case .instances(let isSelected): bindings.filter(isSelected)
            }
        return decorators(of: Set(selected.map { ServiceName($0.key) })).filter(isMeant).map { core in
            var removals = Removals()
            core.withState { state in
                guard state.life.isOpen else { return }
                let wrappers = state.registrations.inOrder.filter { $0.base?.isInherited == true }
                state.drop(selection.wrapped(by: wrappers, of: own), into: &removals)
            }
            return (core, removals)
        }
    }

    /// Removes the selected instances from the caches, and changes or reads the state in the same step.
    func drop(
        _ target: ResetTarget, andThen change: (inout State) -> Void = { _ in }
    ) throws -> Removals {
        let selection = selection(target)
        var removals = Removals()
        try withState { state in
            guard state.life.isOpen else { throw disposedError(nil, asker: nil) }
            state.drop(selection, into: &removals)
            change(&state)
        }
        return removals
    }

    /// Disposes dropped instances, and waits until that is done.
    ///
    /// - Returns: The errors of hooks.
    /// - Throws: `invalidOperation` if the caller would wait for itself; dropped instances are disposed nevertheless.
    func disposeAndWait(
        _ removals: Removals, reason: DisposalReason = DisposalReason()
    ) async throws -> [any Error] {
        guard let last = removals.disposables.last, let caller = self.caller(of: ResolutionContext.activeRun) else {
            return await dispose(of: removals, reason: reason)?.value ?? []
        }
        // Begun before the first hook: a hook that needs an instance of the caller's creation is refused.
        let (suspension, end) = (Suspension(), Completion())
        let batch = DisposalBatch(removals.disposables, before: end)
        let runs = Waits.begin(suspension, from: caller, for: end)
        if runs == nil { for item in removals.disposables { item.noteReset(by: caller.run) } }
        let task = dispose(of: removals, reason: runs == nil ? reason : reason.withoutCaller, as: batch)
        if let runs { throw waitsForItself("resets \(last.binding.key)", caller, runs) }
        defer { Waits.end(suspension) }
        return await task?.value ?? []
    }
}
