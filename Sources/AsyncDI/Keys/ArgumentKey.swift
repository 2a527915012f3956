/// Identifies one of a registration's instances: by the arguments, or by the key that `keyedBy:` computed from them.
///
/// Two keys are the same if their values are equal; equal hashes alone are not enough. Both values of a comparison have
/// the same static type, because the same registration erased them. With different types, `AnyHashable` would treat `1`
/// and `1.0` as equal.
///
/// `@unchecked Sendable` because the only initializer takes a `Sendable` value, and nothing changes it afterwards.
struct ArgumentKey: Hashable, @unchecked Sendable {
    /// The ``Arguments`` of the request, or a ``ComputedKey``; nil for a registration that has no arguments or shares
    /// no instances.
    let value: AnyHashable?
    /// The lower half of the hash, computed once, outside every lock: it only selects the place of a look-up.
    let hash: UInt32

    /// The key of a registration without arguments.
    static let none = ArgumentKey()

    /// The arguments, or the computed key by itself.
    var list: [any Sendable] {
        if let pack = value?.base as? ArgumentPack { return pack.list }
        return computed.map { [$0] } ?? []
    }

    /// The key that `keyedBy:` computed, if it is of exactly this type.
    func computed<Key: Hashable & Sendable>(as type: Key.Type) -> Key? { (value?.base as? ComputedKey<Key>)?.value }

    /// The key that `keyedBy:` computed; nil without one.
    var computed: (any Sendable)? { (value?.base as? any AnyComputedKey)?.value }

    private init() {
        value = nil
        hash = 0
    }

    init<Value: Hashable & Sendable>(_ value: Value) {
        let value = AnyHashable(value)
        self.value = value
        hash = UInt32(truncatingIfNeeded: value.hashValue)
    }

    var isNone: Bool { value == nil }

    static func == (first: ArgumentKey, second: ArgumentKey) -> Bool {
        first.hash == second.hash && first.value == second.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// A key that `keyedBy:` computed from the arguments.
struct ComputedKey<Value: Hashable & Sendable>: Hashable, AnyComputedKey {
    let value: Value
}

private protocol AnyComputedKey {
    associatedtype Value: Sendable
    var value: Value { get }
}

/// The way in which a registration computes the keys of its instances.
@usableFromInline struct ArgumentKeying: Sendable {
    let key: @Sendable (ArgumentPack) -> ArgumentKey
    /// The comparison of packs, and their hash, which is also that of their keys; nil if `keyedBy:` computes the keys.
    let comparison: Comparison?
    var isComputed: Bool { comparison == nil }

    /// For known argument types, which make an erased key unnecessary for a look-up.
    struct Comparison: Sendable {
        let hash: @Sendable (ArgumentPack) -> UInt32
        let areEqual: @Sendable (ArgumentPack, ArgumentPack) -> Bool
    }

    /// All arguments form the key.
    @usableFromInline static func byArguments<each Argument: Hashable & Sendable>(
        _ type: Arguments<repeat each Argument>.Type
    ) -> ArgumentKeying {
        ArgumentKeying(
            key: { ArgumentKey(Arguments<repeat each Argument>.of($0)) },
            comparison: Comparison(
                hash: { UInt32(truncatingIfNeeded: Arguments<repeat each Argument>.of($0).hashValue) },
                areEqual: { Arguments<repeat each Argument>.of($0) == Arguments<repeat each Argument>.of($1) }))
    }

    /// A user's function computes the key from the arguments.
    static func computed<each Argument: Sendable, Key: Hashable & Sendable>(
        by key: @escaping @Sendable (repeat each Argument) -> Key
    ) -> ArgumentKeying {
        ArgumentKeying(
            key: { ArgumentKey(ComputedKey(value: key(repeat each Arguments<repeat each Argument>.unpacked($0)))) },
            comparison: nil)
    }
}

extension Arguments: Equatable where repeat each Argument: Hashable {
    @usableFromInline static func == (first: Arguments, second: Arguments) -> Bool {
        for (first, second) in repeat (each first.values, each second.values) {
            if first != second { return false }
        }
        return true
    }
}

/// The one rule for the hash of arguments: they are fed to a `Hasher` in order.
extension Arguments: Hashable where repeat each Argument: Hashable {
    @usableFromInline func hash(into hasher: inout Hasher) {
        for value in repeat each values { hasher.combine(value) }
    }
}

/// The hash of one argument by the rule for packs, for readers without a pack.
///
/// `hashValue` is faster than a `Hasher`, with the same result unless the argument's type implements `hashValue`
/// itself. Lock-free readers miss the instances for such an argument, which the container's table finds under the lock.
@inlinable func hashOfArguments<First: Hashable>(_ first: First) -> Int { first.hashValue }

/// The hash of two arguments by the rule for packs, for readers without a pack.
@inlinable func hashOfArguments<First: Hashable, Second: Hashable>(_ first: First, _ second: Second) -> Int {
    var hasher = Hasher()
    hasher.combine(first)
    hasher.combine(second)
    return hasher.finalize()
}
