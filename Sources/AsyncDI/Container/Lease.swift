import Synchronization

/// Delays the disposal of one cached instance until the lease ends.
///
/// It ends once, together with its body or with the instance that holds it.
final class Lease: HeldLease {
    let core: ContainerCore
    let key: CreationKey
    let leased: LeasedCell
    /// Whether a body, and not an instance, holds it: a drain waits only for bodies.
    private let heldByBody = Atomic(true)

    /// The number of its holders that no scope ends before the leased instance's container: an instance, and the
    /// holders of that instance's own leases if it decorates the leased one.
    private let longHolders = Atomic<Int>(0)
    /// The leases inside a decorated instance, which last as long as this one; noted once.
    private let prolonged = AtomicReference<Shared<[Lease]>>()
    private let hasEndedProlonged = Atomic(false)
    /// The number of the holder's container, if it is below the leased instance's container; otherwise zero.
    private let holderBelow = Atomic<UInt64>(0)
    /// Whether its holds have ended: a holder that is noted later ends them again.
    ///
    /// A task that outlives a factory may pass a lease to an instance whose creation ends meanwhile.
    private let holdsHaveEnded = Atomic(false)
    /// The body that the holder outlives, if that is an instance of the body's scope.
    private let body = AtomicReference<ScopeBody>()

    init(core: ContainerCore, key: CreationKey, _ leased: LeasedCell) {
        self.core = core
        self.key = key
        self.leased = leased
    }

    var cell: Cell { leased.cell }
    /// Takes the lease from its body; false if no body held it.
    func leaveBody() -> Bool { heldByBody.exchange(false, ordering: .relaxed) }

    func passToInstance(of holder: Creation, decorating: Bool) {
        guard leaveBody() else { return }
        // A reset or a replacement drops the instances of a decoration together with the one that they decorate.
        if let home = holder.home as? ContainerCore, mayKeepLong(home), !decorating {
            noteLongHolder()
            prolongLeasesInside(for: home)
        } else if let home = holder.home {
            // First, because the waiting successors check for cycles again when they notice the holder.
            if let scope = home as? ContainerCore, let body = scope.leaseHolder {
                self.body.loadOrInitialize { body }.add(self, isFromAbove: core.isAboveOrSame(scope))
            }
            leased.addLeaseBelow(of: home.number)
            holderBelow.store(home.number, ordering: .sequentiallyConsistent)
        }
        // Sequentially consistent like the end: either this sees the end, or the end sees the holder.
        if holdsHaveEnded.load(ordering: .sequentiallyConsistent) { endLongHolds() }
        var quiet: [CheckedContinuation<Void, Never>] = []
        // The waiting successors have not seen the new holder.
        let pending = core.withState { state in
            leased.bodies -= 1
            quiet = state.life.endBody()
            return leased.pending
        }
        for disposal in pending { disposal.wake() }
        for continuation in quiet { continuation.resume() }
    }

    /// Whether no scope ends the instances of a container before that of the leased instance.
    private func mayKeepLong(_ home: ContainerCore) -> Bool {
        home.isAboveOrSame(core) || home.isOutsideScopes(of: core)
    }

    /// Notes that no reset finds its holder, which decorates the leased instance in a container.
    ///
    /// Called under the lock of that container: the caller wakes the successors afterwards.
    func noteHolderUnknownToResets(in home: any ResolutionHost) {
        guard let home = home as? ContainerCore, mayKeepLong(home) else { return }
        noteLongHolder()
        if holdsHaveEnded.load(ordering: .sequentiallyConsistent) { endOneLongHold() }
    }

    /// Notes one more holder that no scope ends.
    private func noteLongHolder() {
        longHolders.add(1, ordering: .sequentiallyConsistent)
        leased.longLeases.add(1, ordering: .sequentiallyConsistent)
    }

