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

        /// Records the edge that reached a node; false when the node was reached before.
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

    /// The edges that a search follows.
    enum Reach {
        /// The edges that delay a node now.
        case current
        /// Also the edges between a running creation and the unfinished instances that it received: they will delay its
        /// end.
        case all
    }

    /// The edges of a path: empty when both nodes are the same, nil without a path.
    mutating func path(from start: Node, to end: Node, following reach: Reach = .current) -> [Edge]? {
        if start == end { return [] }
        var forward = Frontier(start)
        var backward = Frontier(end)
        var isForwardComplete = true
        while !backward.isExhausted {
            if isForwardComplete {
                guard let node = forward.next() else { return nil }
                steps += 1
                if kind(node) == .disposal { isForwardComplete = false }
                for edge in edges(from: node, reach) {
                    guard forward.reach(edge.to, by: edge) else { continue }
                    if backward.has(edge.to) { return forward.way(to: edge.to).reversed() + backward.way(to: edge.to) }
                }
            }
            guard let node = backward.next() else { return nil }
            steps += 1
            for edge in edges(to: node, reach) {
                guard backward.reach(edge.from, by: edge) else { continue }
                if forward.has(edge.from) {
                    return forward.way(to: edge.from).reversed() + backward.way(to: edge.from)
                }
            }
        }
        return nil
    }

    /// The stored edges of a node's targets.
    private func edges(from node: Node, _ reach: Reach) -> [Edge] {
        var edges: [Edge] = []
        for (target, waiters) in waits[node] ?? [:] {
            edges.append(Edge(from: node, to: target, label: waiters.first?.value, isWait: true))
        }
        for (inner, label) in contents[node] ?? [:] {
            edges.append(Edge(from: node, to: inner, label: label, isWait: false))
        }
        if reach == .all || held[node] != nil {
            for instance in early[node] ?? [] {
                edges.append(Edge(from: node, to: instance, label: nil, isWait: false))
            }
        }
        return edges
    }

    /// The edges from nodes that wait for a node.
    private func edges(to node: Node, _ reach: Reach) -> [Edge] {
        var edges = edges(waitingFor: node)
        if let edge = edge(enclosing: node) { edges.append(edge) }
        if let holders = givenTo[node] {
            for holder in holders where reach == .all || held[holder] != nil {
                edges.append(Edge(from: holder, to: node, label: nil, isWait: false))
            }
        }
        return edges + self.edges(openAround: node)
    }

    /// The requests for a node.
    func edges(waitingFor node: Node) -> [Edge] {
        (waitedBy[node] ?? []).map { Edge(from: $0, to: node, label: waits[$0]?[node]?.first?.value, isWait: true) }
    }

    /// The edge from the node that continues when this one returns.
    func edge(enclosing node: Node) -> Edge? {
        enclosing[node].map { Edge(from: $0, to: node, label: contents[$0]?[node], isWait: false) }
    }

    /// The edges from open nodes that cannot end before this one does.
    func edges(openAround node: Node) -> [Edge] {
        outer(node).map { Edge(from: $0, to: node, label: nil, isWait: false) }
    }
}
