/// The open scopes of one container, by key and in the order in which they were opened.
///
/// A pure value. A key leads to at most one scope; scopes of `withScope` are not found by key.
struct ScopeTree<Scope> {
    typealias ID = Int

    private var scopes: [ID: Scope] = [:]
    private var keys: [AnyHashable: ID] = [:]
    private var keyOf: [ID: AnyHashable] = [:]
    private var nextID = 0

    var isEmpty: Bool { scopes.isEmpty }
    var count: Int { scopes.count }

    /// The scope that is open under a key.
    func scope(_ key: AnyHashable) -> Scope? { keys[key].flatMap { scopes[$0] } }

    /// Adds a scope; the key, if there is one, must be free.
    mutating func open(_ scope: Scope, key: AnyHashable?) -> ID {
        let id = nextID
        nextID += 1
        scopes[id] = scope
        if let key {
            assert(keys[key] == nil)
            keys[key] = id
            keyOf[id] = key
        }
        return id
    }

    /// A scope begins to close: its key is free from now on.
    ///
    /// Returns the key, for the caller to release outside its lock.
    @discardableResult
    mutating func beginClosing(_ id: ID) -> AnyHashable? {
        guard let key = keyOf.removeValue(forKey: id) else { return nil }
        keys[key] = nil
        return key
    }

    /// Takes a closed scope out.
    mutating func remove(_ id: ID) -> Scope? {
        beginClosing(id)
        return scopes.removeValue(forKey: id)
    }

    /// Every scope, the latest first: the order in which they are closed.
    var newestFirst: [Scope] { scopes.keys.sorted(by: >).compactMap { scopes[$0] } }
}

extension ScopeTree {
    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(keys.count == keyOf.count, "a key leads to one scope, and back")
        for (key, id) in keys { precondition(keyOf[id] == key && scopes[id] != nil, "a key leads to an open scope") }
        precondition(scopes.keys.allSatisfy { $0 < nextID }, "identifiers grow")
    }
}
