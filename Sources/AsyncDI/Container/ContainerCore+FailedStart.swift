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
        let keys = withState { state in
            let keys = state.instances.all.filter(isStarted).map(\.key)
            return keys + state.forwards(to: keys)
        }
        let decorating = dropWrappers(around: .keys(keys))
        var removals = Removals()
        withState { state in
            // A disposal of the container disposes them too.
            guard state.life.isOpen else { return }
            state.drop(.keys(state.decorations(around: keys)), into: &removals)
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
    /// The keys of the types that this container forwards to services, if another one may decorate them.
    fileprivate mutating func forwards(to keys: [CreationKey]) -> [CreationKey] {
        guard hasDecorators else { return [] }
        return keys.flatMap { key in
            registrations.records(forwardingTo: key.binding.key).map { CreationKey($0, key.arguments) }
        }
    }

    /// The instances that decorate some of this container, or are about to, also by registrations of other containers.
    fileprivate func decorations(around keys: [CreationKey]) -> [CreationKey] {
        var seen: Set<ObjectIdentifier> = []
        let bindings = (instances.all.map(\.key.binding) + flights.all.map(\.key.binding)).filter {
            $0.base != nil && seen.insert(ObjectIdentifier($0)).inserted
        }
        return keys.flatMap { key in
            bindings.filter { $0.decorates(key.binding) }.map { CreationKey($0, key.arguments) }
        }
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
