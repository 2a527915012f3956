/// The open scopes of one container, by key and in the order in which they were opened.
///
/// A pure value. A key leads to at most one scope; scopes of `withScope` are not found by key.
struct ScopeTree<Scope> {
    /// A place, and a number that distinguishes its successive scopes.
    struct ID: Hashable {
        fileprivate let place: Int
        fileprivate let number: Int
        /// Whether the scope was opened under a key.
        let hasKey: Bool
    }

    private struct Entry {
        let scope: Scope
        let number: Int
    }

    private var places: [Entry?] = []
    private var freePlaces: [Int] = []
    private var keys: [AnyKey: ID] = [:]
    private var keyOf: [ID: AnyKey] = [:]
    private var nextNumber = 0

    var isEmpty: Bool { count == 0 }
    var count: Int { places.count - freePlaces.count }

    subscript(id: ID) -> Scope? {
        guard places.indices.contains(id.place), let entry = places[id.place], entry.number == id.number else {
            return nil
        }
        return entry.scope
    }

    /// The scope that is open under a key.
    func scope(_ key: AnyKey) -> Scope? { keys[key].flatMap { self[$0] } }

    /// Adds a scope; the key, if it has one, must be free.
    mutating func open(_ scope: Scope, key: AnyKey?) -> ID {
        guard let key else { return add(scope, hasKey: false) }
        let id = add(scope, hasKey: true)
        assert(keys[key] == nil)
        keys[key] = id
        keyOf[id] = key
        return id
    }

    private mutating func add(_ scope: Scope, hasKey: Bool) -> ID {
        let id = ID(place: freePlaces.popLast() ?? places.count, number: nextNumber, hasKey: hasKey)
        nextNumber += 1
        let entry = Entry(scope: scope, number: id.number)
        if id.place == places.count { places.append(entry) } else { places[id.place] = entry }
        return id
    }

    /// Begins to close a scope: its key is free from now on.
    ///
    /// Returns the key, for the caller to release outside its lock.
    @discardableResult
    mutating func beginClosing(_ id: ID) -> AnyKey? {
        guard id.hasKey, let key = keyOf.removeValue(forKey: id) else { return nil }
        keys[key] = nil
        return key
    }

    /// Removes a closed scope.
    mutating func remove(_ id: ID) -> Scope? {
        if id.hasKey { beginClosing(id) }
        guard let scope = self[id] else { return nil }
        places[id.place] = nil
        freePlaces.append(id.place)
        return scope
    }

    /// Every scope, the latest first: the order in which they are closed.
    var newestFirst: [Scope] { places.compactMap(\.self).sorted { $0.number > $1.number }.map(\.scope) }
}

extension ScopeTree {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(keys.count == keyOf.count, "a key leads to one scope, and back")
        for (key, id) in keys { precondition(keyOf[id] == key && self[id] != nil, "a key leads to an open scope") }
        precondition(places.allSatisfy { $0.map { $0.number < nextNumber } ?? true }, "numbers grow")
        let free = places.indices.filter { places[$0] == nil }
        precondition(freePlaces.sorted() == free, "a place without a scope is free, once")
    }
}
