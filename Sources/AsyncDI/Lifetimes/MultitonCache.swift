/// Decides which entries of a bounded multiton stay: the most recently used ones, within the capacity and the idle
/// time.
///
/// A value over keys; readers note uses in its ``Node``s, without the cache. The cache therefore checks an entry's
/// place in the order only when the entry may have to go. Entries form a binary heap by the last use seen; a first
/// entry that was used since moves back, until the first one was not. Noting a use takes constant time, and everything
/// else logarithmic time for each use seen.
///
/// Leased entries stay, whatever the bounds say. A leased entry that comes first leaves the heap, and returns when its
/// last lease ends: each leased entry is visited once for each of its leases.
struct MultitonCache<Key> {
    /// One entry, from its insertion until the heap has released it.
    ///
    /// `@unchecked Sendable` because readers note uses only; the rest belongs to the cache's owner, as the cache does.
    final class Node: Use, @unchecked Sendable {
        /// Nil once the entry has left: a key holds user values, which must not be released during a repair of the
        /// heap.
        fileprivate(set) var key: Key?
        fileprivate(set) var isLeased: Bool
        /// Whether the heap has the entry: always, unless it is leased or has left.
        fileprivate var isInHeap = true

        fileprivate init(_ key: Key, isLeased: Bool, countedBy counter: Use.Counter) {
            self.key = key
            self.isLeased = isLeased
            super.init(countedBy: counter)
        }

        var hasLeft: Bool { key == nil }

        /// Removes the key: the entry leaves the cache.
        fileprivate func leave() -> Key? { key.take() }
    }

    private struct Entry {
        let node: Node
        /// The number of the use that determines the entry's place; earlier uses never count again.
        var seen: UInt64
    }

    private let capacity: Int?
    private let counter: Use.Counter
    private var heap: [Entry] = []
    private(set) var count = 0
    /// The number of places of the heap visited so far, for tests of an operation's cost.
    private(set) var steps = 0

    /// Creates a cache for a number of entries, any number when nil; a stopwatch adds the time of each use.
    init(capacity: Int?, timedBy stopwatch: Stopwatch?) {
        self.capacity = capacity
        counter = Use.Counter(timedBy: stopwatch)
    }

    var isEmpty: Bool { count == 0 }

    /// Adds an entry as the most recently used.
    ///
    /// Returns the entry, and the entries evicted to make room. When everything is leased, the cache exceeds its bound.
    mutating func insert(_ key: Key, isLeased: Bool = false, at now: Duration) -> (node: Node, removals: [Victim]) {
        let removals = shrink(to: capacity.map { $0 - 1 })
        let node = Node(key, isLeased: isLeased, countedBy: counter)
        node.note(at: now)
        append(node)
        count += 1
        return (node, removals)
    }

    /// An evicted entry: its node finds the entry's data without comparing keys.
    typealias Victim = (key: Key, node: Node)

    /// Notes a lease: the entry stays until ``endLease(_:at:)``.
    static func beginLease(_ node: Node) { node.isLeased = true }

    /// Notes the end of an instance's last lease, which counts as a use.
    ///
    /// Returns the evicted entries, if leases had made the cache exceed its bound.
    mutating func endLease(_ node: Node, at now: Duration) -> [Victim] {
        guard !node.hasLeft else { return [] }
        node.note(at: now)
        node.isLeased = false
        if !node.isInHeap { append(node) }
        return shrink(to: capacity)
    }

    /// Evicts the least recently used entries until `bound` are left, or all of them are leased.
    private mutating func shrink(to bound: Int?) -> [Victim] {
        guard let bound else { return [] }
        var removals: [Victim] = []
        while count > bound, let victim = takeOldest() { removals.append(victim) }
        compact()
        return removals
    }

    /// Evicts the least recently used entry, unless all are leased.
    private mutating func takeOldest() -> Victim? {
        guard let oldest = settledOldest(), let key = oldest.leave() else { return nil }
        count -= 1
        removeFirst()
        return (key, oldest)
    }

    /// Removes an entry, unless it has gone before.
    ///
    /// Returns its key, to be released where user code may run.
    mutating func remove(_ node: Node) -> Key? {
        guard let key = node.leave() else { return nil }
        count -= 1
        compact()
        return key
    }

    /// The time of the least recently used entry's last use, nil when all are leased.
    mutating func oldestUse() -> Duration? { settledOldest()?.instant }

    /// Evicts the entries without a use since `limit`.
    mutating func expire(lastUsedBefore limit: Duration) -> [Victim] {
        var expired: [Victim] = []
        while let oldest = settledOldest(), oldest.instant <= limit, let victim = takeOldest() {
            expired.append(victim)
        }
        compact()
        return expired
    }

    // MARK: The heap

    /// The least recently used entry that is not leased, at the top of the heap.
    private mutating func settledOldest() -> Node? {
        while let top = heap.first {
            steps += 1
            if top.node.hasLeft || top.node.isLeased {
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

    private mutating func append(_ node: Node) {
        node.isInHeap = true
        heap.append(Entry(node: node, seen: node.number))
        var index = heap.count - 1
        while index > 0, heap[index].seen < heap[(index - 1) / 2].seen {
            steps += 1
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast().node.isInHeap = false
        siftDown()
    }

    /// Entries that have left stay in the heap until they come first, or are too many.
    private mutating func compact() {
        guard heap.count > 16, heap.count > count * 2 else { return }
        steps += heap.count
        let remaining = heap.map(\.node).filter { !$0.hasLeft }
        heap = []
        for node in remaining { append(node) }
    }

    private mutating func siftDown() {
        var index = 0
        while true {
            steps += 1
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
    /// The keys from the least to the most recently used; without leased ones that have left the heap.
    var keys: [Key] {
        heap.sorted { $0.node.number < $1.node.number }.compactMap(\.node.key)
    }

    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        let living = heap.filter { !$0.node.hasLeft }
        precondition(living.count <= count, "every entry in the heap is counted")
        precondition(heap.allSatisfy(\.node.isInHeap), "entries know that they are in the heap")
        precondition(Set(heap.map { ObjectIdentifier($0.node) }).count == heap.count, "an entry is in the heap once")
        // One more than the capacity, because the newest instance is not evicted before a caller gets it.
        let unleased = living.count { !$0.node.isLeased }
        precondition(capacity.map { count <= $0 || unleased <= 1 } ?? true, "the bound is kept, but for what is leased")
        precondition(heap.count <= max(16, count * 2), "what has left does not pile up")
        for index in heap.indices.dropFirst() {
            precondition(heap[(index - 1) / 2].seen <= heap[index].seen, "it is a heap")
        }
        precondition(
            heap.allSatisfy { $0.seen <= $0.node.number }, "a place is that of the last use, or an earlier one")
    }
}
