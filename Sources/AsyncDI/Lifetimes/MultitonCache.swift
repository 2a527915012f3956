/// Which entries of a bounded multiton stay: the order of last use, the number allowed, and how long one may idle.
///
/// A pure value over keys and instants. All operations but `expire` take constant time: entries form a doubly linked list
/// from the least to the most recently used.
struct MultitonCache<Key: Hashable, Instant: Comparable> {
    private struct Entry {
        var lastUse: Instant
        var previous: Key?
        var next: Key?
    }

    private let capacity: Int?
    private var entries: [Key: Entry] = [:]
    /// The least recently used.
    private var oldest: Key?
    /// The most recently used.
    private var newest: Key?

    /// A cache that holds as many entries as given, any number when nil.
    init(capacity: Int?) { self.capacity = capacity }

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// When the least recently used entry was last used.
    var oldestUse: Instant? { oldest.flatMap { entries[$0]?.lastUse } }

    /// Adds an entry as the most recently used.
    ///
    /// Returns the key that must go to make room, if one must.
    mutating func insert(_ key: Key, at now: Instant) -> Key? {
        unlink(key)
        append(key, at: now)
        guard let capacity, entries.count > capacity, let victim = oldest else { return nil }
        unlink(victim)
        return victim
    }

    /// The entry was used: it is the most recently used one now.
    ///
    /// Does nothing when there is none.
    mutating func use(_ key: Key, at now: Instant) {
        guard let index = entries.index(forKey: key) else { return }
        if newest == key {
            entries.values[index].lastUse = max(now, entries.values[index].lastUse)
            return
        }
        // The key that came with the entry stays: an equal one belongs to whoever asks.
        let key = entries.keys[index]
        unlink(key)
        append(key, at: now)
    }

    mutating func remove(_ key: Key) { unlink(key) }

    /// Takes out what was not used since `limit`, but for the keys that are in use now, which count as used at `now`.
    mutating func expire(lastUsedBefore limit: Instant, now: Instant, unless isInUse: (Key) -> Bool) -> [Key] {
        var expired: [Key] = []
        var inUse: [Key] = []
        while let key = oldest, entries[key]!.lastUse <= limit {
            unlink(key)
            if isInUse(key) { inUse.append(key) } else { expired.append(key) }
        }
        // Only now: with no idle time at all, `now` is the limit, and they would be looked at again.
        for key in inUse { append(key, at: now) }
        return expired
    }

    /// The keys from the least to the most recently used.
    var keys: [Key] {
        var keys: [Key] = []
        var next = oldest
        while let key = next {
            keys.append(key)
            next = entries[key]?.next
        }
        return keys
    }

    private mutating func append(_ key: Key, at now: Instant) {
        // Clocks read by different threads may be out of order by a little: the list must not be.
        let lastUse = newest.flatMap { entries[$0]?.lastUse }.map { max($0, now) } ?? now
        entries[key] = Entry(lastUse: lastUse, previous: newest, next: nil)
        if let newest { entries[newest]!.next = key } else { oldest = key }
        newest = key
    }

    private mutating func unlink(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        if let previous = entry.previous { entries[previous]!.next = entry.next } else { oldest = entry.next }
        if let next = entry.next { entries[next]!.previous = entry.previous } else { newest = entry.previous }
    }
}

extension MultitonCache {
    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        let keys = keys
        precondition(keys.count == entries.count, "every entry is in the list, once")
        precondition(Set(keys).count == keys.count, "the list has no loop")
        precondition(oldest == keys.first && newest == keys.last, "the ends are known")
        precondition(capacity.map { entries.count <= $0 } ?? true, "the bound is kept")
        for (first, second) in zip(keys, keys.dropFirst()) {
            precondition(entries[second]!.previous == first, "both directions agree")
            precondition(entries[first]!.lastUse <= entries[second]!.lastUse, "the list is in the order of use")
        }
    }
}
