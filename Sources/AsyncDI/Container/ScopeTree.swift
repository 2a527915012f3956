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
        var key: AnyKey?
    }

    private var places: [Entry?] = []
    private var freePlaces: [Int] = []
    private var keys: [AnyKey: ID] = [:]
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
        let id = ID(place: freePlaces.popLast() ?? places.count, number: nextNumber, hasKey: key != nil)
        nextNumber += 1
        let entry = Entry(scope: scope, number: id.number, key: key)
        if id.place == places.count { places.append(entry) } else { places[id.place] = entry }
        if let key {
            assert(keys[key] == nil)
            keys[key] = id
        }
        return id
    }

    /// Begins to close a scope: its key is free from now on.
    ///
    /// Returns the key, for the caller to release outside its lock.
    @discardableResult
    mutating func beginClosing(_ id: ID) -> AnyKey? {
        guard id.hasKey, self[id] != nil, let key = places[id.place]?.key.take() else { return nil }
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

    /// Some of the scopes, in no particular order, for a cost that does not depend on how many are open.
    func some(atMost limit: Int) -> [Scope] { places.suffix(limit).compactMap { $0?.scope } }

    /// Every scope, the latest first: the order in which they are closed.
    var newestFirst: [Scope] { places.compactMap(\.self).sorted { $0.number > $1.number }.map(\.scope) }
}

extension ScopeTree {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        precondition(keys.count == places.count { $0?.key != nil }, "a key leads to one scope, and back")
        for (key, id) in keys {
            precondition(self[id] != nil && places[id.place]?.key == key, "a key leads to an open scope")
        }
        precondition(places.allSatisfy { $0.map { $0.number < nextNumber } ?? true }, "numbers grow")
        let free = places.indices.filter { places[$0] == nil }
        precondition(freePlaces.sorted() == free, "a place without a scope is free, once")
    }
}
