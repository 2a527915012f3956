/// The differences between a graph and an earlier one: registrations and edges that were added, removed or changed.
///
/// ```swift
/// let difference = try await container.declaredGraph().difference(from: contract)
/// #expect(difference.isEmpty, "\(difference)")
/// ```
/// Registrations are compared by service, owner, lifetime, whether they are opaque, and whether they are eager; not by
/// their source locations or figures of a run. Among registrations with the same name, those with the same connections
/// count as the same.
public struct GraphDifference: Sendable, Hashable, Codable {
    /// A registration that both graphs have, with differences.
    public struct Change: Sendable, Hashable, Codable {
        /// The registration in the earlier graph.
        public let before: DependencyGraph.Node
        /// The registration in the later graph.
        public let after: DependencyGraph.Node
    }

    /// The registrations that only the later graph has, by name.
    public let added: [DependencyGraph.Node]
    /// The registrations that only the earlier graph had, by name.
    public let removed: [DependencyGraph.Node]
    /// The registrations that differ, by name.
    public let changed: [Change]
    /// The edges that only the later graph has, with its names.
    public let addedEdges: [DependencyGraph.Edge]
    /// The edges that only the earlier graph had, with its names.
    public let removedEdges: [DependencyGraph.Edge]
    /// The edges whose ``DependencyGraph/Edge/isDeferred`` differs, as they are in the later graph.
    public let changedEdges: [DependencyGraph.Edge]

    /// Whether the graphs are equal.
    public var isEmpty: Bool {
        added.isEmpty && removed.isEmpty && changed.isEmpty && addedEdges.isEmpty && removedEdges.isEmpty
            && changedEdges.isEmpty
    }

    /// Compares two graphs.
    ///
    /// - Parameters:
    ///   - earlier: The earlier graph.
    ///   - later: The later graph.
    public init(from earlier: DependencyGraph, to later: DependencyGraph) {
        let pairs = NodePairs(earlier, later)
        added = later.details.filter { !pairs.isPaired(after: $0) }
        removed = earlier.details.filter { !pairs.isPaired(before: $0) }
        changed = earlier.details.compactMap { before in
            guard let after = pairs.later(before.name).flatMap({ later[$0] }) else { return nil }
            // A node has changed where its text says so: another compared property needs a text there.
            let change = Change(before: before, after: after)
            return change.text.isEmpty ? nil : change
        }
        let new = Dictionary(uniqueKeysWithValues: later.edges.map { ([$0.from, $0.to], $0) })
        var kept: Set<[String]> = []
        var (removedEdges, changedEdges): ([DependencyGraph.Edge], [DependencyGraph.Edge]) = ([], [])
        for edge in earlier.edges {
            guard let from = pairs.later(edge.from), let to = pairs.later(edge.to),
                let same = new[[from, to]]
            else {
                removedEdges.append(edge)
                continue
            }
            kept.insert([from, to])
            if same.isDeferred != edge.isDeferred { changedEdges.append(same) }
        }
        addedEdges = later.edges.filter { !kept.contains([$0.from, $0.to]) }
        self.removedEdges = removedEdges
        self.changedEdges = changedEdges
    }
}

extension DependencyGraph {
    /// Returns the differences between this graph and an earlier one.
    ///
    /// - Parameter earlier: The earlier graph, such as a ``contract`` from a file.
    /// - Returns: The registrations and edges that were added, removed or changed.
    public func difference(from earlier: DependencyGraph) -> GraphDifference {
        GraphDifference(from: earlier, to: self)
    }
}

extension GraphDifference: CustomStringConvertible {
    /// The differences, one a line: `+` for an addition, `-` for a removal, `~` for a change.
    public var description: String {
        isEmpty ? "no difference" : lines.map(\.text).joined(separator: "\n")
    }

    /// One line of the description, and the registration of the later graph that it is about.
    package typealias Line = (text: String, node: DependencyGraph.Node?)

    /// The lines of the description; empty without differences.
    package var lines: [Line] {
        var lines: [Line] = added.map { ("+ \($0.name)\(facts($0))", $0) }
        lines += removed.map { ("- \($0.name)\(facts($0))", nil) }
        lines += changed.map { ("~ \($0.after.name): \($0.text)", $0.after) }
        lines += addedEdges.map { ("+ \(text($0))", nil) }
        lines += removedEdges.map { ("- \(text($0))", nil) }
        lines += changedEdges.map {
            ("~ \($0.from) → \($0.to): now resolved \($0.isDeferred ? "later" : "at once")", nil)
        }
        return lines
    }

