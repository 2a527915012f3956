extension DependencyGraph {
    /// These services depend on each other, so no order exists.
    public struct CycleError: Error, Hashable, CustomStringConvertible {
        /// The names from one service back to itself, which comes first and last.
        public let cycle: [String]

        /// The cycle, and how to break it.
        public var description: String {
            "no order puts dependencies first: \(cycle.joined(separator: " → ")). "
                + "Let one of them have the other later: through .injectProperties, Lazy or Provider."
        }
    }

    /// Returns the names of all nodes, each after everything that it needs.
    ///
    /// A deferred dependency (see ``DependencyGraph/Edge/isDeferred``) need not come first. The nodes are taken by
    /// name, each directly after those of its dependencies that are not in the order yet: equal graphs have equal
    /// orders.
    ///
    /// An edge from a node to itself is a cycle too. In a recording, a service that requests itself with other
    /// arguments has such an edge, although its instances have an order.
    ///
    /// - Returns: The names, dependencies first.
    /// - Throws: ``CycleError`` with one cycle, when no such order exists.
    public func topologicalOrder() throws -> [String] {
        let indices = Dictionary(uniqueKeysWithValues: details.enumerated().map { ($1.name, $0) })
        var successors = [[Int]](repeating: [], count: details.count)
        for edge in edges where !edge.isDeferred { successors[indices[edge.from]!].append(indices[edge.to]!) }
        let search = StronglyConnectedComponents(successors: successors)
        if let cycle = search.firstCycle { throw CycleError(cycle: (cycle + [cycle[0]]).map { details[$0].name }) }
        return search.components.map { details[$0[0]].name }
    }
}
