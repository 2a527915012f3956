/// The strongly connected components of a graph of numbered nodes: the groups in which every node leads to every other.
///
/// Tarjan's algorithm (R. Tarjan, "Depth-first search and linear graph algorithms", 1972), with a stack of its own
/// instead of calls, so that a chain of any length is no problem. A pure value.
struct StronglyConnectedComponents {
    private let successors: [[Int]]
    /// Each component comes after those that it leads to; a node outside every cycle is alone.
    private(set) var components: [[Int]] = []
    /// The component of each node.
    private var numbers: [Int]

    private static var none: Int { -1 }

    init(successors: [[Int]]) {
        self.successors = successors
        numbers = [Int](repeating: Self.none, count: successors.count)
        // The number at which each node was visited, and the first visited node that it leads back to; zero before the
        // visit.
        var order = [Int](repeating: 0, count: successors.count)
        var low = order
        var met = 0
        // Nodes whose component is not known yet.
        var open: [Int] = []
        var path: [(node: Int, next: Int)] = []
        func meet(_ node: Int) {
            met += 1
            (order[node], low[node]) = (met, met)
            open.append(node)
            path.append((node, 0))
        }
        for start in successors.indices where order[start] == 0 {
            meet(start)
            while let (node, next) = path.last {
                if next < successors[node].count {
                    path[path.count - 1].next += 1
                    let successor = successors[node][next]
                    if order[successor] == 0 {
                        meet(successor)
                    } else if numbers[successor] == Self.none {
                        low[node] = min(low[node], order[successor])
                    }
                    continue
                }
                path.removeLast()
                if let before = path.last?.node { low[before] = min(low[before], low[node]) }
                guard low[node] == order[node], let begin = open.lastIndex(of: node) else { continue }
                for member in open[begin...] { numbers[member] = components.count }
                // A copy, because a slice that is all of `open` would share its memory, which has room for the longest
                // path.
                components.append(open[begin...].map { $0 })
                open.removeSubrange(begin...)
            }
        }
    }

    /// A shortest cycle of one component; nil when the whole graph has none.
    var firstCycle: [Int]? {
        var search = BreadthFirstSearch(successors)
        return components.first(where: isCyclic).flatMap {
            cycles(in: $0, upTo: 1, through: { _ in true }, &search).first
        }
    }

    /// For each edge that is part of a cycle, a shortest cycle through it, unless an earlier cycle contains the edge.
    ///
    /// A cycle begins with its lowest node, which is not repeated at the end. The number of cycles is bounded: services
    /// that all need one another form more cycles than a reader wants.
    ///
    /// - Parameters:
    ///   - limit: The highest number of cycles from one component.
    ///   - isWanted: Whether a cycle through this node counts; a cycle with no such node is left out.
    /// - Returns: The cycles; empty if and only if no cycle leads through such a node.
    func cycles(upTo limit: Int, through isWanted: (Int) -> Bool = { _ in true }) -> [[Int]] {
        var search = BreadthFirstSearch(successors)
        return components.filter(isCyclic).map { $0.sorted() }.sorted { $0[0] < $1[0] }
            .flatMap { cycles(in: $0, upTo: limit, through: isWanted, &search) }
    }

    private func isCyclic(_ component: [Int]) -> Bool {
        component.count > 1 || successors[component[0]].contains(component[0])
    }

    private func cycles(
        in component: [Int], upTo limit: Int, through isWanted: (Int) -> Bool, _ search: inout BreadthFirstSearch
    ) -> [[Int]] {
        var covered: Set<[Int]> = []
        var cycles: [[Int]] = []
        for from in component.sorted() {
            for to in successors[from] where numbers[to] == numbers[from] && !covered.contains([from, to]) {
                if cycles.count == limit { return cycles }
                _ = search.nodes(from: to, until: from) { numbers[$0] == numbers[from] }
                var cycle = Array(search.path(from: from, backTo: to).reversed())
                for (node, next) in zip(cycle, cycle.dropFirst() + [to]) { covered.insert([node, next]) }
                // A wanted node is in every cycle through its own edges: none of them is missed.
                guard cycle.contains(where: isWanted) else { continue }
                if let lowest = cycle.indices.min(by: { cycle[$0] < cycle[$1] }) {
                    cycle = Array(cycle[lowest...] + cycle[..<lowest])
                }
                cycles.append(cycle)
            }
        }
        return cycles
    }
}
