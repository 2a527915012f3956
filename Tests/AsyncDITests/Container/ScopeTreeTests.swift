import Testing

@testable import AsyncDI

/// Open scopes by key, in the order in which they were opened.
@Suite(.timeLimit(.minutes(10))) struct ScopeTreeTests {
    private typealias Tree = ScopeTree<String>

    @Test func `an open scope is found by its key`() {
        var tree = Tree()
        #expect(tree.isEmpty)
        #expect(tree.scope("k") == nil)
        let id = tree.open("a", key: "k")
        #expect(tree.scope("k") == "a")
        #expect(tree.count == 1)
        tree.checkInvariants()
        #expect(tree.remove(id) == "a")
        #expect(tree.scope("k") == nil)
        #expect(tree.isEmpty)
        tree.checkInvariants()
    }

    @Test func `a scope without a key is found by no key, and listed like any other`() {
        var tree = Tree()
        _ = tree.open("a", key: nil)
        #expect(tree.newestFirst == ["a"])
        #expect(tree.scope(AnyKey(String?.none)) == nil)
        tree.checkInvariants()
    }

    @Test func `keys of different types are different keys`() {
        var tree = Tree()
        _ = tree.open("number", key: 1)
        _ = tree.open("text", key: "1")
        #expect(tree.scope(1) == "number")
        #expect(tree.scope("1") == "text")
        #expect(tree.scope(2) == nil)
        // As `AnyHashable`, these are equal to the first one.
        _ = tree.open("fraction", key: AnyKey(1.0))
        _ = tree.open("small", key: AnyKey(UInt8(1)))
        #expect(tree.scope(1) == "number")
        #expect(tree.scope(AnyKey(1.0)) == "fraction")
        #expect(tree.scope(AnyKey(UInt8(1))) == "small")
        #expect(tree.scope(AnyKey(Float(1))) == nil)
        tree.checkInvariants()
    }

    @Test func `a key is free from the moment its scope begins to close`() {
        var tree = Tree()
        let old = tree.open("old", key: "k")
        tree.beginClosing(old)
        #expect(tree.scope("k") == nil)
        #expect(tree.newestFirst == ["old"], "it is not closed yet")
        let new = tree.open("new", key: "k")
        tree.beginClosing(old)
        #expect(tree.scope("k") == "new", "a second beginning touches nobody else's key")
        #expect(tree.remove(old) == "old")
        #expect(tree.scope("k") == "new")
        #expect(tree.remove(old) == nil)
        tree.checkInvariants()
        #expect(tree.remove(new) == "new")
        #expect(tree.isEmpty)
    }

    @Test func `the latest scope is closed first`() {
        var tree = Tree()
        let ids = ["a", "b", "c", "d"].map { tree.open($0, key: $0 == "b" ? nil : AnyKey($0)) }
        #expect(tree.newestFirst == ["d", "c", "b", "a"])
        _ = tree.remove(ids[2])
        #expect(tree.newestFirst == ["d", "b", "a"])
    }

    @Test func `random operations agree with a list`() throws {
        struct Scope {
            let id: ScopeTree<Int>.ID
            let scope: Int
            var key: Int?
        }
        var other = ScopeTree<Int>()
        for scope in 0..<99 { _ = other.open(scope, key: nil) }
        let strangeID = other.open(99, key: nil)
        for seed in 0..<1_000 {
            var random = SeededRandom(seed: UInt64(seed))
            var tree = ScopeTree<Int>()
            var model: [Scope] = []
            // An ID of another tree, which is meaningless here.
            var ids = [strangeID]
            for scope in 0..<60 {
                switch random.below(5) {
                case 0..<2:
                    let key = random.chance(0.8) ? random.below(6) : nil
                    if let key, model.contains(where: { $0.key == key }) { continue }
                    let id = tree.open(scope, key: key.map { AnyKey($0) })
                    try #require(!ids.contains(id), "seed \(seed)")
                    ids.append(id)
                    model.append(Scope(id: id, scope: scope, key: key))
                case 2:
                    let id = random.pick(ids)
                    tree.beginClosing(id)
                    if let index = model.firstIndex(where: { $0.id == id }) { model[index].key = nil }
                default:
                    let id = random.pick(ids)
                    let expected = model.first { $0.id == id }?.scope
                    model.removeAll { $0.id == id }
                    try #require(tree.remove(id) == expected, "seed \(seed)")
                }
                tree.checkInvariants()
                try #require(tree.newestFirst == model.reversed().map(\.scope), "seed \(seed)")
                try #require(tree.count == model.count && tree.isEmpty == model.isEmpty, "seed \(seed)")
                for key in 0..<6 {
                    try #require(tree.scope(AnyKey(key)) == model.first { $0.key == key }?.scope, "seed \(seed)")
                }
            }
        }
    }
}
