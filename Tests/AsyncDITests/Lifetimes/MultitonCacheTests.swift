import Testing

@testable import AsyncDI

/// The pure cache: order of use, capacity, idle time.
@Suite(.timeLimit(.minutes(10))) struct MultitonCacheTests {
    private typealias Cache = MultitonCache<Int, Int>

    @Test func `the least recently used entry makes room`() {
        var cache = Cache(capacity: 2)
        #expect(cache.insert(1, at: 0) == nil)
        #expect(cache.insert(2, at: 1) == nil)
        cache.use(1, at: 2)
        #expect(cache.insert(3, at: 3) == 2)
        #expect(cache.keys == [1, 3])
        cache.checkInvariants()
    }

    @Test func `a capacity of one holds the latest`() {
        var cache = Cache(capacity: 1)
        #expect(cache.insert(1, at: 0) == nil)
        #expect(cache.insert(2, at: 0) == 1)
        #expect(cache.insert(2, at: 0) == nil)
        #expect(cache.keys == [2])
    }

    @Test func `what idled too long expires, unless it is in use`() {
        var cache = Cache(capacity: nil)
        for key in 0..<4 { #expect(cache.insert(key, at: key) == nil) }
        #expect(cache.expire(lastUsedBefore: 2, now: 10) { $0 == 1 } == [0, 2])
        #expect(cache.keys == [3, 1])
        #expect(cache.oldestUse == 3)
        cache.checkInvariants()
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
                switch Int.random(in: 0..<4, using: &random) {
                case 0, 1:
                    model.removeAll { $0.key == key }
                    model.append((key, now))
                    let victim = capacity.map { model.count > $0 } == true ? model.removeFirst().key : nil
                    #expect(cache.insert(key, at: now) == victim, "seed \(seed)")
                case 2:
                    cache.use(key, at: now)
                    if let index = model.firstIndex(where: { $0.key == key }) {
                        model.remove(at: index)
                        model.append((key, now))
                    }
                default:
                    let limit = now - 3
                    let expired = model.filter { $0.lastUse <= limit && $0.key % 3 != 0 }.map(\.key)
                    let kept = model.filter { $0.lastUse <= limit && $0.key % 3 == 0 }
                    model.removeAll { $0.lastUse <= limit }
                    model += kept.map { ($0.key, now) }
                    #expect(cache.expire(lastUsedBefore: limit, now: now) { $0 % 3 == 0 } == expired, "seed \(seed)")
                }
                #expect(cache.keys == model.map(\.key), "seed \(seed)")
                cache.checkInvariants()
            }
        }
    }
}

extension MultitonCacheTests {
    @Test func `without any idle time, what is in use stays and the rest goes`() {
        var cache = MultitonCache<String, Int>(capacity: nil)
        for key in ["a", "b", "c"] { _ = cache.insert(key, at: 5) }
        #expect(cache.expire(lastUsedBefore: 5, now: 5) { $0 == "b" } == ["a", "c"])
        #expect(cache.keys == ["b"])
        cache.checkInvariants()
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
