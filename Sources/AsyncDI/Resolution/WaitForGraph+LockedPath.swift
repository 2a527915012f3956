/// Cycles that no unfinished instance can open.
///
/// An activity has two milestones: its own *work* is done, and its *end*. A creation ends together with all creations
/// that it waited for or whose unfinished instances it received. A request for a made instance needs no milestone at
/// all, because it can be answered. But the end of the requesting creation still depends on the end of the other one.
/// Creations may depend on each other's ends, because they end together. A disposal must not be among them: it waits
/// for the end of the activities in its container, and has an end of its own.
extension WaitForGraph {
    private enum Milestone: Hashable {
        /// The node's own calls have returned.
        case work(Node)
        case end(Node)
        /// An end that the asker's own end depends on through ends alone.
        case commonEnd(Node)
    }

    /// The path from the target to the asker that would become a permanent cycle if the asker waited for the target or
    /// took its unfinished instance.
    ///
    /// With `unlessReleased`, the search also counts waits of disposals and bodies that an unfinished instance would
    /// end.
    mutating func lockedPath(from target: Node, to asker: Node, unlessReleased: Bool = false) -> [Edge]? {
        let isMade = made.contains(target)
        if target == asker { return isMade ? nil : [] }
        if !isMade, let path = way(from: .work(target), to: .work(asker), unlessReleased) { return path }
        // The end of a disposal does not depend on unfinished instances.
        guard kind(asker) != .disposal else { return nil }
        return way(from: .end(target), to: .commonEnd(asker), unlessReleased)
    }

    /// The same after the waits on such paths that yield have ended.
    ///
    /// `yielding` receives the waiters that continue: none when a path remains, which keeps them waiting.
    mutating func lockedPath(from target: Node, to asker: Node, yielding: inout [Released]) -> [Edge]? {
        var ended: [(waiter: Waiter, edge: Edge, label: Label)] = []
        while let path = lockedPath(from: target, to: asker) {
            guard let edge = path.first(where: yields), let waiters = waits[edge.from]?[edge.to] else {
                for wait in ended { addWait(wait.waiter, from: wait.edge.from, label: wait.label, to: wait.edge.to) }
                return path
            }
            for (waiter, label) in waiters {
                withdraw(waiter)
                ended.append((waiter, edge, label))
            }
        }
        yielding += ended.map { (waiter: $0.waiter, early: nil) }
        return nil
    }

    private func yields(_ edge: Edge) -> Bool {
        edge.isWait && waits[edge.from]?[edge.to]?.keys.allSatisfy(yields) == true
    }

    /// Whether an unfinished instance would end the waits of an activity that has no group to wait for.
    func mayOpen(_ edge: Edge) -> Bool { edge.isWait && made.contains(edge.to) && kind(edge.from) != .creation }

    /// The edges that make `goal` depend on `start`, nil when it does not.
    private mutating func way(from goal: Milestone, to start: Milestone, _ unlessReleased: Bool) -> [Edge]? {
        // Each with the edge that reached it, and the position of the one that it depends on.
        var reached: [(milestone: Milestone, edge: Edge?, from: Int?)] = [(start, nil, nil)]
        var seen: Set<Milestone> = [start]
        var position = 0
        while position < reached.count {
            let milestone = reached[position].milestone
            steps += 1
            if milestone == goal {
                return sequence(first: position) { reached[$0].from }.compactMap { reached[$0].edge }
            }
            for (dependent, edge) in dependents(of: milestone, unlessReleased) where seen.insert(dependent).inserted {
                reached.append((dependent, edge, position))
            }
            position += 1
        }
        return nil
    }

    /// The milestones that cannot be reached before this one.
    private func dependents(of milestone: Milestone, _ unlessReleased: Bool) -> [(Milestone, Edge?)] {
        switch milestone {
        case .work(let node):
            var dependents: [(Milestone, Edge?)] = [(.end(node), nil)]
            if !made.contains(node) { dependents += edges(waitingFor: node).map { (.work($0.from), $0) } }
            if let edge = edge(enclosing: node) { dependents.append((.work(edge.from), edge)) }
            if kind(node) != .creation { dependents += edges(openAround: node).map { (.work($0.from), $0) } }
            return dependents
        case .end(let node):
            return dependentsOfEnd(of: node, unlessReleased) { .end($0) }
        case .commonEnd(let node):
            return dependentsOfEnd(of: node, unlessReleased) { .commonEnd($0) }
        }
    }

    private func dependentsOfEnd(
        of node: Node, _ unlessReleased: Bool, _ end: (Node) -> Milestone
    ) -> [(Milestone, Edge?)] {
        var dependents: [(Milestone, Edge?)] = []
        for edge in edges(waitingFor: node) {
            if unlessReleased, made.contains(node), kind(edge.from) != .creation {
                dependents.append((.work(edge.from), edge))
            }
            if kind(edge.from) != .disposal { dependents.append((end(edge.from), edge)) }
        }
        for holder in givenTo[node] ?? [] where kind(holder) != .disposal {
            dependents.append((end(holder), Edge(from: holder, to: node, label: nil, isWait: false)))
        }
        if let edge = edge(enclosing: node), kind(edge.from) != .disposal { dependents.append((end(edge.from), edge)) }
        if kind(node) == .creation { dependents += edges(openAround: node).map { (.work($0.from), $0) } }
        return dependents
    }
}
