/// The instances of a start that has failed.
extension ContainerCore {
    /// Waits for the creations that were cancelled with a start, and for the disposals of those that failed after their
    /// factories, at most for a second.
    ///
    /// Most end at once. One that goes on may use what the start created.
    func waitForUsers(of meter: StartMeter) async {
        let last = stopwatch.elapsed() + .seconds(1)
        while true {
            let ends: [Completion] = withState { state in
                let cancelled = state.flights.all.filter {
                    $0.belongs(to: meter) && state.flights[$0]?.isWindingDown == true
                }
                return cancelled.compactMap(\.end) + state.disposalsOfFailures(in: meter)
            }
            if ends.isEmpty { return }
            for end in ends {
                let rest = max(last - stopwatch.elapsed(), .zero)
                guard await end.wait(atMost: rest, clock: clock) else { return }
            }
        }
    }

    /// Whether no creation of a start goes on, and no disposal of one that failed.
    func isWithoutUsers(of meter: StartMeter) -> Bool {
        withState { state in
            !state.flights.all.contains { $0.belongs(to: meter) } && state.disposalsOfFailures(in: meter).isEmpty
        }
    }

    /// Drops the instances of a start that are still cached, and waits until they are disposed; observers receive the
    /// errors of hooks.
    ///
    /// If a body or another instance leases one of them, because of a request that came meanwhile, all of them stay: it
    /// may hold any of the others.
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
            let started = state.instances.all.filter(isStarted)
            guard !state.isLeasedElsewhere(started) else { return }
            state.drop(started, into: &removals)
            for item in removals.postponed { item.cause = reason.error }
        }
        // Refused if they would wait for themselves; the instances are disposed nevertheless.
        _ = try? await disposeAndWait(removals, reason: reason)
    }
}

extension ContainerCore.State {
    /// The disposals under way of instances that a start created, and whose hooks failed.
    fileprivate func disposalsOfFailures(in meter: StartMeter) -> [Completion] {
        guard rarely({ !$0.closing.isEmpty }) else { return [] }
        return self.closing.values.filter { !$0.hasEnded && $0.failedStart?.isMeasured(by: meter) == true }
    }

    /// Whether a body, or an instance that is none of these, leases one of these instances.
    fileprivate mutating func isLeasedElsewhere(_ instances: [CacheEntry]) -> Bool {
        if leases.isEmpty { return false }
        var leasesAmongThem: [ObjectIdentifier: Int] = [:]
        for item in instances.compactMap({ $0.ledgerID.flatMap { ledger[$0] } }) {
            for case let lease as Lease in item.leases {
                leasesAmongThem[ObjectIdentifier(lease.leased), default: 0] += 1
            }
        }
        return instances.contains { kept in
            // The leases of an instance in a storage are those of the cell of its disposal, if it has one.
            let leased: [LeasedCell] =
                if let cell = kept.cell ?? kept.ledgerID.flatMap({ ledger[$0]?.cell }) {
                    leases[cell].map { [$0] } ?? []
                } else {
                    leases.all(of: [EndingKey(kept.key)]).filter(\.pending.isEmpty)
                }
            return leased.contains { $0.count > leasesAmongThem[ObjectIdentifier($0), default: 0] }
        }
    }
}
