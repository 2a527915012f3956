extension DependencyGraph {
    /// The graph without source locations and figures of a run: to be kept in a file, and compared.
    ///
    /// Left out are the sites, the counts and the durations. Registrations that are called alike, as contributions
    /// without a key are, are numbered by their lifetimes and by what they are connected with, however far away, and
    /// only then by their places. So the ``json()`` of a declared graph's contract stays the same when registrations
    /// change places.
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
        var surroundings = Surroundings(of: self)
        surroundings.tellApart(groups.flatMap { $0.map(\.name) }.sorted(by: Self.isNumberedBefore))
        var names: [String: String] = [:]
        for group in groups {
            let dealt = group.map(\.name).sorted(by: Self.isNumberedBefore)
            let order = Dictionary(uniqueKeysWithValues: dealt.enumerated().map { ($1, $0) })
            let sorted = dealt.map {
                (name: $0, neighbors: surroundings.neighbors(of: $0), all: surroundings.color(of: $0))
            }
            .sorted {
                ($0.neighbors, $0.all, order[$0.name] ?? 0) < ($1.neighbors, $1.all, order[$1.name] ?? 0)
            }
            for (new, old) in zip(dealt, sorted) { names[old.name] = new }
        }
        return names
    }

    /// The order of the names of one service: a number with more digits is greater.
    private static func isNumberedBefore(_ first: String, _ second: String) -> Bool {
        (first.count, first) < (second.count, second)
    }
}