    /// Notes that a holder in `home` keeps the leases of a decorated instance, too.
    private func prolongLeasesInside(for home: ContainerCore) {
        let inside = core.leasesInside(self).filter { $0.mayKeepLong(home) }
        if inside.isEmpty { return }
        for lease in inside { lease.noteLongHolder() }
        // Afterwards, because the end of this lease ends the holds that it finds here.
        _ = prolonged.loadOrInitialize { Shared(inside) }
        for lease in inside { lease.wakeSuccessors() }
    }

    func noteBody() {
        guard leased.disposal != nil else { return }
        leased.noteNewHolder()
        wakeSuccessors()
    }

    /// Lets the creations that wait for the end of the lease check again whether to wait.
    ///
    /// Called outside every container's lock.
    func wakeSuccessors() {
        for disposal in core.withState({ _ in leased.pending }) { disposal.wake() }
    }

    /// Notes that the lease ends, or is about to end because the disposal of its holder begins.
    func endLongHolds() {
        holdsHaveEnded.store(true, ordering: .sequentiallyConsistent)
        let below = holderBelow.exchange(0, ordering: .sequentiallyConsistent)
        if below != 0 { leased.removeLeaseBelow(of: below) }
        body.object?.remove(self)
        let holders = longHolders.exchange(0, ordering: .sequentiallyConsistent)
        if holders != 0 { leased.longLeases.subtract(holders, ordering: .sequentiallyConsistent) }
        guard let inside = prolonged.object, !hasEndedProlonged.exchange(true, ordering: .relaxed) else { return }
        for lease in inside.value { lease.endOneLongHold() }
    }

    /// Notes the end of one of several holders, unless the end of the lease came first.
    private func endOneLongHold() {
        var holders = longHolders.load(ordering: .sequentiallyConsistent)
        while holders > 0 {
            let (isExchanged, original) = longHolders.compareExchange(
                expected: holders, desired: holders - 1, ordering: .sequentiallyConsistent)
            if isExchanged {
                leased.longLeases.subtract(1, ordering: .sequentiallyConsistent)
                return
            }
            holders = original
        }
    }

    /// The disposals of the instance and of its container, which wait for the lease.
    var outer: [Activity] { core.ends + (leased.disposal.map { [$0] } ?? []) }

    func end() {
        core.cleanUp(core.release(self))
    }
}

/// The leased instances of one container.
///
/// Instances are identified by the cells that hold them, which an entry keeps alive.
struct LeaseTable {
    private var entries = SmallMap<ObjectIdentifier, LeasedCell>()
    /// The leased instances by the hashes of their ``EndingKey``s; built at the first request for those of some keys,
    /// if there are many.
    ///
    /// By hashes, because a dictionary's key may be the last to hold an argument, and is released under the lock.
    private var byHash: [Int: [ObjectIdentifier: LeasedCell]]?
    private static let fewest = 64

    var isEmpty: Bool { entries.isEmpty }
    func isLeased(_ cell: Cell) -> Bool { entries[ObjectIdentifier(cell)] != nil }

    /// The leased instances under these keys.
    mutating func all(of keys: Set<EndingKey>) -> [LeasedCell] {
        guard isHashed() else { return all.filter { keys.contains(EndingKey($0.key)) } }
        return keys.flatMap { key in (byHash?[key.hashValue] ?? [:]).values.filter { EndingKey($0.key) == key } }
    }

    /// Whether the leased instances are found by their keys, as many are from the first call on.
    private mutating func isHashed() -> Bool {
        if byHash != nil { return true }
        if entries.count <= Self.fewest { return false }
        byHash = [:]
        for leased in all { byHash?[Self.hash(leased.key), default: [:]][ObjectIdentifier(leased.cell)] = leased }
        return true
    }

    private static func hash(_ key: CreationKey) -> Int { EndingKey(key).hashValue }

