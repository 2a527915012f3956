/// Finds what is wrong with a graph of registrations that was looked up, all of it at once: cycles, and what long-lived
/// instances would hold too long.
///
/// A pure value over nodes by number; places are containers, or what a test takes for them.
struct GraphValidator<Place: AnyObject> {
    /// Where the instances of a node live.
    enum Sharing {
        /// In whoever asked: transient and graph instances.
        case asker
        /// In a place that may end before, or after, others.
        case place(Place, isScoped: Bool, outlivesScopes: Bool)
    }

    struct Edge {
        let to: Int
        /// Whether the target is needed to make the asker: not what is asked for later.
        var isNeededAtOnce = true
        /// Whether the asker will hold the target.
        var isHeld = true
    }

    struct Node {
        var sharing: Sharing
        /// Whether arguments tell its instances apart: one that needs another one of its own kind is no cycle.
        var hasArguments = false
        var edges: [Edge] = []
    }

    let nodes: [Node]
    let rule: CaptiveRule<Place>

    /// Cycles, each from its first node to its last, without the first one again; none if and only if there is no cycle.
    var cycles: [[Int]] {
        DepthFirstSearch(
            successors: nodes.map { node in
                node.edges.filter { $0.isNeededAtOnce && !nodes[$0.to].hasArguments }.map(\.to)
            }
        ).cycles
    }

    /// Paths from a shared node to one that it must not hold, through nodes that live in their asker.
    var captives: [[Int]] { nodes.indices.flatMap(captives(of:)) }

    private func captives(of holder: Int) -> [[Int]] {
        guard case .place(let home, _, let outlivesScopes) = nodes[holder].sharing else { return [] }
        var captives: [[Int]] = []
        var cameFrom: [Int: Int] = [holder: holder]
        var frontier = [holder]
        while let node = frontier.popLast() {
            for edge in nodes[node].edges where edge.isHeld && cameFrom[edge.to] == nil {
                cameFrom[edge.to] = node
                switch nodes[edge.to].sharing {
                case .asker:
                    frontier.append(edge.to)
                case .place(let place, let isScoped, _):
                    let isForbidden = rule.forbids(
                        holderIn: home, outlivingScopes: outlivesScopes, instanceIn: place, isScoped: isScoped)
                    if isForbidden { captives.append(path(to: edge.to, from: holder, cameFrom)) }
                }
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
