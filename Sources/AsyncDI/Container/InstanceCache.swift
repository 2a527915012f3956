/// The cached instances of one container, found by their keys.
///
/// A pure value: open addressing over references, so that a cached instance takes little extra memory. A removal leaves
/// no mark, because the entries after it move up.
struct InstanceCache {
    private var places: [CacheEntry?] = []
    private(set) var count = 0
    /// The instances of each registration; built at the first request for those of some registrations, if the cache has
    /// many instances.
    private var byBinding: [ObjectIdentifier: [ObjectIdentifier: CacheEntry]]?
    private static let fewest = 64

    var isEmpty: Bool { count == 0 }
    /// Every instance, in no particular order.
    var all: [CacheEntry] { isEmpty ? [] : places.compactMap { $0 } }
    func forEach(_ body: (CacheEntry) -> Void) { for case let kept? in places { body(kept) } }

    /// The instances of the registrations for which the condition holds, in no particular order.
    ///
    /// In a cache with many instances, the condition is checked once for each registration.
    mutating func all(where isMeant: (Binding) -> Bool) -> [CacheEntry] {
        guard isGrouped() else { return all.filter { isMeant($0.binding) } }
        let groups = byBinding?.values.filter { $0.values.first.map { isMeant($0.binding) } == true }
        return groups?.flatMap(\.values) ?? []
    }

    subscript(key: CreationKey) -> CacheEntry? {
        first(of: key.binding, hash: key.arguments.hash) { key.arguments == $0.argumentKey }
    }

    /// The matching instance of a registration, among those whose arguments have this hash.
    @inline(__always)
    func first(of binding: Binding, hash: UInt32, where isMeant: (CacheEntry) -> Bool) -> CacheEntry? {
        index(of: binding, hash, where: isMeant).flatMap { places[$0] }
    }

    /// The instances of a registration.
    mutating func all(of binding: Binding) -> [CacheEntry] {
        guard isGrouped() else { return all.filter { $0.binding === binding } }
        return byBinding?[ObjectIdentifier(binding)].map { Array($0.values) } ?? []
    }

    /// Whether the instances are listed by their registrations, as many instances are from the first call on.
    private mutating func isGrouped() -> Bool {
        if byBinding != nil { return true }
        if count <= Self.fewest { return false }
        byBinding = [:]
        forEach { list($0) }
        return true
    }

    /// Inserts an instance, in the place of `old` if that has the same key.
    mutating func insert(_ new: CacheEntry, insteadOf old: CacheEntry?) {
        if let old, let index = index(of: old) {
            unlist(old)
            list(new)
            places[index] = new
            return
        }
        if (count + 1) * 4 > places.count * 3 { grow() }
        put(new)
        list(new)
        count += 1
    }

    /// Removes an instance, if the cache has it.
    mutating func remove(_ kept: CacheEntry) {
        guard var gap = index(of: kept) else { return }
        places[gap] = nil
        unlist(kept)
        count -= 1
        var index = next(gap)
        while let other = places[index] {
            // It may move up unless its own place is after the gap.
            let way = (index - home(other.binding, other.hash)) & (places.count - 1)
            if way >= (index - gap) & (places.count - 1) {
                places.swapAt(gap, index)
                gap = index
            }
            index = next(index)
        }
    }

    // MARK: Inside

    /// The first place to search for an instance.
    private func home(_ binding: Binding, _ hash: UInt32) -> Int {
        // Unretained because only the address counts.
        let address = UInt(bitPattern: Unmanaged.passUnretained(binding).toOpaque())
        let mixed = (UInt64(address) &+ UInt64(hash) << 32) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 32) & (places.count - 1)
    }

    private mutating func list(_ kept: CacheEntry) {
        byBinding?[ObjectIdentifier(kept.binding), default: [:]][ObjectIdentifier(kept)] = kept
    }

    private mutating func unlist(_ kept: CacheEntry) {
        if byBinding == nil { return }
        let binding = ObjectIdentifier(kept.binding)
        byBinding?[binding]?[ObjectIdentifier(kept)] = nil
        if byBinding?[binding]?.isEmpty == true { byBinding?[binding] = nil }
    }

    private func next(_ index: Int) -> Int { (index + 1) & (places.count - 1) }

    @inline(__always)
    private func index(of binding: Binding, _ hash: UInt32, where isMeant: (CacheEntry) -> Bool) -> Int? {
        if isEmpty { return nil }
        var index = home(binding, hash)
        while let kept = places[index] {
            if kept.binding === binding, kept.hash == hash, isMeant(kept) { return index }
            index = next(index)
        }
        return nil
    }

    private func index(of kept: CacheEntry) -> Int? { index(of: kept.binding, kept.hash) { $0 === kept } }

    private mutating func put(_ kept: CacheEntry) {
        var index = home(kept.binding, kept.hash)
        while places[index] != nil { index = next(index) }
        places[index] = kept
    }

    private mutating func grow() {
        // Written as a literal, because an initializer with a count looks up the array's type each time, which takes as
        // long as the rest of a first insertion.
        if places.isEmpty { return places = [nil, nil, nil, nil] }
        let old = places
        places = Array(repeating: nil, count: old.count * 2)
        for case let kept? in old { put(kept) }
    }
}

extension InstanceCache {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(all.count == count, "every instance is counted")
        precondition(places.isEmpty || count < places.count, "one place stays free")
        for kept in all { precondition(index(of: kept) != nil, "every instance is found") }
        precondition(Set(all.map { ObjectIdentifier($0) }).count == count, "an instance is there once")
        guard let byBinding else { return }
        precondition(byBinding.values.map(\.count).reduce(0, +) == count, "each is listed once")
        for (binding, group) in byBinding {
            precondition(!group.isEmpty, "no empty lists")
            precondition(group.values.allSatisfy { ObjectIdentifier($0.binding) == binding }, "lists agree")
            precondition(group.values.allSatisfy { index(of: $0) != nil }, "lists have the cached instances")
        }
    }
}
