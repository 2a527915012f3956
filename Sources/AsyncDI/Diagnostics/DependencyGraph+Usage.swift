extension DependencyGraph {
    /// Registrations that a graph shows to be of no use, as far as it is known what the others resolve.
    public struct Finding: Sendable, Hashable {
        /// The registrations, by name.
        public let nodes: [Node]
        /// Registrations that do not declare what they resolve, and so may use those found.
        ///
        /// Where it is empty, the finding is certain.
        public let opaque: [Node]

        /// Whether nothing is found.
        public var isEmpty: Bool { nodes.isEmpty }
    }

    /// A root that the graph does not have.
    public struct UnknownRootError: Error, Hashable, CustomStringConvertible {
        /// The root as it was given.
        public let root: String

        /// The root, and what to do about it.
        public var description: String {
            "the graph has no service \(root). Name a registered service as the graph calls it: \"Editor\", \"URL[prod]\"."
        }
    }

    /// What is registered and not reached from any of the services that the application itself resolves.
    ///
    /// - Parameter roots: The services that are resolved outside every factory: each is the name of a node, or a service
    ///   of which every registration is meant, whatever its qualifier, arguments and owner.
    /// - Returns: The registrations that no root leads to; of contributions the group is one of them.
    /// - Throws: ``UnknownRootError`` for a root that is not registered.
    public func unreachable(from roots: [String]) throws -> Finding {
        var frontier: [String] = []
        for root in roots {
            let found = details.filter { $0.isMeant(by: root) }.map(\.name)
            if found.isEmpty { throw UnknownRootError(root: root) }
            frontier += found
        }
        var reached = Set(frontier)
        while let name = frontier.popLast() {
            for next in dependencies(of: name) where reached.insert(next).inserted { frontier.append(next) }
        }
        return Finding(
            nodes: details.filter { !reached.contains($0.name) },
            opaque: details.filter { $0.isOpaque && reached.contains($0.name) })
    }

    /// What is shared for longer than anything that uses it lives, and might have a shorter lifetime.
    ///
    /// Looked at are singletons and multitons with users. A transient or graph instance lives as long as what it is made
    /// for. Nothing is wrong with a connection pool that only requests use; but a cache of one user's data that lives as
    /// long as the application may be a mistake.
    ///
    /// - Returns: The registrations that outlive their users.
    public var outlivingUsers: Finding {
        var users: [String: [String]] = [:]
        for edge in edges { users[edge.to, default: []].append(edge.from) }
        let spans = Dictionary(uniqueKeysWithValues: details.map { ($0.name, Span(of: $0)) })
        /// How long the longest-lived user of a node lives; a group and what lives in its users stand for these.
        func longestUse(of name: String) -> Int {
            var longest = 0
            var frontier = users[name, default: []]
            var seen = Set(frontier)
            while let user = frontier.popLast() {
                if case .place(let depth)? = spans[user] {
                    longest = max(longest, depth)
                } else {
                    for next in users[user, default: []] where seen.insert(next).inserted { frontier.append(next) }
                }
            }
            return longest
        }
        let nodes = details.filter { node in
            guard node.hasLongerAlternative, users[node.name] != nil, case .place(let span)? = spans[node.name] else {
                return false
            }
            return longestUse(of: node.name) < span
        }
        return Finding(nodes: nodes, opaque: details.filter(\.isOpaque))
    }

    /// How long instances live.
    private enum Span {
        /// As long as what they are made for.
        case asker
        /// As long as a place: the higher, the longer.
        case place(Int)

        init(of node: Node) {
            // Each `scope of` is opened inside what follows it.
            let depth = node.owner?.depthOfScopes ?? 0
            switch node.lifetime {
            case nil, "transient", "graph", "making": self = .asker
            case "scoped": self = .place(Int.max - 1 - 2 * depth)
            // A custom lifetime may be as long as the container's.
            default: self = .place(Int.max - 2 * depth)
            }
        }
    }
}

extension DependencyGraph.Node {
    /// Whether a root names this node, or its service.
    fileprivate func isMeant(by root: String) -> Bool {
        if name == root || service == root { return true }
        return service.hasPrefix(root + "[") || service.hasPrefix(root + "(")
    }

    /// Whether a shorter lifetime would do: a scope is short enough, and a weak instance goes with its users.
    fileprivate var hasLongerAlternative: Bool {
        switch lifetime {
        case "singleton", "multiton": true
        default: false
        }
    }
}

extension String {
    /// How many scopes the label of a container says it is in.
    fileprivate var depthOfScopes: Int {
        var (rest, depth) = (self[...], 0)
        while rest.hasPrefix("scope of ") {
            rest = rest.dropFirst("scope of ".count)
            depth += 1
        }
        return depth
    }
}
