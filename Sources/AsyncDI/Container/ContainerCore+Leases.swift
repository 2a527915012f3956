/// Leasing instances, and the ends of leases.
extension ContainerCore {
    /// The keys of the instances that are leased now.
    var leasedKeys: [CreationKey] { withState { $0.leases.all.map(\.key) } }
    /// The keys of those that a body leases, and not only another instance.
    var keysLeasedByBodies: [CreationKey] { withState { $0.leases.all.filter { $0.bodies > 0 }.map(\.key) } }

    func lease(_ key: CreationKey, _ cell: Cell) -> LeaseDecision {
        let now = elapsed()
        return withState { state in
            guard state.life.isOpen else { return .gone }
            if let kept = state.cached(key), kept.cell === cell {
                return .leased(Lease(core: self, key: key, state.beginLease(of: cell, for: key, in: kept, at: now)))
            }
            return state.flights.all.contains { $0.key == key && $0.instance === cell } ? .unfinished : .gone
        }
    }

    func lease(
        _ key: CreationKey, loaded cell: Cell, from storage: any InstanceStorage, generation: Int
    ) -> (any HeldLease)? {
        let now = elapsed()
        return withState { state in
            // If the generation is the same before and after loading, and the storage is not being written, this is the
            // instance of that generation.
            guard state.life.isOpen, let kept = state.instances[key]?.stored, kept.instances === storage,
                kept.generation == generation, state.flights.flight(for: key) == nil
            else { return nil }
            // The cell that will be disposed, because each load creates another cell.
            let leased = kept.ledgerID.flatMap { state.ledger[$0]?.cell } ?? cell
            return Lease(core: self, key: key, state.beginLease(of: leased, for: key, at: now))
        }
    }

    func leaseIndexed(_ binding: Binding, _ arguments: ArgumentPack) -> Request.Delivery? {
        // Before the hash, which may cost something.
        guard binding.index.object != nil, let comparison = binding.blueprint.keying?.comparison else { return nil }
        return leaseIndexed(binding, withHash: comparison.hash(arguments)) { found in
            found.arguments.map { comparison.areEqual($0, arguments) } ?? false
        }
    }

    func leaseIndexed(_ found: IndexEntry) -> (any HeldLease)? {
        // Unchecked because the caller has compared the entry's arguments, which the mark of a removed entry lacks.
        let binding = unsafeDowncast(found, to: CacheEntry.self).binding
        return leaseIndexed(binding, withHash: found.hash) { $0 === found }?.lease
    }

    private func leaseIndexed(
        _ binding: Binding, withHash hash: UInt32, where isMeant: (IndexEntry) -> Bool
    ) -> Request.Delivery? {
        guard let index = binding.index.object else { return nil }
        // The clock is user code, and read outside the lock.
        let now = elapsed()
        return withState { state in
            guard state.life.isOpen, binding.isCurrent, !isRefusedWhileDraining,
                let found = index.instance(withHash: hash), isMeant(found), let cell = found.cell?.strengthened()
            else { return nil }
            // Unchecked because an index holds only cache entries, except for its mark, which has no cell.
            let kept = unsafeDowncast(found, to: CacheEntry.self)
            kept.node?.note(at: now)
            let key = kept.key
            // In this step, because the instance may be evicted as soon as the lock is released.
            let leased = state.beginLease(of: cell, for: key, in: kept, at: now)
            return Request.Delivery(cell: cell, lease: Lease(core: self, key: key, leased))
        }
    }

    /// The leases that a leased instance holds if it decorates another one, and those of that one in turn.
    func leasesInside(_ lease: Lease) -> [Lease] {
        guard lease.key.binding.base != nil else { return [] }
        let held = disposals(delayedBy: lease).flatMap(\.leases).compactMap { $0 as? Lease }
        return held + held.flatMap { $0.core.leasesInside($0) }
    }

    /// The disposals of a leased instance, which begin after the lease.
    func disposals(delayedBy lease: Lease) -> [Disposable] {
        withState { state in
            // It is either kept, or waits for the end of this lease.
            let kept = state.instances[lease.key]?.ledgerID.flatMap { state.ledger[$0] }
            return kept.flatMap { $0.cell === lease.cell ? [$0] : nil } ?? lease.leased.pending
        }
    }

    /// Ends a lease, and returns the disposals that waited only for it, which the caller runs.
    func release(_ lease: Lease) -> [Disposable] {
        lease.endLongHolds()
        // Only a multiton with bounds records when a use ends.
        let now = lease.key.binding.lifetime.bounds.needsOrder ? elapsed() : .zero
        var waiting: [CheckedContinuation<Void, Never>] = []
        var quiet: [CheckedContinuation<Void, Never>] = []
        var removals = Removals()
        let pending: [Disposable] = withState { state in
            if lease.leaveBody() {
                lease.leased.bodies -= 1
                quiet = state.life.endBody()
            }
            guard let pending = state.leases.end(lease.cell) else { return [] }
            state.lastLeaseEnded(lease, at: now, into: &removals)
            waiting = state.life.over(.leases)
            state.life.beginRemovals(pending.count)
            for item in pending {
                item.noteEndOfLeases()
                state.closing[ObjectIdentifier(item)] = item
            }
            return pending
        }
        for continuation in waiting { continuation.resume() }
        for continuation in quiet { continuation.resume() }
        dispose(of: removals)
        return pending
    }

    /// Waits for the last lease of an instance.
    func leasesEnd(of cell: Cell) async {
        while withState({ $0.leases.isLeased(cell) }) { await nextEnd(of: .leases) { $0.leases.isLeased(cell) } }
    }
}
