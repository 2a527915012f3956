/// A user's key of any type.
///
/// Keys differ by type as well as by value: as `AnyHashable`, `1`, `1.0` and an optional `1` would be one key.
///
/// `@unchecked Sendable` because the only initializer takes a `Sendable` value, and nothing changes it afterwards.
///
/// An object, because a copy of a reference costs less than one of an `AnyHashable`, even where there is no key.
final class AnyKey: Hashable, @unchecked Sendable {
    private let key: AnyHashable
    private let type: any Any.Type

    init<Key: Hashable & Sendable>(_ key: Key) {
        self.key = AnyHashable(key)
        type = Key.self
    }

    /// The key itself.
    var base: Any { key.base }

    /// Whether the key was created with exactly this type; this needs no cast.
    func isOriginally(_ type: any Any.Type) -> Bool { self.type == type }

    static func == (first: AnyKey, second: AnyKey) -> Bool { first.type == second.type && first.key == second.key }

    /// The type is not hashed: few keys differ in their type alone, and equality distinguishes those.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
