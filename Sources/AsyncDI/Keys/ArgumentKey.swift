/// How the packs of one registration are told apart.
///
/// A type and never an instance, so that a registration names one without an allocation.
@usableFromInline class ArgumentComparison {
    class func hash(of pack: ArgumentPack) -> Int { 0 }
    /// Whether both hold the same; they are of the type that this is about.
    class func areEqual(_ first: ArgumentPack, _ second: ArgumentPack) -> Bool { false }
    /// What the pack holds, where `keyedBy:` computed it.
    class func computedKey(in pack: ArgumentPack) -> Any? { nil }
}

/// Every argument counts.
@usableFromInline final class ComparedArguments<each Argument: Hashable & Sendable>: ArgumentComparison {
    override class func hash(of pack: ArgumentPack) -> Int {
        let values = Arguments<repeat each Argument>.of(pack).values
        // One or two are hashed as readers hash them, who know them by their own types.
        if type(of: pack).count == 1 {
            for value in repeat each values { return hashOfArguments(value) }
        }
        var hasher = Hasher()
        for value in repeat each values { hasher.combine(value) }
        return hasher.finalize()
    }

    override class func areEqual(_ first: ArgumentPack, _ second: ArgumentPack) -> Bool {
        let first = Arguments<repeat each Argument>.of(first)
        let second = Arguments<repeat each Argument>.of(second)
        for (first, second) in repeat (each first.values, each second.values) {
            if first != second { return false }
        }
        return true
    }
}

/// What `keyedBy:` made of the arguments decides, held as a pack of its own.
final class ComputedKey<Key: Hashable & Sendable>: ArgumentComparison {
    override class func hash(of pack: ArgumentPack) -> Int { Arguments<Key>.of(pack).values.hashValue }
    override class func areEqual(_ first: ArgumentPack, _ second: ArgumentPack) -> Bool {
        Arguments<Key>.of(first).values == Arguments<Key>.of(second).values
    }
    override class func computedKey(in pack: ArgumentPack) -> Any? { Arguments<Key>.of(pack).values }
}

/// The hash of one argument, as that of a pack of it.
@inlinable func hashOfArguments<First: Hashable>(_ first: First) -> Int { first.hashValue }

/// The hash of two arguments, as that of a pack of them.
@inlinable func hashOfArguments<First: Hashable, Second: Hashable>(_ first: First, _ second: Second) -> Int {
    BothArguments(first, second).hashValue
}

/// Hashed as one: the standard library then need not copy the state of a `Hasher`.
@usableFromInline struct BothArguments<First: Hashable, Second: Hashable>: Hashable {
    @usableFromInline let first: First
    @usableFromInline let second: Second

    @inlinable init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }
}

/// Which of a registration's instances is meant: the arguments, or what its `keyedBy:` made of them.
///
/// Equality of the values decides, never the hash alone. The hash is computed once, where no lock is held.
struct ArgumentKey: Hashable, Sendable {
    /// What is compared; nil for a registration without arguments, and for one that never shares anything.
    let pack: ArgumentPack?
    private let comparison: ArgumentComparison.Type?
    /// The lower half is enough: it only tells where to look.
    let hash: UInt32

    /// The key of a registration without arguments.
    static let none = ArgumentKey()

    private init() {
        pack = nil
        comparison = nil
        hash = 0
    }

    init(_ pack: ArgumentPack, comparedBy comparison: ArgumentComparison.Type) {
        self.init(pack, comparedBy: comparison, hash: UInt32(truncatingIfNeeded: comparison.hash(of: pack)))
    }

    /// A key whose hash is known.
    init(_ pack: ArgumentPack, comparedBy comparison: ArgumentComparison.Type, hash: UInt32) {
        self.pack = pack
        self.comparison = comparison
        self.hash = hash
    }

    /// Whether the key of this pack, which the same registration made, is equal.
    func isEqual(to other: ArgumentPack?, hash otherHash: UInt32) -> Bool {
        guard let pack, let comparison, let other else { return pack == nil && other == nil }
        return hash == otherHash && comparison.areEqual(pack, other)
    }

    static func == (first: ArgumentKey, second: ArgumentKey) -> Bool {
        first.comparison == second.comparison && first.isEqual(to: second.pack, hash: second.hash)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