    mutating func begin(_ cell: Cell, for key: CreationKey, at now: Duration) -> LeasedCell {
        let entry = entries[ObjectIdentifier(cell)] ?? LeasedCell(cell, of: key, leasedSince: now)
        if entry.count == 0 {
            entries[ObjectIdentifier(cell)] = entry
            byHash?[Self.hash(key), default: [:]][ObjectIdentifier(cell)] = entry
        }
        entry.count += 1
        entry.bodies += 1
        return entry
    }

    /// The leased instances.
    var all: [LeasedCell] { entries.all.map(\.value) }

    /// Ends a lease.
    ///
    /// - Returns: The disposals that are due after the last lease; nil while others go on.
    mutating func end(_ cell: Cell) -> [Disposable]? {
        let id = ObjectIdentifier(cell)
        guard let entry = entries[id] else { return [] }
        entry.count -= 1
        if entry.count > 0 { return nil }
        entries[id] = nil
        if byHash != nil {
            let hash = Self.hash(entry.key)
            byHash?[hash]?[id] = nil
            if byHash?[hash]?.isEmpty == true { byHash?[hash] = nil }
        }
        return entry.pending
    }

    /// Postpones the disposal of a leased instance.
    mutating func postpone(_ item: Disposable) -> Bool {
        guard let cell = item.cell, let entry = entries[ObjectIdentifier(cell)] else { return false }
        entry.postpone(item)
        return true
    }
}

extension ContainerCore {
    /// The keys of the instances that are leased now.
    var leasedKeys: [CreationKey] { withState { $0.leases.all.map(\.key) } }
}

extension Disposable {
    /// Notes that the disposal is about to begin, which will end the leases that the instance holds.
    func noteEndOfLeases() {
        for lease in leases { (lease as? Lease)?.endLongHolds() }
    }
}

extension LeaseBody {
    /// Whether one of the leased instances belongs to `container` or to one below it.
    func leases(from container: ContainerCore) -> Bool {
        held.contains { ($0 as? Lease).map { container.isAboveOrSame($0.core) } ?? false }
    }
}

extension LeaseContext {
    /// Whether a body of the current task leases an instance of `container` or of one below it.
    static func leases(from container: ContainerCore) -> Bool { hasBody { $0.leases(from: container) } }

    /// Whether a body of the current task is work that a drain of `container` does not refuse: it leases an instance
    /// from there, or collects leases in an admitted call.
    static func isWork(of container: ContainerCore) -> Bool {
        hasBody { body in
            body.leases(from: container)
                || (body.collectsIn as? ContainerCore).map { container.isAboveOrSame($0) } ?? false
        }
    }

    /// Whether a body of the current task holds such a lease.
    static func leases(_ isMeant: (Lease) -> Bool) -> Bool {
        // Outside the body's lock, because the comparison of arguments is user code.
        hasBody { $0.held.contains { ($0 as? Lease).map(isMeant) ?? false } }
    }

    private static func hasBody(where isMeant: (LeaseBody) -> Bool) -> Bool {
        activeBody.map { sequence(first: $0, next: \.parent).contains(where: isMeant) } ?? false
    }
}

extension ContainerCore {
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

    func leaseIndexed(_ binding: Binding, _ arguments: ArgumentPack) -> (cell: Cell, lease: any HeldLease)? {
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
    ) -> (cell: Cell, lease: any HeldLease)? {
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
            return (cell, Lease(core: self, key: key, leased))
        }
    }

    /// The leases that a leased instance holds if it decorates another one, and those of that one in turn.
    func leasesInside(_ lease: Lease) -> [Lease] {
        guard lease.key.binding.base != nil else { return [] }
        let held = withState { state in
            // It is either kept, or waits for the end of this lease.
            let kept = state.instances[lease.key].flatMap { $0.cell === lease.cell ? $0.ledgerID : nil }
            let items = kept.flatMap { state.ledger[$0] }.map { [$0] } ?? lease.leased.pending
            return items.flatMap(\.leases).compactMap { $0 as? Lease }
        }
        return held + held.flatMap { $0.core.leasesInside($0) }
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
            for item in pending { item.noteEndOfLeases() }
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
