/// A key of the user's own, of any type.
///
/// Told apart by type as well as by value: as `AnyHashable`, `1`, `1.0` and an optional `1` would be one key.
///
/// `@unchecked Sendable` because the only initializer takes a `Sendable` value, and nothing changes it afterwards.
struct AnyKey: Hashable, @unchecked Sendable {
    private let key: AnyHashable
    private let type: any Any.Type

    init<Key: Hashable & Sendable>(_ key: Key) {
        self.key = AnyHashable(key)
        type = Key.self
    }

    /// The key itself.
    var base: Any { key.base }

    static func == (first: AnyKey, second: AnyKey) -> Bool { first.type == second.type && first.key == second.key }

    /// The type is not hashed: keys that differ in nothing else are few, and equality tells them apart.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
