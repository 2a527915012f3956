import Synchronization

/// What tells the contributions to one service apart: the key that a contribution was given, or else a number of its
/// own.
struct ContributionID: Hashable, Sendable, CustomStringConvertible {
    private let id: AnyKey
    let isKeyed: Bool
    /// CacheEntry, because hashing a key is the user's code.
    let hash: Int

    private static let count = Atomic<Int>(0)

    /// An identity of its own.
    init() {
        let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        id = AnyKey(number)
        isKeyed = false
        hash = number
    }

    init(key: some Hashable & Sendable) {
        id = AnyKey(key)
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
        first.hash == second.hash && first.isKeyed == second.isKeyed && first.id == second.id
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
