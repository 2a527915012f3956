extension DependencyGraph {
    /// There is no order: these services need each other.
    public struct CycleError: Error, Hashable, CustomStringConvertible {
        /// The names from one service back to itself, which is there twice: first and last.
        public let cycle: [String]

        /// The cycle, and what to do about it.
        public var description: String {
            "no order puts dependencies first: \(cycle.joined(separator: " → ")). "
                + "Let one of them have the other later: through .injectProperties, Lazy or Provider."
        }
    }

    /// The names of all nodes, each after everything that it needs.
    ///
    /// What is asked for later, through a ``Lazy`` or a ``Provider``, need not come first. Nodes that could be in either order
    /// are in that of their names.
    ///
    /// - Returns: The names, dependencies first.
    /// - Throws: ``CycleError`` when there is no such order.
    public func topologicalOrder() throws -> [String] {
        let indices = Dictionary(uniqueKeysWithValues: details.enumerated().map { ($1.name, $0) })
        var successors = [[Int]](repeating: [], count: details.count)
        for edge in edges where !edge.isDeferred { successors[indices[edge.from]!].append(indices[edge.to]!) }
        let search = DepthFirstSearch(successors: successors)
        if let cycle = search.cycles.first { throw CycleError(cycle: (cycle + [cycle[0]]).map { details[$0].name }) }
        return search.finished.map { details[$0].name }
    }
}

/// Visits every node of a graph once, by numbers: what is finished first needs nothing that comes later.
///
/// A pure value; needs no stack of calls, so that a chain of any length is no problem.
struct DepthFirstSearch {
    /// The nodes, each after those that it leads to (cycles apart).
    private(set) var finished: [Int] = []
    /// A cycle for each edge that leads back to a node which is still being visited; none if and only if there is no cycle.
    private(set) var cycles: [[Int]] = []

    private enum Mark { case new, open, done }

    init(successors: [[Int]]) {
        var marks = [Mark](repeating: .new, count: successors.count)
        for start in successors.indices where marks[start] == .new {
            var path = [(node: start, next: 0)]
            marks[start] = .open
            while let (node, next) = path.last {
                guard next < successors[node].count else {
                    marks[node] = .done
                    finished.append(node)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let successor = successors[node][next]
                switch marks[successor] {
                case .done: break
                case .new:
                    marks[successor] = .open
                    path.append((successor, 0))
                case .open:
                    let begin = path.firstIndex { $0.node == successor } ?? 0
                    cycles.append(path[begin...].map(\.node))
                }
            }
        }
    }
}
