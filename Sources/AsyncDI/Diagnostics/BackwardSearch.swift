/// Searches a graph of numbered nodes backward: from an instance to those that would hold it.
///
/// A search costs as much as it visits, not the size of the graph. A pure value.
struct BackwardSearch {
    /// A shortest path from each start to the end, by the number of the start, up to a limit.
    struct Paths: Equatable {
        var paths: [[Int]]
        /// The number of further starts, whose paths are left out.
        var omitted = 0
    }

    private var search: BreadthFirstSearch

    init(successors: [[Int]]) {
        var predecessors = Array(repeating: [Int](), count: successors.count)
        for (node, successors) in successors.enumerated() {
            for successor in successors { predecessors[successor].append(node) }
        }
        search = BreadthFirstSearch(predecessors)
    }

    /// Finds the starts that lead to a node.
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
        let starts = search.nodes(from: end, through: isPassed).filter(isStart).sorted()
        let paths = starts.prefix(limit).map { search.path(from: $0, backTo: end) }
        return Paths(paths: paths, omitted: starts.count - paths.count)
    }
}
