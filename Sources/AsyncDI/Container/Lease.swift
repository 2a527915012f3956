/// Keeps one cached instance from being disposed, until it is ended.
///
/// Ends once: by whoever took it, or with the instance that it was taken for.
final class Lease: HeldLease {
    let core: ContainerCore
    let key: CreationKey
    let cell: Cell

    init(core: ContainerCore, key: CreationKey, cell: Cell) {
        self.core = core
        self.key = key
        self.cell = cell
    }

    func end() {
        core.cleanUp(core.release(self))
    }
}

/// What is leased: for each instance how often, and whether it is waiting to be disposed.
///
/// A pure value. Instances are identified by the cells that hold them, which an entry keeps alive.
struct LeaseTable {
    private struct Entry {
        let cell: Cell
        var count = 0
        /// What is to be disposed after the last lease, in the order in which it left the cache.
        ///
        /// One instance may be registered several times, each with hooks of its own.
        var pending: [Disposable] = []
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }
    func isLeased(_ cell: Cell) -> Bool { entries[ObjectIdentifier(cell)] != nil }

    mutating func begin(_ cell: Cell) { entries[ObjectIdentifier(cell), default: Entry(cell: cell)].count += 1 }

    enum EndAction {
        case stillLeased
        /// The last lease has ended; what waited for this is to be disposed now.
        case free([Disposable])
    }

    mutating func end(_ cell: Cell) -> EndAction {
        let id = ObjectIdentifier(cell)
        guard var entry = entries[id] else { return .free([]) }
        entry.count -= 1
        if entry.count > 0 {
            entries[id] = entry
            return .stillLeased
        }
        entries[id] = nil
        return .free(entry.pending)
    }

    /// Takes over an instance that is to be disposed, when it is leased.
    mutating func postpone(_ item: Disposable) -> Bool {
        guard entries[ObjectIdentifier(item.cell)] != nil else { return false }
        entries[ObjectIdentifier(item.cell)]!.pending.append(item)
        return true
    }

    /// The services that are leased, for reports.
    var pendingKeys: [ServiceKey] { entries.values.flatMap { $0.pending.map(\.recipe.key) } }
}

/// The body of a `withInstance`, as long as it runs.
final class LeaseBody: Sendable {
    private let leased: Locked<ContainerCore?>

    init(leasing core: ContainerCore) { leased = Locked(core) }

    /// The container of whose instances the body holds a lease; nil once it has ended, for a task that outlives it.
    var core: ContainerCore? { leased.withLock { $0 } }

    func end() {
        let core = leased.withLock { core in
            defer { core = nil }
            return core
        }
        withExtendedLifetime(core) {}
    }
}

/// The leases that the current task holds.
enum LeaseContext {
    /// The bodies that this task, or the task that started it, was started in.
    @TaskLocal static var bodies: [LeaseBody] = []
}

extension ContainerCore {
    func lease(_ key: CreationKey, _ cell: Cell) -> LeaseDecision {
        withState { state in
            guard state.phase == .open else { return .gone }
            if let kept = state.instances[key], kept.cell === cell {
                state.beginLease(of: cell, in: kept)
                return .leased(Lease(core: self, key: key, cell: cell))
            }
            return state.flights.all.contains { $0.key == key && $0.instance === cell } ? .unfinished : .gone
        }
    }

    func lease(
        _ key: CreationKey, loaded cell: Cell, from storage: any InstanceStorage, generation: Int
    ) -> (any HeldLease)? {
        withState { state in
            // With the same generation before and after loading, and nothing being stored, it is the instance of that generation.
            guard state.phase == .open, let kept = state.instances[key]?.stored, kept.instances === storage,
                kept.generation == generation, state.flights.flight(for: key) == nil
            else { return nil }
            // The cell that will be disposed; each load makes another one.
            let leased = kept.ledgerID.flatMap { state.ledger[$0]?.cell } ?? cell
            state.leases.begin(leased)
            return Lease(core: self, key: key, cell: leased)
        }
    }

    /// Ends a lease, and gives what was only waiting for this, for the caller to dispose.
    func release(_ lease: Lease) -> [Disposable] {
        let now = elapsed()
        var waiting: [CheckedContinuation<Void, Never>] = []
        var victims = Victims()
        let pending: [Disposable] = withState { state in
            guard case .free(let pending) = state.leases.end(lease.cell) else { return [] }
            state.lastLeaseEnded(lease, at: now, from: table, into: &victims)
            if !state.leaseWaiters.isEmpty { swap(&waiting, &state.leaseWaiters) }
            state.owed += pending.count
            return pending
        }
        for continuation in waiting { continuation.resume() }
        if !victims.isEmpty { dispose(of: victims) }
        return pending
    }

    /// Waits until an instance is not leased any more.
    func leasesEnd(of cell: Cell) async {
        while withState({ $0.leases.isLeased(cell) }) { await nextLeaseEnd { $0.isLeased(cell) } }
    }

    /// Waits until nothing is leased any more.
    func allLeasesEnd() async {
        while withState({ !$0.leases.isEmpty }) { await nextLeaseEnd { !$0.isEmpty } }
    }

    private func nextLeaseEnd(while isLeased: @Sendable (LeaseTable) -> Bool) async {
        await withCheckedContinuation { continuation in
            let mustWait = withState { state in
                let mustWait = isLeased(state.leases)
                if mustWait { state.leaseWaiters.append(continuation) }
                return mustWait
            }
            if !mustWait { continuation.resume() }
        }
    }
}
