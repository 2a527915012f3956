/// The connections of each node of a graph, in terms that do not depend on how nodes are numbered.
///
/// Nodes have colors, as in the search for symmetries of graphs: at first, a node's color says what it is; in each
/// later round also which colors its neighbors had in the round before. Colors of two graphs can be compared.
struct Surroundings {
    private typealias Neighbor = (node: Int, edge: UInt64)

    private var indexes: [String: Int] = [:]
    /// The properties of the node and of its neighbors.
    private var texts: [String] = []
    private var neighbors: [[Neighbor]] = []
    /// The colors after each round, until a further one would tell no more nodes apart.
    private var rounds: [[UInt64]] = []

    init(of graph: DependencyGraph) {
        let nodes = graph.details
        let own = nodes.map { "\($0.service)\n\($0.owner ?? "")\n\($0.lifetime ?? "")" }
        for (index, node) in nodes.enumerated() { indexes[node.name] = index }
        neighbors = Array(repeating: [], count: nodes.count)
        var near = Array(repeating: [String](), count: nodes.count)
        for edge in graph.edges {
            guard let from = indexes[edge.from], let to = indexes[edge.to] else { continue }
            let later = edge.isDeferred ? "later " : ""
            near[from].append("needs \(later)\(own[to])")
            near[to].append("needed \(later)by \(own[from])")
            neighbors[from].append((to, edge.isDeferred ? 1 : 2))
            neighbors[to].append((from, edge.isDeferred ? 3 : 4))
        }
        texts = zip(nodes, near).map { node, near in
            ([node.owner ?? "", node.lifetime ?? "", "\(node.isOpaque)"] + near.sorted()).joined(separator: "\n\n")
        }
        rounds = [zip(own, nodes).map { stableHash(of: "\($0)\n\($1.isOpaque)\n\($1.isEager)") }]
        refine(Array(nodes.indices))
    }

    /// The number of the last round.
    var lastRound: Int { rounds.count - 1 }

    /// The properties of a node and its direct connections, as a text.
    func neighbors(of name: String) -> String { indexes[name].map { texts[$0] } ?? "" }

    /// The color of a node after a round, the last one when nil.
    func color(of name: String, after round: Int? = nil) -> UInt64 {
        indexes[name].map { rounds[min(round ?? lastRound, lastRound)][$0] } ?? 0
    }

    /// Gives each of these nodes a color of its own.
    ///
    /// Which of several nodes with one color comes first must not depend on their names, and the nodes that belong to
    /// it must come first as well. So each is tried, and the one comes first with which the colors of all are least.
    /// Where several give the same colors, they are taken for interchangeable, which is wrong for some strongly regular
    /// graphs. This is the search for a graph's canonical form (McKay, Practical Graph Isomorphism, 1981) without its
    /// exponential part.
    ///
    /// - Parameter names: The nodes in the order in which they come where nothing else tells them apart, or where
    ///   trying each would take too long.
    mutating func tellApart(_ names: [String]) {
        var trials = Self.mostTrials
        var open = names.compactMap { indexes[$0] }
        let exact = neighbors.map { $0.map { (to, edge) -> UInt64 in UInt64(to) << 3 | edge }.sorted() }
        while true {
            let colors = rounds[lastRound]
            // Nodes with exactly the same neighbors stay alike, and nothing else depends on their order.
            let alike = Dictionary(grouping: open) { colors[$0] }
            let tied = alike.filter { _, nodes in nodes.contains { exact[$0] != exact[nodes[0]] } }
            guard let nodes = tied.min(by: { $0.key < $1.key })?.value else { return }
            open = open.filter { tied[colors[$0]] != nil }
            trials -= nodes.count * open.count
            putFirst(trials < 0 ? nodes[0] : leastFirst(of: nodes, open), open)
        }
    }

    /// The most colors of nodes to compute in trials, each for several rounds.
    private static let mostTrials = 20_000

    /// The node that gives the least colors to all if it is put first.
    private func leastFirst(of nodes: [Int], _ open: [Int]) -> Int {
        var least: (node: Int, colors: [UInt64])?
        for node in nodes {
            var trial = self
            trial.putFirst(node, open)
            // One round more shows how the nodes that have been told apart are connected.
            let colors = trial.nextRound(open)
            let sorted = open.map { colors[$0] }.sorted()
            if least.map({ sorted.lexicographicallyPrecedes($0.colors) }) ?? true { least = (node, sorted) }
        }
        return least?.node ?? nodes[0]
    }

    /// Tells a node apart from those with the same color, and then all others that this tells apart.
    private mutating func putFirst(_ node: Int, _ open: [Int]) {
        rounds[lastRound][node] = Self.mixed(rounds[lastRound][node], with: .max)
        refine(open)
    }

    /// Adds rounds until none tells more nodes apart.
    ///
    /// - Parameter open: The nodes whose colors may change; those that were told apart from all others stay so.
    private mutating func refine(_ open: [Int]) {
        func count(_ colors: [UInt64]) -> Int { Set(open.lazy.map { colors[$0] }).count }
        while true {
            let next = nextRound(open)
            if count(next) == count(rounds[lastRound]) { return }
            rounds.append(next)
        }
    }

    /// The colors after a further round.
    private func nextRound(_ open: [Int]) -> [UInt64] {
        let colors = rounds[lastRound]
        var next = colors
        for node in open {
            next[node] = neighbors[node].map { Self.mixed(colors[$0.node], with: $0.edge) }.sorted()
                .reduce(colors[node], Self.mixed)
        }
        return next
    }

    /// A color that depends on both.
    private static func mixed(_ color: UInt64, with other: UInt64) -> UInt64 {
        mixedBits(of: color &* 0x9E37_79B9_7F4A_7C15 &+ other)
    }
}
