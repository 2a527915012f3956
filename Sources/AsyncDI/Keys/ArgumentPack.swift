/// The arguments of one request, erased: a box whose dynamic type says which types they have.
///
/// The key of a registration with arguments holds the type of this box, so that code which found a registration by its key knows
/// the type of the box without a cast.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has no state, and its one subclass holds
/// nothing but a constant pack of `Sendable` values.
@usableFromInline class ArgumentPack: @unchecked Sendable {
    /// The types in the pack, in order.
    class var types: [any Any.Type] { [] }

    /// Whether the two packs hold equal arguments; what cannot be compared counts as equal.
    func isEqual(to other: ArgumentPack) -> Bool { type(of: self) == type(of: other) }

    /// Gives the arguments to a visitor, with their types: nil when there are more than two, or one that is not hashable.
    func visited<Visitor: ArgumentsVisitor>(by visitor: Visitor) -> Visitor.Result? { nil }

    /// No arguments.
    ///
    /// Of a class of its own, which the compiler can lay out before the program runs: retaining it then costs nothing.
    static let none: ArgumentPack = NoArguments()

    fileprivate init() {}
}

/// `@unchecked Sendable` because its superclass is; it adds nothing.
private final class NoArguments: ArgumentPack, @unchecked Sendable {}

/// A pack of arguments of known types.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant pack of `Sendable` values.
@usableFromInline final class Arguments<each Argument: Sendable>: ArgumentPack, @unchecked Sendable {
    @usableFromInline let values: (repeat each Argument)

    @usableFromInline init(_ values: repeat each Argument) {
        self.values = (repeat each values)
        super.init()
    }

    /// The pack as what it is, for code that was found by a key which holds this very type: the key has proved it.
    @inlinable static func of(_ pack: ArgumentPack) -> Arguments {
        assert(pack is Arguments, "a registration is found by the type of its arguments")
        return unsafeDowncast(pack, to: Arguments.self)
    }

    override class var types: [any Any.Type] {
        var types: [any Any.Type] = []
        for type in repeat (each Argument).self { types.append(type) }
        return types
    }

    override func isEqual(to other: ArgumentPack) -> Bool {
        guard let other = other as? Arguments<repeat each Argument> else { return false }
        for (first, second) in repeat (each values, each other.values) {
            if areKnownToDiffer(first, second) { return false }
        }
        return true
    }

    override func visited<Visitor: ArgumentsVisitor>(by visitor: Visitor) -> Visitor.Result? {
        var types: [any (Hashable & Sendable).Type] = []
        for type in repeat (each Argument).self {
            // The static type, because it is what requests name: the value's own may be a subclass.
            guard types.count < 2, let type = type as? any (Hashable & Sendable).Type else { return nil }
            types.append(type)
        }
        var arguments: [Any] = []
        for value in repeat each values { arguments.append(value) }
        func one<First: Hashable & Sendable>(_: First.Type) -> Visitor.Result? {
            (arguments[0] as? First).map { visitor.visit($0) }
        }
        func two<First: Hashable & Sendable, Second: Hashable & Sendable>(
            _: First.Type, _: Second.Type
        ) -> Visitor.Result? {
            guard let first = arguments[0] as? First, let second = arguments[1] as? Second else { return nil }
            return visitor.visit(first, second)
        }
        switch types.count {
        case 1: return one(types[0])
        case 2: return two(types[0], types[1])
        default: return nil
        }
    }
}

/// What wants to know arguments by their types: one or two that are hashable.
protocol ArgumentsVisitor {
    associatedtype Result
    func visit<First: Hashable & Sendable>(_ first: First) -> Result
    func visit<First: Hashable & Sendable, Second: Hashable & Sendable>(_ first: First, _ second: Second) -> Result
}

/// Whether two values can be compared and are not equal.
private func areKnownToDiffer<Value>(_ first: Value, _ second: Value) -> Bool {
    func differ<Equal: Equatable>(_ first: Equal) -> Bool { first != (second as? Equal) }
    guard let first = first as? any Equatable else { return false }
    return differ(first)
}

/// A pack of hashable arguments as one hashable value: what cached instances are found by.
private struct HashedPack<each Argument: Hashable & Sendable>: Hashable, Sendable {
    let values: (repeat each Argument)

    init(_ values: repeat each Argument) { self.values = (repeat each values) }

    static func == (first: Self, second: Self) -> Bool {
        for (first, second) in repeat (each first.values, each second.values) {
            if first != second { return false }
        }
        return true
    }

    func hash(into hasher: inout Hasher) {
        for value in repeat each values { hasher.combine(value) }
    }
}

/// Which of a registration's instances is meant: the erased arguments, or what its `keyedBy:` made of them.
///
/// Equality of the values decides, never the hash alone.
///
/// An object, so that the keys of what has no arguments, which are most, are small and quickly copied.
///
/// `@unchecked Sendable` because every initialiser takes `Sendable` values only, and nothing changes them afterwards.
@usableFromInline final class ArgumentKey: Hashable, @unchecked Sendable {
    let value: AnyHashable

    /// The key of a registration without arguments.
    static let none = ArgumentKey(key: Bool?.none)

    /// The key of a pack whose every argument counts.
    init<each Argument: Hashable & Sendable>(_ arguments: Arguments<repeat each Argument>) {
        value = AnyHashable(HashedPack(repeat each arguments.values))
    }

    /// The key that a registration computed.
    init(key: some Hashable & Sendable) {
        value = AnyHashable(key)
    }

    @usableFromInline static func == (first: ArgumentKey, second: ArgumentKey) -> Bool { first.value == second.value }
    @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension Arguments where repeat each Argument: Hashable {
    /// The key of a pack of this type.
    @usableFromInline static func key(of pack: ArgumentPack) -> ArgumentKey { ArgumentKey(of(pack)) }
}
