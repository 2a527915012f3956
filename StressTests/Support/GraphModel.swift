import AsyncDI

/// One service type serves for all nodes of a random graph: the qualifier distinguishes them.
struct NodeID: Qualifier {
    let index: Int
}

/// A random dependency graph, as plain data: nodes by index, and the dependencies of each.
struct GraphModel: Sendable {
    enum Sharing: Sendable {
        case singleton, scoped, weak, graph, transient

        var lifetime: Lifetime {
            switch self {
            case .singleton: .singleton
            case .scoped: .scoped
            case .weak: .weak
            case .graph: .graph
            case .transient: .transient
            }
        }
    }

    /// The way in which a node's factory resolves its dependencies.
    enum Style: Sendable, CaseIterable {
        case sequential, asyncLet, taskGroup, detachedTask, capturedContainer
    }

    struct Node: Sendable {
        var sharing: Sharing
        var style: Style
        var dependencies: [Int]
        /// The unrelated container in which the node is registered.
        var home = 0
    }

    var nodes: [Node]

    /// Nodes that resolve only earlier ones.
    ///
    /// Singletons hold no scoped nodes, and no request for a transient creates more than a few dozen others.
    static func acyclic(nodes count: Int, mostDependencies: Int, random: inout SeededRandom) -> GraphModel {
        var nodes: [Node] = []
        var holdsScoped: [Bool] = []
        var expansion: [Int] = []
        for index in 0..<count {
            var sharing = random.pick([Sharing.singleton, .singleton, .scoped, .graph, .transient])
            var dependencies = distinct(random.below(mostDependencies + 1), below: index, random: &random)
            if sharing == .singleton { dependencies.removeAll { holdsScoped[$0] } }
            let transients = 1 + dependencies.reduce(0) { $0 + expansion[$1] }
            if sharing == .transient && transients > 24 { sharing = .graph }
            nodes.append(Node(sharing: sharing, style: random.pick(Style.allCases), dependencies: dependencies))
            holdsScoped.append(sharing == .scoped || dependencies.contains { holdsScoped[$0] })
            expansion.append(sharing == .transient ? transients : 0)
        }
        return GraphModel(nodes: nodes)
    }

    /// Nodes that resolve any others, themselves included.
    static func arbitrary(
        nodes count: Int, sharing palette: [Sharing], homes: Int = 1, random: inout SeededRandom
    ) -> GraphModel {
        // Across containers, only waits inside a task are visible: no detached tasks there.
        let styles = Style.allCases.filter { homes == 1 || $0 != .detachedTask }
        let nodes = (0..<count).map { _ in
            let sharing = random.pick(palette)
            let wanted = random.pick([0, 0, 1, 1, 1, 1, 2, 2, 3])
            return Node(
                sharing: sharing,
                style: sharing == .transient ? .sequential : random.pick(styles),
                dependencies: distinct(wanted, below: count, random: &random),
                home: random.below(homes)
            )
        }
        return GraphModel(nodes: nodes)
    }

    private static func distinct(_ wanted: Int, below bound: Int, random: inout SeededRandom) -> [Int] {
        var found: [Int] = []
        for _ in 0..<wanted where bound > 0 {
            let candidate = random.below(bound)
            if !found.contains(candidate) { found.append(candidate) }
        }
        return found
    }
}
