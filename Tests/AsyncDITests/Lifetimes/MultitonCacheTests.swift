import Testing

@testable import AsyncDI

/// The pure cache: order of use, capacity, idle time.
@Suite(.timeLimit(.minutes(10))) struct MultitonCacheTests {
    /// A cache of numbers, with what notes their uses at hand.
    private struct Cache {
        var cache: MultitonCache<Int>
        private var nodes: [Int: MultitonCache<Int>.Node] = [:]

        init(capacity: Int?) {
            cache = MultitonCache(capacity: capacity, timedBy: Stopwatch(ContinuousClock()))
        }

        /// Inserts a key that is not there, or uses it.
        mutating func insert(_ key: Int, at now: Int) -> Int? {
            if let node = nodes[key], !node.hasLeft {
                node.note(at: .seconds(now))
                return nil
            }
            let (node, victim) = cache.insert(key, at: .seconds(now))
            nodes[key] = node
            return victim
        }

        func use(_ key: Int, at now: Int) { nodes[key]?.note(at: .seconds(now)) }
        mutating func remove(_ key: Int) -> Int? { nodes[key].flatMap { cache.remove($0) } }
        mutating func expire(lastUsedBefore limit: Int, now: Int, unless isInUse: (Int) -> Bool) -> [Int] {
            cache.expire(lastUsedBefore: .seconds(limit), now: .seconds(now), unless: isInUse)
        }
    }

    @Test func `the least recently used entry makes room`() {
        var cache = Cache(capacity: 2)
        #expect(cache.insert(1, at: 0) == nil)
        #expect(cache.insert(2, at: 1) == nil)
        cache.use(1, at: 2)
        #expect(cache.insert(3, at: 3) == 2)
        #expect(cache.cache.keys == [1, 3])
        cache.cache.checkInvariants()
    }

    @Test func `a capacity of one holds the latest`() {
        var cache = Cache(capacity: 1)
        #expect(cache.insert(1, at: 0) == nil)
        #expect(cache.insert(2, at: 0) == 1)
        #expect(cache.insert(2, at: 0) == nil)
        #expect(cache.cache.keys == [2])
    }

    @Test func `what idled too long expires, unless it is in use`() {
        var cache = Cache(capacity: nil)
        for key in 0..<4 { #expect(cache.insert(key, at: key) == nil) }
        #expect(cache.expire(lastUsedBefore: 2, now: 10) { $0 == 1 } == [0, 2])
        #expect(cache.cache.keys == [3, 1])
        #expect(cache.cache.oldestUse() == .seconds(3))
        cache.cache.checkInvariants()
    }

    @Test func `without any idle time, what is in use stays and the rest goes`() {
        var cache = Cache(capacity: nil)
        for key in 0..<3 { _ = cache.insert(key, at: 5) }
        #expect(cache.expire(lastUsedBefore: 5, now: 5) { $0 == 1 } == [0, 2])
        #expect(cache.cache.keys == [1])
        cache.cache.checkInvariants()
    }

    @Test func `what is removed is not removed again, and does not pile up`() {
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

    @Test func `an instant beyond what nanoseconds can count is the last or first one`() {
        let use = Use(countedBy: Use.Counter(timedBy: Stopwatch(ContinuousClock())))
        use.note(at: .seconds(Int64.min))
        #expect(use.instant == .zero, "an instant before the container's first one counts as that")
        use.note(at: .seconds(Int64.max))
        #expect(use.instant == .nanoseconds(Int64.max))
        use.note(at: .seconds(1))
        #expect(use.instant == .nanoseconds(Int64.max), "noted later, but earlier")
    }

    @Test func `random operations agree with a list`() {
        for seed in 0..<2_000 {
            var random = SplitMix(seed: UInt64(seed))
            let capacity = Bool.random(using: &random) ? Int.random(in: 1...6, using: &random) : nil
            var cache = Cache(capacity: capacity)
            var model: [(key: Int, lastUse: Int)] = []
            var now = 0
            for _ in 0..<60 {
                now += Int.random(in: 0...2, using: &random)
                let key = Int.random(in: 0..<10, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1:
                    model.removeAll { $0.key == key }
                    model.append((key, now))
                    let victim = capacity.map { model.count > $0 } == true ? model.removeFirst().key : nil
                    #expect(cache.insert(key, at: now) == victim, "seed \(seed)")
                case 2:
                    if let index = model.firstIndex(where: { $0.key == key }) {
                        cache.use(key, at: now)
                        model.remove(at: index)
                        model.append((key, now))
                    }
                case 3:
                    #expect(cache.remove(key) == model.first { $0.key == key }?.key, "seed \(seed)")
                    model.removeAll { $0.key == key }
                default:
                    let limit = now - 3
                    let expired = model.filter { $0.lastUse <= limit && $0.key % 3 != 0 }.map(\.key)
                    let kept = model.filter { $0.lastUse <= limit && $0.key % 3 == 0 }
                    model.removeAll { $0.lastUse <= limit }
                    model += kept.map { ($0.key, now) }
                    #expect(cache.expire(lastUsedBefore: limit, now: now) { $0 % 3 == 0 } == expired, "seed \(seed)")
                }
                #expect(cache.cache.keys == model.map(\.key), "seed \(seed)")
                cache.cache.checkInvariants()
            }
        }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
