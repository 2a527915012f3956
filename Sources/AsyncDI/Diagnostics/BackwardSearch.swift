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

    private var predecessors: [[Int]]
    private var next: [Int]
    /// The search in which each node was visited last.
    private var met: [Int]
    private var search = 0

    init(successors: [[Int]]) {
        predecessors = Array(repeating: [], count: successors.count)
        next = Array(repeating: 0, count: successors.count)
        met = next
        for (node, successors) in successors.enumerated() {
            for successor in successors { predecessors[successor].append(node) }
        }
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
        search += 1
        met[end] = search
        var starts: [Int] = []
        var queue = [end]
        var position = 0
        while position < queue.count {
            let node = queue[position]
            position += 1
            for predecessor in predecessors[node] where met[predecessor] != search {
                met[predecessor] = search
                next[predecessor] = node
                if isStart(predecessor) { starts.append(predecessor) }
                if isPassed(predecessor) { queue.append(predecessor) }
            }
        }
        let paths = starts.sorted().prefix(limit).map { start in
            var path = [start]
            while let last = path.last, last != end { path.append(next[last]) }
            return path
        }
        return Paths(paths: paths, omitted: starts.count - paths.count)
    }
}
