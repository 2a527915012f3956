extension WaitForGraph {
    /// One node that waits for another one, or cannot end before it.
    struct Edge {
        let from: Node
        let to: Node
        let label: Label?
        let isWait: Bool
    }

    /// One side of a search.
    struct Frontier {
        private let start: Node
        private var cameBy: [Node: Edge] = [:]
        private var nodes: [Node]
        private var position = 0

        init(_ start: Node) {
            self.start = start
            nodes = [start]
        }

        var isExhausted: Bool { position == nodes.count }
        func has(_ node: Node) -> Bool { node == start || cameBy[node] != nil }

        mutating func next() -> Node? {
            guard position < nodes.count else { return nil }
            defer { position += 1 }
            return nodes[position]
        }

        /// Notes how a node was reached; false when it had been reached before.
        mutating func reach(_ node: Node, by edge: Edge) -> Bool {
            guard node != start, cameBy[node] == nil else { return false }
            cameBy[node] = edge
            nodes.append(node)
            return true
        }

        /// The edges that lead from a node back to the start.
        func way(to node: Node) -> [Edge] {
            var way: [Edge] = []
            var node = node
            while node != start, let edge = cameBy[node] {
                way.append(edge)
                node = edge.from == node ? edge.to : edge.from
            }
            return way
        }
    }
}
