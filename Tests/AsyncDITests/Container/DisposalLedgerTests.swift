import Testing

@testable import AsyncDI

/// Pending disposals: in reverse order, exactly once.
@Suite(.timeLimit(.minutes(10))) struct DisposalLedgerTests {
    private typealias Ledger = DisposalLedger<String>

    @Test func `the newest is taken first`() {
        var ledger = Ledger()
        for item in ["a", "b", "c"] { _ = ledger.record(item) }
        #expect(ledger.count == 3)
        #expect(ledger.inOrder == ["a", "b", "c"])
        #expect(
            [ledger.takeNewest(), ledger.takeNewest(), ledger.takeNewest(), ledger.takeNewest()] == [
                "c", "b", "a", nil,
            ])
        #expect(ledger.isEmpty)
        ledger.checkInvariants()
    }

    @Test func `an entry is given out once`() {
        var ledger = Ledger()
        let id = ledger.record("a")
        #expect(ledger.take(id) == "a")
        #expect(ledger.take(id) == nil)
        #expect(ledger.takeNewest() == nil)
        #expect(ledger.take(77) == nil)
    }

    @Test func `several are taken newest first, whatever the order asked for`() {
        var ledger = Ledger()
        let ids = ["a", "b", "c", "d"].map { ledger.record($0) }
        #expect(ledger.take([ids[2], ids[0], ids[3], ids[0]]) == ["d", "c", "a"])
        #expect(ledger.inOrder == ["b"])
        #expect(ledger.take([]).isEmpty)
        ledger.checkInvariants()
    }

    @Test func `an entry recorded while others are taken comes first`() {
        var ledger = Ledger()
        _ = ledger.record("a")
        _ = ledger.record("b")
        #expect(ledger.takeNewest() == "b")
        _ = ledger.record("c")
        #expect(ledger.takeNewest() == "c")
        #expect(ledger.takeNewest() == "a")
    }

    @Test func `equal items are entries of their own`() {
        var ledger = Ledger()
        let first = ledger.record("a")
        let second = ledger.record("a")
        #expect(first != second)
        #expect(ledger.take(first) == "a")
        #expect(ledger.count == 1)
    }

    @Test func `an entry that was taken keeps no memory for ever`() {
        final class Item {}
        var ledger = DisposalLedger<Item>()
        weak var item: Item?
        do {
            let new = Item()
            item = new
            let id = ledger.record(new)
            #expect(ledger.take(id) === new)
        }
        #expect(item == nil)
    }

    @Test func `random operations agree with a list`() throws {
        for seed in 0..<600 {
            var random = SeededRandom(seed: UInt64(seed))
            var ledger = DisposalLedger<Int>()
            var model: [(id: Int, item: Int)] = []
            var ids: [Int] = []
            // Long runs of recordings and takings alternate, so that the list is tidied up.
            for item in 0..<150 {
                switch random.below(item / 40 % 2 == 0 ? 4 : 12) {
                case 0..<3:
                    let id = ledger.record(item)
                    try #require(!ids.contains(id), "seed \(seed)")
                    ids.append(id)
                    model.append((id, item))
                case 3..<9:
                    let id = ids.randomElement(using: &random) ?? 5
                    let index = model.firstIndex { $0.id == id }
                    try #require(ledger.take(id) == index.map { model.remove(at: $0).item }, "seed \(seed)")
                case 9:
                    try #require(ledger.takeNewest() == model.popLast()?.item, "seed \(seed)")
                default:
                    let some = (0..<random.below(5)).compactMap { _ in ids.randomElement(using: &random) }
                    let expected = model.filter { some.contains($0.id) }.map(\.item)
                    model.removeAll { some.contains($0.id) }
                    try #require(ledger.take(some) == expected.reversed(), "seed \(seed)")
                }
                ledger.checkInvariants()
                try #require(ledger.inOrder == model.map(\.item), "seed \(seed)")
                try #require(ledger.count == model.count && ledger.isEmpty == model.isEmpty, "seed \(seed)")
            }
        }
    }
}
