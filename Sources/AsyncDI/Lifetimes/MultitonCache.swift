/// Which entries of a bounded multiton stay: those used last, as many as are allowed, and not longer idle than allowed.
///
/// A value over keys; uses are noted in its ``Node``s, by readers who do not have the cache. An entry's place in the
/// order is therefore looked at only when it may have to go: entries form a binary heap by the use that was last seen, and
/// a first entry that was used since moves back, until one is first that was not. Noting a use takes constant
/// time, everything else logarithmic time for each use that is seen.
struct MultitonCache<Key> {
    /// One entry, while it is in the cache and until the heap has let go of it.
    ///
    /// `@unchecked Sendable` because readers note uses only; the key belongs to the cache's owner, as the cache does.
    final class Node: Use, @unchecked Sendable {
        /// Nil once it has left: what keys hold is the user's, and must not end where the heap is tidied up.
        fileprivate(set) var key: Key?

        fileprivate init(_ key: Key, countedBy counter: Use.Counter) {
            self.key = key
            super.init(countedBy: counter)
        }

        var hasLeft: Bool { key == nil }

        /// Takes the key out: the entry leaves the cache.
        fileprivate func leave() -> Key? {
            defer { key = nil }
            return key
        }
    }

    private struct Entry {
        let node: Node
        /// The number of the use by which the entry has its place; earlier ones never come up again.
        var seen: UInt64
    }

    private let capacity: Int?
    private let counter: Use.Counter
    private var heap: [Entry] = []
    private(set) var count = 0

    /// A cache that holds as many entries as given, any number when nil, and with a stopwatch knows since when each is not used.
    init(capacity: Int?, timedBy stopwatch: Stopwatch?) {
        self.capacity = capacity
        counter = Use.Counter(timedBy: stopwatch)
    }

    var isEmpty: Bool { count == 0 }

    /// Adds an entry as the most recently used.
    ///
    /// Returns the entry, and the key that must go to make room, if one must.
    mutating func insert(_ key: Key, at now: Duration) -> (node: Node, victim: Key?) {
        var victim: Key?
        if let capacity, count >= capacity, let oldest = settledOldest() {
            victim = oldest.leave()
            count -= 1
            removeFirst()
        }
        let node = Node(key, countedBy: counter)
        node.note(at: now)
        append(Entry(node: node, seen: node.number))
        count += 1
        return (node, victim)
    }

    /// Removes an entry, unless it has gone before.
    ///
    /// Returns its key, to be released where the user's code may run.
    mutating func remove(_ node: Node) -> Key? {
        guard let key = node.leave() else { return nil }
        count -= 1
        compact()
        return key
    }

    /// When the least recently used entry was last used.
    mutating func oldestUse() -> Duration? { settledOldest()?.instant }

    /// Takes out what was not used since `limit`, but for the keys that are in use now, which count as used at `now`.
    mutating func expire(lastUsedBefore limit: Duration, now: Duration, unless isInUse: (Key) -> Bool) -> [Key] {
        var expired: [Key] = []
        var inUse: [Node] = []
        while let oldest = settledOldest(), oldest.instant <= limit, let key = oldest.key {
            removeFirst()
            if isInUse(key) {
                inUse.append(oldest)
            } else {
                _ = oldest.leave()
                count -= 1
                expired.append(key)
            }
        }
        // Only now: with no idle time at all, `now` is the limit, and they would be looked at again.
        for node in inUse {
            node.note(at: now)
            append(Entry(node: node, seen: node.number))
        }
        compact()
        return expired
    }

    // MARK: The heap

    /// The least recently used entry, at the top of the heap.
    private mutating func settledOldest() -> Node? {
        while let top = heap.first {
            if top.node.hasLeft {
                removeFirst()
                continue
            }
            let number = top.node.number
            if number == top.seen { return top.node }
            heap[0].seen = number
            siftDown()
        }
        return nil
    }

    private mutating func append(_ entry: Entry) {
        heap.append(entry)
        var index = heap.count - 1
        while index > 0, heap[index].seen < heap[(index - 1) / 2].seen {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown()
    }

    /// Those that have left stay in the heap until they come first, or are too many.
    private mutating func compact() {
        guard heap.count > 16, heap.count > count * 2 else { return }
        let remaining = heap.filter { !$0.node.hasLeft }
        heap = []
        for entry in remaining { append(entry) }
    }

    private mutating func siftDown() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].seen < heap[least].seen
            {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}

extension MultitonCache {
    /// The keys from the least to the most recently used.
    var keys: [Key] {
        heap.sorted { $0.node.number < $1.node.number }.compactMap(\.node.key)
    }

    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(heap.count { !$0.node.hasLeft } == count, "every entry is in the heap, once")
        precondition(capacity.map { count <= $0 } ?? true, "the bound is kept")
        precondition(heap.count <= max(16, count * 2), "what has left does not pile up")
        for index in heap.indices.dropFirst() {
            precondition(heap[(index - 1) / 2].seen <= heap[index].seen, "it is a heap")
        }
        precondition(
            heap.allSatisfy { $0.seen <= $0.node.number }, "a place is that of the last use, or an earlier one")
    }
}
