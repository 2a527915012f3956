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
                map[key] = value
                model[key] = value
                try #require(map.count == model.count && map.isEmpty == model.isEmpty, "seed \(seed)")
                try #require((0..<20).allSatisfy { map[$0] == model[$0] }, "seed \(seed)")
            }
            #expect(Dictionary(uniqueKeysWithValues: map.all.map { ($0.key, $0.value) }) == model)
        }
    }
}
