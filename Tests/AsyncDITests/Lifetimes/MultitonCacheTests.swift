import Testing

@testable import AsyncDI

/// The pure cache: order of use, capacity, idle time.
@Suite(.timeLimit(.minutes(10))) struct MultitonCacheTests {
    /// A cache of numbers, with the nodes that note their uses.
    private struct Cache {
        var cache: MultitonCache<Int>
        private var nodes: [Int: MultitonCache<Int>.Node] = [:]

        init(capacity: Int?) {
            cache = MultitonCache(capacity: capacity, timedBy: Stopwatch(ContinuousClock()))
        }

        /// Inserts a key that is not there, or uses it.
        mutating func insert(_ key: Int, isLeased: Bool = false, at now: Int) -> [Int] {
            if let node = nodes[key], !node.hasLeft {
                node.note(at: .seconds(now))
                return []
            }
            let (node, removals) = cache.insert(key, isLeased: isLeased, at: .seconds(now))
            nodes[key] = node
            return taken(removals)
        }

        func use(_ key: Int, at now: Int) { nodes[key]?.note(at: .seconds(now)) }
        mutating func remove(_ key: Int) -> Int? { nodes[key].flatMap { cache.remove($0) } }
        func beginLease(_ key: Int) { nodes[key].map { MultitonCache.beginLease($0) } }
        mutating func endLease(_ key: Int, at now: Int) -> [Int] {
            nodes[key].map { taken(cache.endLease($0, at: .seconds(now))) } ?? []
        }
        mutating func expire(lastUsedBefore limit: Int) -> [Int] {
            taken(cache.expire(lastUsedBefore: .seconds(limit)))
        }

        /// The keys of removals, each of which comes with its own node.
        private func taken(_ removals: [MultitonCache<Int>.Victim]) -> [Int] {
            for victim in removals { #expect(victim.node === nodes[victim.key] && victim.node.hasLeft) }
            return removals.map(\.key)
        }
    }

    @Test func `the least recently used entry makes room`() {
        var cache = Cache(capacity: 2)
        #expect(cache.insert(1, at: 0) == [])
        #expect(cache.insert(2, at: 1) == [])
        cache.use(1, at: 2)
        #expect(cache.insert(3, at: 3) == [2])
        #expect(cache.cache.keys == [1, 3])
        cache.cache.checkInvariants()
    }

    @Test func `a capacity of one holds the latest`() {
        var cache = Cache(capacity: 1)
        #expect(cache.insert(1, at: 0) == [])
        #expect(cache.insert(2, at: 0) == [1])
        #expect(cache.insert(2, at: 0) == [])
        #expect(cache.cache.keys == [2])
    }

    @Test func `an entry that idled too long expires, unless it is leased`() {
        var cache = Cache(capacity: nil)
        for key in 0..<4 { #expect(cache.insert(key, at: key) == []) }
        cache.beginLease(1)
        #expect(cache.expire(lastUsedBefore: 2) == [0, 2])
        #expect(cache.cache.count == 2)
        #expect(cache.cache.oldestUse() == .seconds(3))
        cache.cache.checkInvariants()
        #expect(cache.endLease(1, at: 10) == [])
        #expect(cache.cache.keys == [3, 1])
        #expect(cache.expire(lastUsedBefore: 9) == [3])
        #expect(cache.expire(lastUsedBefore: 10) == [1])
    }

    @Test func `when all entries are leased no entry is the oldest, and none expires`() {
        var cache = Cache(capacity: nil)
        for key in 0..<3 {
            _ = cache.insert(key, at: 5)
            cache.beginLease(key)
        }
        #expect(cache.expire(lastUsedBefore: 5) == [])
        #expect(cache.cache.oldestUse() == nil)
        #expect(!cache.cache.isEmpty)
        cache.cache.checkInvariants()
    }

    @Test func `a leased entry makes no room, and the bound is kept again after its lease`() {
        var cache = Cache(capacity: 2)
        for key in 0..<4 { #expect(cache.insert(key, isLeased: true, at: key) == []) }
        #expect(cache.insert(4, at: 4) == [], "what comes last stays until the next one comes")
        cache.cache.checkInvariants()
        #expect(cache.insert(5, at: 5) == [4])
        cache.cache.checkInvariants()
        #expect(cache.endLease(2, at: 6) == [5, 2])
        cache.cache.checkInvariants()
        #expect(cache.endLease(3, at: 7) == [3])
        #expect(cache.endLease(0, at: 8) == [])
        #expect(cache.endLease(1, at: 9) == [])
        #expect(cache.cache.keys == [0, 1])
        cache.cache.checkInvariants()
    }

    @Test func `the end of a lease of a removed entry changes nothing`() {
        var cache = Cache(capacity: 1)
        _ = cache.insert(1, isLeased: true, at: 0)
        #expect(cache.remove(1) == 1)
        _ = cache.insert(2, at: 1)
        let steps = cache.cache.steps
        #expect(cache.endLease(1, at: 2) == [])
        #expect(cache.cache.steps == steps)
        #expect(cache.cache.keys == [2])
        cache.cache.checkInvariants()
    }

    @Test func `thousands of leased entries are not looked at again for each that comes, idles or is given back`() {
        let leased = 4_000
        var cache = Cache(capacity: 100)
        for key in 0..<leased { #expect(cache.insert(key, isLeased: true, at: key) == []) }
        let before = cache.cache.steps
        for key in leased..<(2 * leased) {
            #expect(cache.insert(key, at: key) == (key == leased ? [] : [key - 1]))
            #expect(cache.expire(lastUsedBefore: 0) == [])
        }
        let logarithm = 12
        #expect(cache.cache.steps - before <= leased * (logarithm + 8))
        let middle = cache.cache.steps
        for key in 0..<leased { _ = cache.endLease(key, at: 2 * leased + key) }
        #expect(cache.cache.steps - middle <= leased * (2 * logarithm + 8))
        #expect(cache.cache.count == 100)
        cache.cache.checkInvariants()
    }

    @Test func `a removed entry is not removed again, and does not pile up`() {
        var cache = Cache(capacity: nil)
        for key in 0..<1_000 { _ = cache.insert(key, at: key) }
        for key in 1..<999 {
            #expect(cache.remove(key) == key)
            #expect(cache.remove(key) == nil)
            cache.cache.checkInvariants()
        }
        #expect(cache.cache.keys == [0, 999])
        #expect(cache.cache.count == 2)
    }

    @Test func `a use that is not timed costs no look at a clock`() {
        var cache = MultitonCache<Int>(capacity: 1, timedBy: nil)
        let use = cache.insert(1, at: .seconds(7)).node
        use.note(at: .seconds(9))
        #expect(use.instant == .zero)
    }

    @Test func `an instant beyond the range of nanoseconds is the last or first one`() {
        let use = Use(countedBy: Use.Counter(timedBy: Stopwatch(ContinuousClock())))
        use.note(at: .seconds(Int64.min))
        #expect(use.instant == .zero, "an instant before the container's first one counts as that")
        use.note(at: .seconds(Int64.max))
        #expect(use.instant == .nanoseconds(Int64.max))
        use.note(at: .seconds(1))
        #expect(use.instant == .nanoseconds(Int64.max), "noted later, but earlier")
    }

    /// A model of the cache, entry by entry.
    private struct Model {
        struct Entry {
            let key: Int
            var lastUse: Int
            var isLeased: Bool
        }

        let capacity: Int?
        /// From the least to the most recently used.
        var entries: [Entry] = []

        private mutating func moveToEnd(_ index: Int, at now: Int) {
            var entry = entries.remove(at: index)
            entry.lastUse = now
            entries.append(entry)
        }

        mutating func use(_ key: Int, at now: Int) {
            if let index = entries.firstIndex(where: { $0.key == key }) { moveToEnd(index, at: now) }
        }

        private mutating func shrink(to bound: Int?) -> [Int] {
            var removals: [Int] = []
            while let bound, entries.count > bound, let index = entries.firstIndex(where: { !$0.isLeased }) {
                removals.append(entries.remove(at: index).key)
            }
            return removals
        }

        mutating func insert(_ key: Int, isLeased: Bool, at now: Int) -> [Int] {
            if let index = entries.firstIndex(where: { $0.key == key }) {
                moveToEnd(index, at: now)
                return []
            }
            let removals = shrink(to: capacity.map { $0 - 1 })
            entries.append(Entry(key: key, lastUse: now, isLeased: isLeased))
            return removals
        }

        mutating func beginLease(_ key: Int) {
            if let index = entries.firstIndex(where: { $0.key == key }) { entries[index].isLeased = true }
        }

        mutating func endLease(_ key: Int, at now: Int) -> [Int] {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return [] }
            entries[index].isLeased = false
            moveToEnd(index, at: now)
            return shrink(to: capacity)
        }

        mutating func remove(_ key: Int) -> Int? {
            entries.firstIndex { $0.key == key }.map { entries.remove(at: $0).key }
        }

        mutating func expire(lastUsedBefore limit: Int) -> [Int] {
            let expired = entries.filter { $0.lastUse <= limit && !$0.isLeased }.map(\.key)
            entries.removeAll { expired.contains($0.key) }
            return expired
        }
    }

    @Test func `random operations agree with a list`() throws {
        for seed in 0..<2_000 {
            var random = SeededRandom(seed: UInt64(seed))
            let capacity = random.chance(0.7) ? 1 + random.below(6) : nil
            var cache = Cache(capacity: capacity)
            var model = Model(capacity: capacity)
            var now = 0
            for _ in 0..<80 {
                now += random.below(3)
                let key = random.below(10)
                switch random.below(8) {
                case 0, 1, 2:
                    let isLeased = random.chance(0.3)
                    let removals = model.insert(key, isLeased: isLeased, at: now)
                    try #require(cache.insert(key, isLeased: isLeased, at: now) == removals, "seed \(seed)")
                case 3:
                    model.use(key, at: now)
                    cache.use(key, at: now)
                case 4:
                    model.beginLease(key)
                    cache.beginLease(key)
                case 5:
                    // For an instance without other leases, the end of a lease is one more use.
                    let removals = model.endLease(key, at: now)
                    try #require(cache.endLease(key, at: now) == removals, "seed \(seed)")
                case 6:
                    try #require(cache.remove(key) == model.remove(key), "seed \(seed)")
                default:
                    let expired = model.expire(lastUsedBefore: now - 3)
                    try #require(cache.expire(lastUsedBefore: now - 3) == expired, "seed \(seed)")
                }
                try #require(cache.cache.count == model.entries.count, "seed \(seed)")
                try #require(
                    cache.cache.oldestUse() == model.entries.first { !$0.isLeased }.map { .seconds($0.lastUse) },
                    "seed \(seed)")
                cache.cache.checkInvariants()
            }
        }
    }
}
