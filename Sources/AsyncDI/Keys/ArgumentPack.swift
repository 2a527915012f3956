/// The arguments of one request, erased: the dynamic type of the box has their types.
///
/// The key of a registration with arguments holds the type of this box, so that code that found a registration by its
/// key knows the type of the box without a cast.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has no state, and its subclass holds
/// only a constant pack of `Sendable` values.
@usableFromInline class ArgumentPack: @unchecked Sendable {
    /// The types in the pack, in order.
    class var types: [any Any.Type] { [] }
    /// The number of arguments.
    class var count: Int { 0 }

    /// Whether the two packs hold the same arguments, as far as this is knowable.
    func likeness(to other: ArgumentPack) -> ArgumentLikeness { type(of: self) == type(of: other) ? .same : .different }
    /// A hash that is the same for packs that are not known to differ; the caches use another one.
    var identityHash: Int { 0 }

    /// The arguments, in order.
    var list: [any Sendable] { [] }

    /// No arguments.
    ///
    /// Not an empty pack of types, because the compiler can lay this out statically: retaining it then costs nothing.
    @usableFromInline static let none = ArgumentPack()

    /// The arguments of a request, or `none` without arguments.
    @inlinable
    static func erasing<each Argument: Sendable>(_ values: repeat each Argument) -> ArgumentPack {
        for _ in repeat (each Argument).self { return Arguments(repeat each values) }
        return .none
    }

    @usableFromInline init() {}
}

/// A pack of arguments of known types.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant pack of `Sendable` values.
@usableFromInline final class Arguments<each Argument: Sendable>: ArgumentPack, @unchecked Sendable {
    @usableFromInline let values: (repeat each Argument)

    /// Inlined, so that no generic code runs where the types are known.
    @inlinable init(_ values: repeat each Argument) {
        self.values = (repeat each values)
        super.init()
    }

    /// The pack as its actual type, for code that found it by a key holding this very type: the key has proved it.
    @inlinable static func of(_ pack: ArgumentPack) -> Arguments {
        assert(pack is Arguments, "a registration is found by the type of its arguments")
        return unsafeDowncast(pack, to: Arguments.self)
    }

    /// The values of a pack; the pack without arguments is not of this class.
    static func unpacked(_ pack: ArgumentPack) -> (repeat each Argument) {
        func absent<Value>(_: Value.Type) -> Value { preconditionFailure("a pack of no types has no values") }
        return count == 0 ? (repeat absent((each Argument).self)) : of(pack).values
    }

    override class var types: [any Any.Type] {
        var types: [any Any.Type] = []
        for type in repeat (each Argument).self { types.append(type) }
        return types
    }

    override class var count: Int {
        var count = 0
        for _ in repeat (each Argument).self { count += 1 }
        return count
    }

    override var list: [any Sendable] {
        var list: [any Sendable] = []
        for value in repeat each values { list.append(value) }
        return list
    }

    override func likeness(to other: ArgumentPack) -> ArgumentLikeness {
        guard let other = other as? Arguments<repeat each Argument> else { return .different }
        var likeness = ArgumentLikeness.same
        for (first, second) in repeat (each values, each other.values) {
            likeness = likeness.and(ArgumentIdentity.likeness(first, second))
        }
        return likeness
    }

    override var identityHash: Int {
        var hash = 0
        for value in repeat each values { hash = hash &* 31 &+ ArgumentIdentity.hash(of: value) }
        return hash
    }
}

/// The types of a pack of arguments that are found out one after the other.
protocol ArgumentTypes: Sendable {
    /// The type of the pack.
    var pack: ArgumentPack.Type { get }
    /// Every argument counts.
    var keying: ArgumentKeying { get }
    /// One more argument.
    func appending<Next: Hashable & Sendable>(_ next: Next.Type) -> any ArgumentTypes
}

/// The types are stored, although their pack is known: without a value of it, optimized code of Swift 6.3 reads a pack
/// that it has not filled.
struct ArgumentTypeList<each Argument: Hashable & Sendable>: ArgumentTypes {
    private let types: (repeat (each Argument).Type)

    init(_ types: repeat (each Argument).Type) { self.types = (repeat each types) }

    var pack: ArgumentPack.Type { Arguments<repeat each Argument>.self }
    var keying: ArgumentKeying { .byArguments(Arguments<repeat each Argument>.self) }

    func appending<Next: Hashable & Sendable>(_ next: Next.Type) -> any ArgumentTypes {
        ArgumentTypeList<repeat each Argument, Next>(repeat each types, next)
    }
}
