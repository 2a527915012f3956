import Synchronization

/// Distinguishes the contributions to one service: the key given to a contribution, or else a number.
struct ContributionID: Hashable, Sendable, CustomStringConvertible {
    private let id: AnyKey
    let isKeyed: Bool
    /// Cached, because hashing a key is user code.
    let hash: Int

    private static let count = Atomic<Int>(0)

    /// Creates a unique identity.
    init() {
        let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        id = AnyKey(number)
        isKeyed = false
        hash = number
    }

    /// An identity for one more contribution like this one; nil if its key says that they are the same.
    var another: ContributionID? { isKeyed ? nil : ContributionID() }

    init(key: some Hashable & Sendable) {
        id = AnyKey(key)
        isKeyed = true
        hash = key.hashValue
    }

    /// The key, if it is of this type.
    func key<Key>(as type: Key.Type) -> Key? { hasKey(of: type) ? id.base as? Key : nil }

    /// Whether there is a key of this type.
    ///
    /// A key may be an object of a subclass. An `Int` is no `Int?`, although it can be cast to one.
    func hasKey<Key>(of type: Key.Type) -> Bool {
        guard isKeyed else { return false }
        return id.isOriginally(type) || (type is AnyClass || type == AnyHashable.self) && id.base is Key
    }

    /// The name of the key's type: `1` and `"1"` have the same text.
    var keyType: String { String(reflecting: type(of: id.base)) }

    /// Without the number, so that messages do not differ from run to run.
    var description: String { isKeyed ? "[\(singleLine("\(id.base)"))]" : "" }

    static func == (first: ContributionID, second: ContributionID) -> Bool {
        first.hash == second.hash && first.isKeyed == second.isKeyed && first.id == second.id
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
