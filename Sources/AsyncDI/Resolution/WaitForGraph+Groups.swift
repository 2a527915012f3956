/// Held creations, which are complete together.
extension WaitForGraph {
    /// Held creations in the order in which they finished their work.
    func inOrder(_ nodes: Set<Node>) -> [Node] { nodes.sorted { (held[$0] ?? 0) < (held[$1] ?? 0) } }

    /// A creation, and those that received its unfinished instance, directly or through each other.
    func holders(of node: Node, where isFollowed: (Node) -> Bool = { _ in true }) -> Set<Node> {
        var found: Set<Node> = [node]
        var next = [node]
        while let instance = next.popLast() {
            for holder in givenTo[instance] ?? [] where isFollowed(holder) && found.insert(holder).inserted {
                next.append(holder)
            }
        }
        return found
    }

    /// The largest set of held creations that received no unfinished instance from outside the set, after one more is
    /// held: every such set without it is complete already.
    ///
    /// The cost does not depend on the held creations of other groups.
    func completeGroup(of node: Node, heldBy holders: Set<Node>) -> [Node] {
        var group: Set<Node> = [node]
        var next = [node]
        while let holder = next.popLast() {
            for instance in early[holder] ?? [] where group.insert(instance).inserted {
                if held[instance] == nil { return [] }
                next.append(instance)
            }
        }
        group.formUnion(holders)
        next = group.filter { node in early[node].map { !$0.isSubset(of: group) } ?? false }
        while let node = next.popLast() {
            guard group.remove(node) != nil else { continue }
            // A holder of an incomplete creation's instance is not complete either.
            for holder in givenTo[node] ?? [] where group.contains(holder) { next.append(holder) }
        }
        return inOrder(group)
    }
}
