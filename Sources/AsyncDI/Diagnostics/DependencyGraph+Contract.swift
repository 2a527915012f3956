extension DependencyGraph {
    /// The graph without source locations and figures of a run: to be kept in a file, and compared.
    ///
    /// Sites, counts and durations are left out. Registrations with the same name, such as contributions without a key,
    /// are numbered by their lifetimes and connections, and only then by their source locations. The ``json()`` of a
    /// declared graph's contract therefore stays the same when registrations change places.
    public var contract: DependencyGraph {
        let names = contractNames
        func name(_ old: String) -> String { names[old] ?? old }
        let nodes = details.map { node in
            Node(
                name(node.name), service: node.service, lifetime: node.lifetime, owner: node.owner,
                isOpaque: node.isOpaque, isEager: node.isEager)
        }
        return DependencyGraph(
            nodes, edges: edges.map { Edge(from: name($0.from), to: name($0.to), isDeferred: $0.isDeferred) })
    }

    /// New names for the nodes that only a number distinguishes: the names of each group, assigned anew.
    private var contractNames: [String: String] {
        let groups = Dictionary(grouping: details, by: \.service).values
            // Where each node has its own owner, the names include it.
            .filter { group in Set(group.map(\.owner)).count < group.count }
        if groups.isEmpty { return [:] }
        let surroundings = Surroundings(of: self)
        var names: [String: String] = [:]
        for group in groups {
            // As numbers: a name with more digits comes later.
            let dealt = group.map(\.name).sorted { ($0.count, $0) < ($1.count, $1) }
            let order = Dictionary(uniqueKeysWithValues: dealt.enumerated().map { ($1, $0) })
            let sorted = group.map { (node: $0, signature: surroundings.signature(of: $0)) }
                .sorted {
                    ($0.signature, order[$0.node.name] ?? 0) < ($1.signature, order[$1.node.name] ?? 0)
                }
            for (new, old) in zip(dealt, sorted) { names[old.node.name] = new }
        }
        return names
    }
}

/// The connections of each node, in words that do not depend on how nodes are numbered.
struct Surroundings {
    private var neighbors: [String: [String]] = [:]

    init(of graph: DependencyGraph) {
        let services = Dictionary(
            uniqueKeysWithValues: graph.details.map {
                ($0.name, "\($0.service)\n\($0.owner ?? "")\n\($0.lifetime ?? "")")
            })
        for edge in graph.edges {
            let later = edge.isDeferred ? "later " : ""
            neighbors[edge.from, default: []].append("needs \(later)\(services[edge.to] ?? "")")
            neighbors[edge.to, default: []].append("needed \(later)by \(services[edge.from] ?? "")")
        }
        for name in neighbors.keys { neighbors[name]?.sort() }
    }

    /// The owner, the lifetime and the neighbors of a node, as one text.
    func signature(of node: DependencyGraph.Node) -> String {
        ([node.owner ?? "", node.lifetime ?? "", "\(node.isOpaque)"] + neighbors[node.name, default: []])
            .joined(separator: "\n\n")
    }
}