    /// The details of a registration, in parentheses; empty for a group of contributions.
    private func facts(_ node: DependencyGraph.Node) -> String {
        let facts = [node.lifetime.map(singleLine), node.owner.map { "in \(singleLine($0))" }].compactMap(\.self)
        return facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"
    }

    private func text(_ edge: DependencyGraph.Edge) -> String {
        "\(edge.from) → \(edge.to)\(edge.isDeferred ? " (later)" : "")"
    }
}

extension GraphDifference.Change {
    fileprivate var text: String {
        var parts: [String] = []
        if before.lifetime != after.lifetime {
            parts.append("\(before.lifetime ?? "no lifetime") → \(after.lifetime ?? "no lifetime")")
        }
        if before.owner != after.owner {
            parts.append(
                "in \(singleLine(before.owner ?? "no container")) → in \(singleLine(after.owner ?? "no container"))")
        }
        if before.isOpaque != after.isOpaque {
            parts.append(after.isOpaque ? "no longer declares what it resolves" : "now declares what it resolves")
        }
        if before.isEager != after.isEager { parts.append(after.isEager ? "now eager" : "no longer eager") }
        return parts.joined(separator: ", ")
    }
}

/// The nodes of one graph, paired with those of another.
private struct NodePairs {
    private var laterByEarlier: [String: String] = [:]
    private var paired: Set<String> = []

    init(_ earlier: DependencyGraph, _ later: DependencyGraph) {
        var before = Dictionary(grouping: earlier.details) { GraphService($0) }
        var after = Dictionary(grouping: later.details) { GraphService($0) }
        var surroundings = (Surroundings(of: earlier), Surroundings(of: later))
        surroundings.0.tellApart(before.values.filter { $0.count > 1 }.flatMap { $0.map(\.name) }.sorted())
        surroundings.1.tellApart(after.values.filter { $0.count > 1 }.flatMap { $0.map(\.name) }.sorted())
        let rounds = (0...min(surroundings.0.lastRound, surroundings.1.lastRound)).dropFirst().reversed()
        for (service, nodes) in before {
            guard let others = after[service] else { continue }
            if nodes.count == 1, others.count == 1 {
                pair(nodes[0], others[0])
            } else {
                // Of several, first those that are connected alike: the further away, the earlier. Then those with the
                // same neighbors, whatever has changed in them, and then as they come.
                for round in rounds {
                    pair(nodes, others, in: surroundings) { $0.color(of: $1.name, after: round) }
                }
                pair(nodes, others, in: surroundings) { $0.neighbors(of: $1.name) }
                pair(nodes, others, in: surroundings) { _, _ in true }
            }
            before[service] = nodes.filter { !isPaired(before: $0) }
            after[service] = others.filter { !isPaired(after: $0) }
        }
        pairMoved(before.values.joined(), after.values.joined())
    }

    func later(_ earlier: String) -> String? { laterByEarlier[earlier] }
    func isPaired(before node: DependencyGraph.Node) -> Bool { laterByEarlier[node.name] != nil }
    func isPaired(after node: DependencyGraph.Node) -> Bool { paired.contains(node.name) }

    private mutating func pair(_ before: DependencyGraph.Node, _ after: DependencyGraph.Node) {
        laterByEarlier[before.name] = after.name
        paired.insert(after.name)
    }

    /// Pairs those that are left of two lists and have the same key, in their order.
    private mutating func pair<Key: Hashable>(
        _ before: [DependencyGraph.Node], _ after: [DependencyGraph.Node],
        in surroundings: (Surroundings, Surroundings), by key: (Surroundings, DependencyGraph.Node) -> Key
    ) {
        var left = Dictionary(grouping: after.reversed().filter { !isPaired(after: $0) }) { key(surroundings.1, $0) }
        for node in before where !isPaired(before: node) {
            if let other = left[key(surroundings.0, node)]?.popLast() { pair(node, other) }
        }
    }

    /// Pairs the remaining nodes that occur once in each graph, in different containers: these have moved.
    private mutating func pairMoved(
        _ before: some Sequence<DependencyGraph.Node>, _ after: some Sequence<DependencyGraph.Node>
    ) {
        func byService(_ nodes: some Sequence<DependencyGraph.Node>) -> [GraphService: [DependencyGraph.Node]] {
            Dictionary(grouping: nodes) { node in
                var node = node
                node.owner = nil
                return GraphService(node)
            }
        }
        let candidates = byService(after)
        for (service, nodes) in byService(before) where nodes.count == 1 {
            if let others = candidates[service], others.count == 1 { pair(nodes[0], others[0]) }
        }
    }
}
