/// The instances of a start that has failed.
extension ContainerCore {
    /// Drops the instances of a start that are still cached, and waits until they are disposed; observers receive the
    /// errors of hooks.
    ///
    /// One that another instance leases, which a request created meanwhile, stays with it.
    func dispose(_ instances: [StartedInstance], reason: DisposalReason) async {
        let cells = Set(instances.map { ObjectIdentifier($0.cell) })
        let generations = Set(instances.compactMap(\.generation))
        func isStarted(_ kept: CacheEntry) -> Bool {
            if let stored = kept.stored { return generations.contains(stored.generation) }
            return kept.cell.map { !kept.isFixed && cells.contains(ObjectIdentifier($0)) } ?? false
        }
        // Decorations of the services, or of types forwarded to them, hold the instances: here and elsewhere.
        let (keys, forwards) = withState { state in
            let keys = state.instances.all.filter(isStarted).map(\.key)
            let isDecorated = state.isDecorated || state.hasDecorators
            return (keys, isDecorated ? keys.flatMap { state.forwards(to: $0) } : [])
        }
        let decorating = dropWrappers(around: .keys(keys + forwards))
        var removals = Removals()
        withState { state in
            // A disposal of the container disposes them too.
            guard state.life.isOpen else { return }
            state.drop(.keys(forwards), into: &removals)
            let others = decorating.map(\.removals) + [removals]
            let holders = others.flatMap { $0.disposables + $0.postponed.map(\.item) }
            let started = state.instances.all.filter(isStarted)
            state.drop(state.unleased(started, beside: holders), into: &removals)
        }
        // Refused if they would wait for themselves; the instances are disposed nevertheless.
        for (core, wrappers) in decorating { _ = try? await core.disposeAndWait(wrappers, reason: reason) }
        _ = try? await disposeAndWait(removals, reason: reason)
    }
}

extension ContainerCore.State {
    /// The keys of the types that are forwarded to a service.
    fileprivate mutating func forwards(to key: CreationKey) -> [CreationKey] {
        registrations.records(forwardingTo: key.binding.key).map { CreationKey($0, key.arguments) }
    }

    /// The instances of which only each other hold leases, bodies, and instances that are being dropped.
    fileprivate func unleased(_ instances: [CacheEntry], beside dropped: [Disposable]) -> [CacheEntry] {
        var unleased = instances
        while true {
            var ending: [ObjectIdentifier: Int] = [:]
            for item in dropped + unleased.compactMap({ $0.ledgerID.flatMap { ledger[$0] } }) {
                for case let lease as Lease in item.leases { ending[ObjectIdentifier(lease.leased), default: 0] += 1 }
            }
            let left = unleased.filter { kept in
                guard let cell = kept.cell, let leased = leases[cell] else { return true }
                return leased.count - leased.bodies <= ending[ObjectIdentifier(leased), default: 0]
            }
            if left.count == unleased.count { return unleased }
            unleased = left
        }
    }
}
