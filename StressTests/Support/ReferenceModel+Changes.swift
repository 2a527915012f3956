/// Changes of a graph: registrations, resets, scopes.
extension ReferenceModel {
    /// Which instances a reset forgets.
    enum Selection: Sendable {
        case node(Int)
        case sharing(GraphModel.Sharing)
        case everything
    }

    /// Registers a node, in place of the container's own registration of it.
    ///
    /// - Returns: The number of the registration.
    @discardableResult
    mutating func register(
        _ node: Int, _ sharing: GraphModel.Sharing, holding dependencies: [Int], in container: Int
    ) -> Int {
        unregister(node, in: container)
        entries.append(Entry(node: node, sharing: sharing, dependencies: dependencies, owner: container))
        tables[container, default: [:]][node] = entries.count - 1
        return entries.count - 1
    }

    /// Removes the container's own registration of a node; whether there was one.
    @discardableResult
    mutating func unregister(_ node: Int, in container: Int) -> Bool {
        guard let entry = tables[container]?.removeValue(forKey: node) else { return false }
        forget { $0.entry == entry }
        return true
    }

    /// Forgets instances that are cached in a container.
    ///
    /// - Returns: The places of those that were there for certain.
    @discardableResult
    mutating func reset(_ selection: Selection, in container: Int) -> Set<Place> {
        forget { [entries] place in
            guard place.container == container else { return false }
            return switch selection {
            case .node(let node): entries[place.entry].node == node
            case .sharing(let sharing): entries[place.entry].sharing == sharing
            case .everything: true
            }
        }
    }

    mutating func openScope(_ number: Int, in parent: Int) { parents[number] = parent }

    /// Closes a container and the scopes below it.
    ///
    /// - Returns: The places of the instances that were there for certain.
    @discardableResult
    mutating func close(_ container: Int) -> Set<Place> {
        var all: Set = [container]
        var count = 0
        while all.count > count {
            count = all.count
            for (child, parent) in parents where all.contains(parent) { all.insert(child) }
        }
        closed.formUnion(all)
        return forget { all.contains($0.container) }
    }

    @discardableResult
    private mutating func forget(where isForgotten: (Place) -> Bool) -> Set<Place> {
        let forgotten = made.filter(isForgotten)
        made.subtract(forgotten)
        doubtful = doubtful.filter { !isForgotten($0) }
        identities = identities.filter { !isForgotten($0.key) }
        return forgotten
    }

    /// Leaves open whether places hold an instance, after a race that decided it.
    mutating func doubt(_ places: some Sequence<Place>) {
        for place in places where !closed.contains(place.container) {
            made.remove(place)
            identities[place] = nil
            doubtful.insert(place)
            old.insert(place)
        }
    }
}
