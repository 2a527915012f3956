import Testing

@testable import AsyncDI

/// A dictionary whose first entries are looked through.
@Suite(.timeLimit(.minutes(10))) struct SmallMapTests {
    @Test func `random changes agree with a dictionary`() throws {
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(seed))
            var map = SmallMap<Int, Int>()
            var model: [Int: Int] = [:]
            // More keys than are looked through, so that both parts are used.
            for step in 0..<200 {
                let key = random.below(20)
                let value = random.chance(0.6) ? step : nil
                if random.chance(0.2) {
                    let taken = map.take(key)
                    try #require(taken?.value == model.removeValue(forKey: key), "seed \(seed)")
                    try #require(taken.map { $0.key == key } ?? true, "seed \(seed)")
                } else {
                    map[key] = value
                    model[key] = value
                }
                try #require(map.count == model.count && map.isEmpty == model.isEmpty, "seed \(seed)")
                try #require((0..<20).allSatisfy { map[$0] == model[$0] }, "seed \(seed)")
            }
            #expect(Dictionary(uniqueKeysWithValues: map.all.map { ($0.key, $0.value) }) == model)
        }
    }

    /// Equal to others, although it is another object.
    private final class Number: Hashable {
        let value: Int
        init(_ value: Int) { self.value = value }
        static func == (one: Number, other: Number) -> Bool { one.value == other.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }

    @Test func `a taken value comes with its own key, not with the equal one that it was found by`() {
        var map = SmallMap<Number, Int>()
        let keys = (0..<12).map(Number.init)
        for key in keys { map[key] = key.value }
        for key in keys { #expect(map.take(Number(key.value))?.key === key) }
        #expect(map.isEmpty && map.take(Number(3)) == nil)
    }
}
