extension DependencyGraph {
    /// The graph without what depends on the layout of the sources or on a run: to be kept in a file, and compared.
    ///
    /// Left out are the sites, the counts and the durations. Registrations that are called alike, as contributions
    /// without a key are, are numbered by their lifetimes and by what they are connected with, and only then by their
    /// places. So the ``json()`` of a declared graph's contract stays the same when registrations change places.
    public var contract: DependencyGraph {
        let names = contractNames
        func name(_ old: String) -> String { names[old] ?? old }
        let nodes = details.map { node in
            Node(
                name(node.name), service: node.service, lifetime: node.lifetime, owner: node.owner,
                isOpaque: node.isOpaque)
        }
        return DependencyGraph(
            nodes, edges: edges.map { Edge(from: name($0.from), to: name($0.to), isDeferred: $0.isDeferred) })
    }

    /// New names for the nodes that are told apart by a number: the names of each group, dealt out anew.
    private var contractNames: [String: String] {
        let groups = Dictionary(grouping: details, by: \.service).values
            // Where each has an owner of its own, the names say so.
            .filter { group in Set(group.map(\.owner)).count < group.count }
        if groups.isEmpty { return [:] }
        let surroundings = Surroundings(of: self)
        var names: [String: String] = [:]
        for group in groups {
            // Their numbers, as numbers: a name with more digits comes later.
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

/// What each node of a graph is connected with, in words that do not depend on how nodes are numbered.
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
