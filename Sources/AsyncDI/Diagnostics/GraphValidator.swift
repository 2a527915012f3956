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
        /// Whether the requesting node can do without the target.
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

    /// Paths from a shared node to one that it must not hold, through nodes that live in the node that requested them.
    var captives: [[Int]] {
        var holders: [[Int]] = nodes.map { _ in [] }
        for (number, node) in nodes.enumerated() {
            for edge in node.edges where edge.isHeld { holders[edge.to].append(number) }
        }
        // The rule depends on the holder's home alone, so each home is looked up once.
        var forbidden: [Home: Forbidden] = [:]
        return nodes.indices.flatMap { holder -> [[Int]] in
            guard case .place(let place, _, let outlivesScopes, _) = nodes[holder].sharing else { return [] }
            let home = Home(place: ObjectIdentifier(place), outlivesScopes: outlivesScopes)
            let known = forbidden[home] ?? self.forbidden(in: place, outlivingScopes: outlivesScopes, holders)
            forbidden[home] = known
            return captives(of: holder, known)
        }
    }

    private struct Home: Hashable {
        /// By identity, because the nodes hold their places.
        let place: ObjectIdentifier
        let outlivesScopes: Bool
    }

    /// The nodes that must not be held in one home.
    private struct Forbidden {
        var isCaptive: [Bool]
        /// Nodes that live in their holder and lead to a captive: the walk visits no others.
        var leadsToCaptive: [Bool]
    }

    private func forbidden(in home: Place, outlivingScopes: Bool, _ holders: [[Int]]) -> Forbidden {
        let isCaptive = nodes.map { node in
            guard case .place(let place, let isScoped, _, let isResettable) = node.sharing else { return false }
            return rule.forbids(
                holderIn: home, outlivingScopes: outlivingScopes, instanceIn: place, isScoped: isScoped,
                isResettable: isResettable)
        }
        var leadsToCaptive = nodes.map { _ in false }
        var frontier = nodes.indices.filter { isCaptive[$0] }
        while let node = frontier.popLast() {
            for holder in holders[node] where !leadsToCaptive[holder] {
                guard case .asker = nodes[holder].sharing else { continue }
                leadsToCaptive[holder] = true
                frontier.append(holder)
            }
        }
        return Forbidden(isCaptive: isCaptive, leadsToCaptive: leadsToCaptive)
    }

    private func captives(of holder: Int, _ forbidden: Forbidden) -> [[Int]] {
        var captives: [[Int]] = []
        var cameFrom: [Int: Int] = [holder: holder]
        var frontier = [holder]
        while let node = frontier.popLast() {
            for edge in nodes[node].edges where edge.isHeld && cameFrom[edge.to] == nil {
                let (isCaptive, isOnTheWay) = (forbidden.isCaptive[edge.to], forbidden.leadsToCaptive[edge.to])
                guard isCaptive || isOnTheWay else { continue }
                cameFrom[edge.to] = node
                if isOnTheWay { frontier.append(edge.to) }
                if isCaptive { captives.append(path(to: edge.to, from: holder, cameFrom)) }
            }
        }
        return captives
    }

    private func path(to end: Int, from start: Int, _ cameFrom: [Int: Int]) -> [Int] {
        var path = [end]
        while let last = path.last, last != start, let previous = cameFrom[last] { path.append(previous) }
        return path.reversed()
    }
}
