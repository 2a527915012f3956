import Testing

@testable import AsyncDI

/// Every value has the same hash: only equality distinguishes them.
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
    ArgumentKey(Arguments(repeat each values))
}

private func computed<Key: Hashable & Sendable>(_ key: Key) -> ArgumentKey {
    ArgumentKey(ComputedKey(value: key))
}

private func pack<each Argument: Sendable>(_ values: repeat each Argument) -> ArgumentPack {
    Arguments(repeat each values)
}

/// Erased arguments: the keys of instances, which distinguish a cycle from a recursion.
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

    @Test func `an optional argument has another type than its wrapped value`() {
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

    private struct AnyHashableBox: Hashable, @unchecked Sendable {  // Unchecked: it holds a `Sendable` value here.
        let value: AnyHashable
        init(_ value: some Hashable & Sendable) { self.value = value }
    }

    @Test func `each of twelve arguments counts`() {
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
        #expect(computed(Int??.some(nil)) != computed(Int??.none))
        #expect(computed(0.0) == computed(-0.0))
        #expect(computed("\u{e9}") == computed("e\u{301}"))
        #expect(computed(Double.nan) != computed(Double.nan))
        #expect(computed(SubNumbered(1) as Numbered) == computed(Numbered(1)))
        #expect(computed(Set([[1], [2]])) == computed(Set([[2], [1]])))
    }

    @Test func `a key holds the pack of its request`() {
        let pack = Arguments(1, "a")
        #expect(ArgumentKey(pack).value?.base as? Arguments<Int, String> === pack)
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
    }

    @Test func `an argument with a hashValue of its own has the hash of its type's hash(into:)`() {
        let argument = HashedByValue(number: 7)
        #expect(key(argument) == key(argument))
        #expect(key(argument).hash != UInt32(truncatingIfNeeded: hashOfArguments(argument)))
        #expect(key(argument, "x").hash == UInt32(truncatingIfNeeded: hashOfArguments(argument, "x")))
    }

    @Test func `an argument with a hashValue of its own has one instance`() async throws {
        let container = Container {
            Registration(Animal.self, lifetime: .multiton) { (_, _: HashedByValue) in Animal() }
        }
        let first = try await container.resolve(Animal.self, arguments: HashedByValue(number: 7))
        #expect(try await container.resolve(Animal.self, arguments: HashedByValue(number: 7)) === first)
        #expect(try await container.resolve(Animal.self, arguments: HashedByValue(number: 8)) !== first)
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
            try #require(packs[0].likeness(to: packs[1]) == (first == second ? .same : .different), "seed \(seed)")
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
        #expect(pack(1, "a").likeness(to: pack(1, "a")) == .same)
        #expect(pack(1, "a").likeness(to: pack(2, "a")) == .different)
        #expect(pack(1, "a").likeness(to: pack(1, "b")) == .different)
        #expect(pack(1).likeness(to: pack(1, 1)) == .different)
        #expect(pack(1).likeness(to: pack(Optional<Int>.some(1))) == .different)
        #expect(pack(Optional<Int>.some(1)).likeness(to: pack(1)) == .different)
        #expect(pack(1).likeness(to: .none) == .different)
        #expect(ArgumentPack.none.likeness(to: pack(1)) == .different)
        #expect(ArgumentPack.none.likeness(to: .none) == .same)
        #expect(pack(Clash(number: 1)).likeness(to: pack(Clash(number: 1))) == .same)
        #expect(pack(Clash(number: 1)).likeness(to: pack(Clash(number: 2))) == .different)
    }

    @Test func `packs with optional arguments are equal when their values are`() {
        #expect(pack(Optional<Int>.none).likeness(to: pack(Optional<Int>.none)) == .same)
        #expect(pack(Optional<Int>.some(1)).likeness(to: pack(Optional<Int>.some(1))) == .same)
        #expect(pack(Optional<Int>.some(1)).likeness(to: pack(Optional<Int>.some(2))) == .different)
        #expect(pack(Optional<Int>.some(1)).likeness(to: pack(Optional<Int>.none)) == .different)
        #expect(pack(Optional<Int>.none).likeness(to: pack(Optional<Int>.some(1))) == .different)
        #expect(pack(Optional<Int?>.some(.none)).likeness(to: pack(Optional<Int?>.none)) == .different)
        #expect(pack(Optional<Int?>.none).likeness(to: pack(Optional<Int?>.some(.none))) == .different)
        #expect(pack([Optional<Int>.none]).likeness(to: pack([Optional<Int>.some(1)])) == .different)
    }

    /// Cannot be compared, and has padding between its parts.
    private struct Opaque: Sendable {
        let flag: Bool
        let number: Int
        let animal: Animal
    }
    private enum Choice: Sendable {
        case nothing
        case one(Opaque)
        case other(Opaque)
    }

    @Test func `an object that cannot be compared is the same as itself only`() {
        let animal = Animal()
        #expect(pack(animal).likeness(to: pack(animal)) == .same)
        #expect(pack(animal).likeness(to: pack(Animal())) == .different)
        #expect(pack(animal).likeness(to: pack(Dog())) == .different)
        #expect(pack(animal).identityHash == pack(animal).identityHash)
        #expect(pack(Numbered(1)).likeness(to: pack(Numbered(1))) == .same)
        #expect(pack(Numbered(1)).likeness(to: pack(Numbered(2))) == .different)
    }

    @Test func `a value that cannot be compared is the same as one of the same parts`() {
        let animal = Animal()
        func opaque(_ number: Int) -> Opaque { Opaque(flag: true, number: number, animal: animal) }
        #expect(pack(opaque(1)).likeness(to: pack(opaque(1))) == .same)
        #expect(pack(opaque(1)).likeness(to: pack(opaque(2))) == .different)
        #expect(pack(opaque(1)).likeness(to: pack(Opaque(flag: true, number: 1, animal: Animal()))) == .different)
        #expect(pack(Optional(opaque(1))).likeness(to: pack(Optional(opaque(1)))) == .same)
        #expect(pack(Optional(opaque(1))).likeness(to: pack(Opaque?.none)) == .different)
        #expect(pack(Opaque?.none).likeness(to: pack(Opaque?.none)) == .same)
        #expect(pack(Choice.one(opaque(1))).likeness(to: pack(Choice.one(opaque(1)))) == .same)
        #expect(pack(Choice.one(opaque(1))).likeness(to: pack(Choice.other(opaque(1)))) == .different)
        #expect(pack(Choice.one(opaque(1))).likeness(to: pack(Choice.nothing)) == .different)
        #expect(pack(Choice.nothing).likeness(to: pack(Choice.nothing)) == .same)
        for argument in [opaque(1), opaque(2)] {
            #expect(pack(argument).identityHash == pack(argument).identityHash)
            #expect(pack(Choice.one(argument)).identityHash == pack(Choice.one(argument)).identityHash)
        }
        #expect(pack(opaque(1)).identityHash != pack(opaque(2)).identityHash)
    }

    @Test func `a value that is not equal to itself is the same as one of the same bits`() {
        #expect(pack(Double.nan).likeness(to: pack(Double.nan)) == .same)
        #expect(pack(Double.nan).likeness(to: pack(1.0)) == .different)
        #expect(pack(Double.nan).identityHash == pack(Double.nan).identityHash)
    }

    @Test func `metatypes are told apart`() {
        #expect(pack(Int.self as any Any.Type).likeness(to: pack(Int.self as any Any.Type)) == .same)
        #expect(pack(Int.self as any Any.Type).likeness(to: pack(String.self as any Any.Type)) == .different)
    }

    @Test func `the likeness of functions is unknown`() {
        let first: @Sendable () -> Int = { 1 }
        let second: @Sendable () -> Int = { 2 }
        #expect(pack(first).likeness(to: pack(second)) == .unknown)
        #expect(pack(first, 1).likeness(to: pack(second, 2)) == .different)
        #expect(pack(1, first).likeness(to: pack(1, second)) == .unknown)
        #expect(pack(first).identityHash == pack(second).identityHash)
        #expect(pack(Optional(first)).likeness(to: pack(Optional(second))) == .unknown)
    }

    @Test func `a long list is not looked through to its end`() {
        indirect enum List: Sendable {
            case end(Animal)
            case item(Animal, List)
        }
        var list = List.end(Animal())
        for _ in 0..<20_000 { list = .item(Animal(), list) }
        #expect(pack(list).likeness(to: pack(list)) == .same)
        guard case .item(_, let rest) = list else { return }
        #expect(pack(list).likeness(to: pack(rest)) == .different)
        _ = pack(list).identityHash
        // Released one by one: the list itself would be by calls one inside the other.
        while case .item(_, let rest) = list { list = rest }
    }
}
