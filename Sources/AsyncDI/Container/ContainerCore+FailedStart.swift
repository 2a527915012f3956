/// The instances of a start that has failed.
extension ContainerCore {
    /// Drops the instances of a start that are still cached, and waits until they are disposed; observers receive the
    /// errors of hooks.
    ///
    /// A leased one stays, because of a request that came meanwhile: its body or instance uses it, and a successor would
    /// wait for the end of the lease.
    func dispose(_ instances: [StartedInstance], reason: DisposalReason) async {
        let cells = Set(instances.map { ObjectIdentifier($0.cell) })
        let generations = Set(instances.compactMap(\.generation))
        func isStarted(_ kept: CacheEntry) -> Bool {
            if let stored = kept.stored { return generations.contains(stored.generation) }
            return kept.cell.map { !kept.isFixed && cells.contains(ObjectIdentifier($0)) } ?? false
        }
        var removals = Removals()
        withState { state in
            // A disposal of the container disposes them too.
            guard state.life.isOpen else { return }
            state.drop(state.unleased(state.instances.all.filter(isStarted)), into: &removals)
        }
        // Refused if they would wait for themselves; the instances are disposed nevertheless.
        _ = try? await disposeAndWait(removals, reason: reason)
    }
}

extension ContainerCore.State {
    /// The instances of which only each other hold leases.
    fileprivate func unleased(_ instances: [CacheEntry]) -> [CacheEntry] {
        var unleased = instances
        while true {
            var ending: [ObjectIdentifier: Int] = [:]
            for item in unleased.compactMap({ $0.ledgerID.flatMap { ledger[$0] } }) {
                for case let lease as Lease in item.leases { ending[ObjectIdentifier(lease.leased), default: 0] += 1 }
            }
            let left = unleased.filter { kept in
                // The leases of an instance in a storage are those of the cell of its disposal.
                let cell = kept.cell ?? kept.ledgerID.flatMap { ledger[$0]?.cell }
                guard let leased = cell.flatMap({ leases[$0] }) else { return true }
                return leased.count <= ending[ObjectIdentifier(leased), default: 0]
            }
            if left.count == unleased.count { return unleased }
            unleased = left
        }
    }
}
