/// The nodes that a breadth-first search from some nodes meets, these included, the nearest first; each once.
func reachable<Node: Hashable>(from starts: [Node], by next: (Node) -> [Node]) -> [Node] {
    var seen: Set<Node> = []
    var found = starts.filter { seen.insert($0).inserted }
    var position = 0
    while position < found.count {
        found += next(found[position]).filter { seen.insert($0).inserted }
        position += 1
    }
    return found
}

/// Breadth-first searches of a graph of numbered nodes: a search costs as much as it visits, not the size of the graph.
///
/// A pure value.
struct BreadthFirstSearch {
    /// A shortest path from each start to an end, by the number of the start, up to a limit.
    struct Paths: Equatable {
        var paths: [[Int]]
        /// The number of further starts, whose paths are left out.
        var omitted = 0
    }

    private let neighbors: [[Int]]
    /// The node from which each one was met in its last search.
    private var origins: [Int]
    /// The search in which each node was met last.
    private var met: [Int]
    private var search = 0

    init(_ neighbors: [[Int]]) {
        self.neighbors = neighbors
        origins = Array(repeating: 0, count: neighbors.count)
        met = origins
    }

    /// Searches that go backward: from an instance to those that would hold it.
    init(backward successors: [[Int]]) {
        var predecessors = Array(repeating: [Int](), count: successors.count)
        for (node, successors) in successors.enumerated() {
            for successor in successors { predecessors[successor].append(node) }
        }
        self.init(predecessors)
    }

    /// Searches from a node.
    ///
    /// - Parameters:
    ///   - start: The node to begin at.
    ///   - end: The search ends when it meets this node; everything is searched when nil.
    ///   - isPassed: Whether the search goes on beyond this node.
    /// - Returns: The nodes that it met, the nearest first; without the first one.
    mutating func nodes(from start: Int, until end: Int? = nil, through isPassed: (Int) -> Bool) -> [Int] {
        search += 1
        met[start] = search
        var found: [Int] = []
        var queue = [start]
        var position = 0
        while position < queue.count, end.map({ met[$0] != search }) ?? true {
            let node = queue[position]
            position += 1
            for neighbor in neighbors[node] where met[neighbor] != search {
                met[neighbor] = search
                origins[neighbor] = node
                found.append(neighbor)
                if isPassed(neighbor) { queue.append(neighbor) }
            }
        }
        return found
    }

    /// The shortest way back from a node that the last search met to the start of that search, both included.
    func path(from node: Int, backTo start: Int) -> [Int] {
        var path = [node]
        while let last = path.last, last != start { path.append(origins[last]) }
        return path
    }

    /// Finds the starts that lead to a node, by a search that goes backward.
    ///
    /// - Parameters:
    ///   - end: The node; it is no start itself.
    ///   - limit: The highest number of paths.
    ///   - isPassed: Whether a path may lead through a node.
    ///   - isStart: Whether a path may begin at a node.
    /// - Returns: The paths, both ends included.
    mutating func paths(
        to end: Int, upTo limit: Int, through isPassed: (Int) -> Bool, from isStart: (Int) -> Bool
    ) -> Paths {
        let starts = nodes(from: end, through: isPassed).filter(isStart).sorted()
        let paths = starts.prefix(limit).map { path(from: $0, backTo: end) }
        return Paths(paths: paths, omitted: starts.count - paths.count)
    }
}
