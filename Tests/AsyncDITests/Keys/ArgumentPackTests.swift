import Testing

@testable import AsyncDI

/// Every value has the same hash: only equality tells them apart.
private struct Clash: Hashable, Sendable {
    let number: Int
    func hash(into hasher: inout Hasher) {}
}

private enum Tree: Hashable, Sendable {
    case leaf(Int)
    indirect case node(Tree, Tree)
}

private struct Pair<First: Hashable & Sendable, Second: Hashable & Sendable>: Hashable, Sendable {
    let first: First
    let second: Second
}

private class Animal: @unchecked Sendable {}
private final class Dog: Animal, @unchecked Sendable {}

/// An object that is equal by number, whatever its class.
private class Numbered: Hashable, @unchecked Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
    static func == (first: Numbered, second: Numbered) -> Bool { first.number == second.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
private final class SubNumbered: Numbered, @unchecked Sendable {}

private func key<each Argument: Hashable & Sendable>(_ values: repeat each Argument) -> ArgumentKey {
    ArgumentKey(Arguments(repeat each values), comparedBy: ComparedArguments<repeat each Argument>.self)
}

private func computed<Key: Hashable & Sendable>(_ key: Key) -> ArgumentKey {
    ArgumentKey(Arguments(key), comparedBy: ComputedKey<Key>.self)
}

private func pack<each Argument: Sendable>(_ values: repeat each Argument) -> ArgumentPack {
    Arguments(repeat each values)
}

/// Erased arguments: what instances are found by, and what tells a cycle from a recursion.
@Suite(.timeLimit(.minutes(10))) struct ArgumentPackTests {
    // MARK: Keys of instances

    @Test func `equal arguments have equal keys and hashes`() {
        #expect(key(1) == key(1))
        #expect(key("a", 1) == key("a", 1))
        #expect(key("a", 1).hashValue == key("a", 1).hashValue)
        #expect(key(Clash(number: 1)) == key(Clash(number: 1)))
        #expect(key() == key())
        #expect(ArgumentKey.none == .none)
    }

    @Test func `arguments that differ anywhere have different keys`() {
        #expect(key(1) != key(2))
        #expect(key(1, 2) != key(2, 1))
        #expect(key("a", 1, true) != key("a", 1, false))
        #expect(key("a", 1, true) != key("a", 2, true))
        #expect(key("a", 1, true) != key("b", 1, true))
    }

    @Test func `equality decides, never the hash`() {
        let keys = (0..<100).map { key(Clash(number: $0)) }
        #expect(Set(keys.map(\.hashValue)).count == 1, "all have the same hash")
        #expect(Set(keys).count == 100)
        let pairs = (0..<10).flatMap { first in
            (0..<10).map { key(Clash(number: first), Clash(number: $0)) }
        }
        #expect(Set(pairs).count == 100)
    }

    @Test func `the number of arguments and their grouping count`() {
        #expect(key(1) != key(1, 1))
        #expect(key() != key(1))
        #expect(key() != .none)
        #expect(key("ab", "c") != key("a", "bc"))
        #expect(key(Pair(first: 1, second: 2)) != key(1, 2))
        #expect(key([1], [2, 3]) != key([1, 2], [3]))
    }

    @Test func `an optional argument is another type than what it wraps`() {
        #expect(key(1) != key(Optional<Int>.some(1)))
        #expect(key(Optional<Int>.some(1)) != key(Optional<Int?>.some(.some(1))))
        #expect(key(Optional<Int>.none) != key(Optional<Int?>.none))
        #expect(key(Optional<Int>.none) != key(Optional<String>.none))
        #expect(key(Optional<Int>.none) != key(Optional<Int>.some(0)))
        #expect(key(Optional<Int?>.some(.none)) != key(Optional<Int?>.none))
        #expect(key(Optional<Int>.some(1)) == key(Optional<Int>.some(1)))
        #expect(key(Optional<Int>.none) == key(Optional<Int>.none))
    }

    @Test func `a type that AnyHashable takes for another one is not that one`() {
        // AnyHashable(1) == AnyHashable(1.0), and so on: but packs compare the arguments' own types.
        #expect(key(1) != key(1.0))
        #expect(key(1 as Int) != key(1 as UInt8))
        #expect(key("a") != key("a" as Character))
        #expect(key([1]) != key([1.0]))
        #expect(key("a") != key("a" as Substring))
    }

    @Test func `nested and generic arguments are compared by their values`() {
        #expect(key(Tree.node(.leaf(1), .leaf(2))) == key(Tree.node(.leaf(1), .leaf(2))))
        #expect(key(Tree.node(.leaf(1), .leaf(2))) != key(Tree.node(.leaf(2), .leaf(1))))
        #expect(key(Pair(first: "a", second: [1: [2]])) == key(Pair(first: "a", second: [1: [2]])))
        #expect(key(Pair(first: "a", second: 1)) != key(Pair(first: "a", second: 1 as Int8)))
        #expect(key(["a": [1, 2]], Set([1, 2])) == key(["a": [1, 2]], Set([2, 1])))
        #expect(key(AnyHashableBox("a")) != key(AnyHashableBox(1)))
    }

    private struct AnyHashableBox: Hashable, @unchecked Sendable {  // Unchecked because it holds what is Sendable here.
        let value: AnyHashable
        init(_ value: some Hashable & Sendable) { self.value = value }
    }

    @Test func `twelve arguments, each of which counts`() {
        func twelve(_ changed: Int?) -> ArgumentKey {
            func value(_ index: Int) -> Int { index == changed ? -1 : index }
            return key(
                value(0), "\(value(1))", [value(2)], Double(value(3)), Optional<Int>.some(value(4)),
                Tree.leaf(value(5)),
                Clash(number: value(6)), Pair(first: value(7), second: "x"), value(8) > 0,
                Character("\(abs(value(9)))"),
                Int8(value(10)), Set([value(11)]))
        }
        #expect(twelve(nil) == twelve(nil))
        #expect(twelve(nil).hashValue == twelve(nil).hashValue)
        var keys: Set<ArgumentKey> = [twelve(nil)]
        for index in 0..<12 { keys.insert(twelve(index)) }
        #expect(keys.count == 13)
        let types = type(of: Arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "12") as ArgumentPack).types
        #expect(types.count == 12)
        #expect(types.last == String.self)
    }

    @Test func `objects are compared as they say`() {
        let dog = Numbered(1)
        #expect(key(dog) == key(Numbered(1)))
        #expect(key(dog) != key(Numbered(2)))
        #expect(key(SubNumbered(1) as Numbered) == key(Numbered(1)))
    }

    @Test func `arguments that are not equal to themselves have keys that are not either`() {
        let nan = key(Double.nan)
        #expect(nan != nan)
        #expect(key(1.0, Double.nan) != key(1.0, Double.nan))
        #expect(key(0.0) == key(-0.0))
    }

    @Test func `a computed key is compared by its value`() {
        #expect(computed("a") == computed("a"))
        #expect(computed("a") != computed("b"))
        #expect(computed(Clash(number: 1)) != computed(Clash(number: 2)))
        #expect(computed(1) != key(1))
    }

    @Test func `a key has the hash by which readers look for its arguments`() {
        func expect<First: Hashable & Sendable>(_ first: First) {
            #expect(key(first).hash == UInt32(truncatingIfNeeded: hashOfArguments(first)))
            #expect(key(first, "x").hash == UInt32(truncatingIfNeeded: hashOfArguments(first, "x")))
            #expect(key("x", first).hash == UInt32(truncatingIfNeeded: hashOfArguments("x", first)))
        }
        expect(1)
        expect("a")
        expect(Optional<String>.none)
        expect([1: ["a"]])
        expect(1.5)
        expect(UInt8(1))
        expect(Clash(number: 1))
        expect(Numbered(1))
        expect(AnyHashableBox(1))
        expect(HashedByValue(number: 7))
    }

    /// Says its hash in the old way, and another one in the new way.
    private struct HashedByValue: Hashable, Sendable {
        let number: Int
        var hashValue: Int { number }
        func hash(into hasher: inout Hasher) { hasher.combine(-number) }
    }

    @Test func `random packs agree with arrays of their values`() throws {
        for seed in 0..<2_000 {
            var random = SeededRandom(seed: UInt64(seed))
            func values() -> [Int] { (0..<3).map { _ in random.below(3) } }
            let (first, second) = (values(), values())
            let keys = [first, second].map { key($0[0], Clash(number: $0[1]), "\($0[2])") }
            try #require((keys[0] == keys[1]) == (first == second), "seed \(seed)")
            if first == second { try #require(keys[0].hashValue == keys[1].hashValue, "seed \(seed)") }
            let packs = [first, second].map { pack($0[0], Clash(number: $0[1]), "\($0[2])") }
            try #require(packs[0].isEqual(to: packs[1]) == (first == second), "seed \(seed)")
        }
    }

    // MARK: Packs

    @Test func `a pack knows its types and gives its values back`() {
        let erased = pack(1, "a", Optional<Int>.none)
        let types = type(of: erased).types
        #expect(types.map { ObjectIdentifier($0) } == [Int.self, String.self, Int?.self].map { ObjectIdentifier($0) })
        let typed = Arguments<Int, String, Int?>.of(erased)
        #expect(typed === erased)
        #expect(typed.values == (1, "a", nil))
        #expect(type(of: ArgumentPack.none).types.isEmpty)
    }

    @Test func `packs are equal when types and values are`() {
        #expect(pack(1, "a").isEqual(to: pack(1, "a")))
        #expect(!pack(1, "a").isEqual(to: pack(2, "a")))
        #expect(!pack(1, "a").isEqual(to: pack(1, "b")))
        #expect(!pack(1).isEqual(to: pack(1, 1)))
        #expect(!pack(1).isEqual(to: pack(Optional<Int>.some(1))))
        #expect(!pack(Optional<Int>.some(1)).isEqual(to: pack(1)))
        #expect(!pack(1).isEqual(to: .none))
        #expect(!ArgumentPack.none.isEqual(to: pack(1)))
        #expect(ArgumentPack.none.isEqual(to: .none))
        #expect(pack(Clash(number: 1)).isEqual(to: pack(Clash(number: 1))))
        #expect(!pack(Clash(number: 1)).isEqual(to: pack(Clash(number: 2))))
    }

    @Test func `packs with optional arguments are equal when their values are`() {
        #expect(pack(Optional<Int>.none).isEqual(to: pack(Optional<Int>.none)))
        #expect(pack(Optional<Int>.some(1)).isEqual(to: pack(Optional<Int>.some(1))))
        #expect(!pack(Optional<Int>.some(1)).isEqual(to: pack(Optional<Int>.some(2))))
        #expect(!pack(Optional<Int>.some(1)).isEqual(to: pack(Optional<Int>.none)))
        #expect(!pack(Optional<Int>.none).isEqual(to: pack(Optional<Int>.some(1))))
        #expect(!pack(Optional<Int?>.some(.none)).isEqual(to: pack(Optional<Int?>.none)))
        #expect(!pack(Optional<Int?>.none).isEqual(to: pack(Optional<Int?>.some(.none))))
        #expect(!pack([Optional<Int>.none]).isEqual(to: pack([Optional<Int>.some(1)])))
    }

    @Test func `what cannot be compared counts as equal`() {
        let first: @Sendable () -> Int = { 1 }
        let second: @Sendable () -> Int = { 2 }
        #expect(pack(first).isEqual(to: pack(second)))
        #expect(!pack(first, 1).isEqual(to: pack(second, 2)))
        #expect(pack(Animal()).isEqual(to: pack(Animal())))
        #expect(!pack(Animal()).isEqual(to: pack(Dog())), "types that differ are known to")
    }
}
