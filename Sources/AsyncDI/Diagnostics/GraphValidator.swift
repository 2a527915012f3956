/// Finds all problems of a looked-up graph of registrations at once: cycles, and instances that a long-lived one would
/// hold too long.
///
/// A pure value over numbered nodes; places are containers, or their stand-ins in a test.
struct GraphValidator<Place: AnyObject> {
    /// Where the instances of a node live.
    enum Sharing {
        /// In the requesting instance: transient and graph instances.
        case asker
        /// In a place that may end before or after others; a resettable instance may go before its place does.
        case place(Place, isScoped: Bool, outlivesScopes: Bool, isResettable: Bool = false)
    }

    struct Edge {
        let to: Int
        /// Whether the requesting node's creation needs the target: false for a deferred dependency.
        var isNeededAtOnce = true
        /// Whether the requesting node holds the target.
        var isHeld = true
        /// Whether the requesting node gets nil if the target has no value, at once or later.
        var isOptional = false
    }

    struct Node {
        var sharing: Sharing
        /// Whether arguments distinguish its instances: nodes that all have arguments form no cycle.
        var hasArguments = false
        /// Whether its arguments may also decide which of its dependencies it needs.
        var choosesByArguments = false
        var edges: [Edge] = []
    }

    let nodes: [Node]
    let rule: CaptiveRule<Place>

    /// The highest number of cycles reported for services that all need one another.
    static var mostCycles: Int { 100 }
    /// The highest number of holders reported for one captive.
    static var mostHolders: Int { 100 }

    /// Cycles, each from its lowest node to its last, without the first one again: one for each edge that is part of a
    /// cycle, up to the limit.
    ///
    /// Where all nodes have arguments, each round may have other ones, so the recursion may end. A node without
    /// arguments needs the same again.
    var cycles: [[Int]] {
        StronglyConnectedComponents(
            successors: nodes.map { node in
                node.choosesByArguments ? [] : node.edges.filter(\.isNeededAtOnce).map(\.to)
            }
        ).cycles(upTo: Self.mostCycles) { !nodes[$0].hasArguments }
    }

    /// Paths from shared nodes to one that they must not hold, through nodes that live in the node that requested them:
    /// for each such captive, in the order of the first holders.
    var captives: [BreadthFirstSearch.Paths] {
        var search = BreadthFirstSearch(backward: nodes.map { $0.edges.filter(\.isHeld).map(\.to) })
        var places: [Home: Place] = [:]
        let homes = nodes.map { node -> Home? in
            // Otherwise it lives in the requesting node.
            guard case .place(let place, _, let outlivesScopes, _) = node.sharing else { return nil }
            let home = Home(place: ObjectIdentifier(place), outlivesScopes: outlivesScopes)
            places[home] = place
            return home
        }
        return nodes.indices.compactMap { captive -> BreadthFirstSearch.Paths? in
            // The rule depends on the holder's home alone.
            let forbidden = places.filter { home, place in
                forbids(holderIn: place, outlivingScopes: home.outlivesScopes, captive)
            }
            if forbidden.isEmpty { return nil }
            let found = search.paths(
                to: captive, upTo: Self.mostHolders, through: { homes[$0] == nil },
                from: { homes[$0].flatMap { forbidden[$0] } != nil })
            return found.paths.isEmpty ? nil : found
        }
        .sorted { $0.paths[0].lexicographicallyPrecedes($1.paths[0]) }
    }

    /// The place of shared instances, and whether they outlive scopes.
    private struct Home: Hashable {
        let place: ObjectIdentifier
        let outlivesScopes: Bool
    }

    /// Whether an instance in a home must not hold a node.
    func forbids(holderIn holder: Place, outlivingScopes: Bool, _ node: Int) -> Bool {
        guard case .place(let place, let isScoped, _, let isResettable) = nodes[node].sharing else { return false }
        return rule.forbids(
            holderIn: holder, outlivingScopes: outlivingScopes, instanceIn: place, isScoped: isScoped,
            isResettable: isResettable)
    }
}
