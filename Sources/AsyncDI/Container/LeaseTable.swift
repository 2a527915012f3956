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
    func isLeased(_ cell: Cell) -> Bool { self[cell] != nil }

    /// The leases of an instance; nil without one.
    subscript(cell: Cell) -> LeasedCell? { entries[ObjectIdentifier(cell)] }

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

    /// The instances whose disposal is postponed, with their places in the order of completion, the latest last.
    ///
    /// Those that only a drain waits for have no place.
    var postponed: [ContainerCore.State.Postponed] {
        all.compactMap { leased in leased.pending.compactMap(\.place).max().map { (leased, $0, leased.pending) } }
            .sorted { $0.place < $1.place }
    }
}
