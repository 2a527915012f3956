import Synchronization

/// What tells the contributions to one service apart: the key that a contribution was given, or else a number of its own.
struct ContributionID: Hashable, @unchecked Sendable, CustomStringConvertible {
    /// `@unchecked Sendable` because every initialiser takes a `Sendable` value, and nothing changes it afterwards.
    private let id: AnyHashable
    let isKeyed: Bool
    /// Kept, because hashing a key is the user's code.
    let hash: Int

    private static let count = Atomic<Int>(0)

    /// An identity of its own.
    init() {
        let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        id = AnyHashable(number)
        isKeyed = false
        hash = number
    }

    init(key: some Hashable & Sendable) {
        id = AnyHashable(key)
        isKeyed = true
        hash = key.hashValue
    }

    /// The key, when there is one of this type.
    func key<Key>(as type: Key.Type) -> Key? { isKeyed ? id.base as? Key : nil }

    /// The name of the key's type: `1` and `"1"` read the same.
    var keyType: String { String(reflecting: type(of: id.base)) }

    /// Unnumbered, so that messages do not differ from run to run.
    var description: String { isKeyed ? "[\(id.base)]" : "" }

    static func == (first: ContributionID, second: ContributionID) -> Bool {
        // Numbers of different types are equal as `AnyHashable`, but not found by the same key type.
        first.hash == second.hash && first.isKeyed == second.isKeyed && first.id == second.id
            && type(of: first.id.base) == type(of: second.id.base)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
