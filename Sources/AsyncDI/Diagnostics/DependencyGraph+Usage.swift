extension DependencyGraph {
    /// Registrations that appear to be unused, judged by the declared dependencies of the others.
    public struct Finding: Sendable, Hashable {
        /// The registrations, by name.
        public let nodes: [Node]
        /// Registrations that may resolve more than they declare, and so may use those found.
        ///
        /// Where this is empty, the finding is certain, unless property wrappers or free functions resolve them.
        public let opaque: [Node]

        /// Whether the finding has no registrations.
        public var isEmpty: Bool { nodes.isEmpty }
    }

    /// A root that the graph does not have.
    public struct UnknownRootError: Error, Hashable, CustomStringConvertible {
        /// The root as it was given.
        public let root: String

        /// The root, and how to find the right name.
        public var description: String {
            "the graph has no service \(root). Name a registered service as the graph calls it: \"Editor\", \"URL[prod]\"."
        }
    }

    /// Returns the registrations that the application's roots do not reach.
    ///
    /// Eager services are roots too. Also name the services that a module resolves in its `loaded`, and those that a
    /// body resolves through `Container.current`.
    ///
    /// - Parameter roots: The services that are resolved outside every factory: each is the name of a node, or a
    ///   service, which means every registration of it, whatever its qualifier, arguments and owner.
    /// - Returns: The unreached registrations; a group of contributions counts as one.
    /// - Throws: ``UnknownRootError`` for a root that is not registered.
    public func unreachable(from roots: [String]) throws -> Finding {
        var frontier: [String] = []
        for root in roots {
            let found = details.filter { $0.isMeant(by: root) }.map(\.name)
            if found.isEmpty { throw UnknownRootError(root: root) }
            frontier += found
        }
        frontier += details.lazy.filter(\.isEager).map(\.name)
        return finding(reachedFrom: frontier)
    }

    /// Returns the registrations that the application's roots do not reach, with the roots given as types.
    ///
    /// - Parameter services: The services that are resolved outside every factory, whatever their qualifiers and
    ///   arguments. A wrapper type, such as an optional or an array, means the services that it wraps.
    /// - Returns: The same as ``unreachable(from:)``.
    /// - Throws: ``UnknownRootError`` for a service that is not registered, unless it is optional.
    public func unreachable(fromServices services: [any Any.Type]) throws -> Finding {
        try unreachable(from: services.flatMap { roots(of: $0) })
    }

    /// The names of a service and of those that it wraps.
    private func roots(of service: any Any.Type, isOptional: Bool = false) -> [String] {
        let name = readableName(of: service)
        let known = details.contains { $0.isMeant(by: name) } ? [name] : []
        return switch (service as? any WrapperType.Type)?.need {
        case .nothing?: known
        case .optional(let wrapped)?: known + roots(of: wrapped, isOptional: true)
        case .later(let wrapped, _)?, .contributions(let wrapped, _)?:
            known + roots(of: wrapped, isOptional: isOptional)
        case nil: isOptional ? known : [name]
        }
    }

    private func finding(reachedFrom roots: [String]) -> Finding {
        let reached = Set(reachable(from: roots, by: dependencies(of:)))
        return Finding(
            nodes: details.filter { !reached.contains($0.name) },
            opaque: details.filter { $0.isOpaque && reached.contains($0.name) })
    }

    /// The registrations that live longer than all of their users, and so might have a shorter lifetime.
    ///
    /// The search covers singletons and multitons with users, except for eager ones, which the application needs all
    /// the time. A transient or graph instance lives as long as its user. A connection pool that only requests use is
    /// no mistake, but a cache of one user's data that lives as long as the application may be one.
    ///
    /// - Returns: The registrations that outlive their users.
    public var outlivingUsers: Finding { outlivingUsers(besides: []) }

    /// Returns the registrations that live longer than all of their users, without those that the application resolves
    /// itself.
    ///
    /// - Parameter services: The services that are resolved outside every factory, as in
    ///   ``unreachable(fromServices:)``.
    /// - Returns: The registrations that outlive their users.
    public func outlivingUsers(besides services: [any Any.Type]) -> Finding {
        let named = services.flatMap { roots(of: $0) }
        let uses = Uses(in: self)
        let nodes = details.filter { node in
            // A scope would be short enough for these, and a weak instance ends with its users.
            guard ["singleton", "multiton"].contains(node.lifetime), uses.hasUsers(node.name), let span = node.span,
                !node.isEager, !named.contains(where: node.isMeant)
            else {
                return false
            }
            return uses.longest(of: node.name) < span
        }
        return Finding(nodes: nodes, opaque: details.filter { user in nodes.contains { uses.may(user, outlive: $0) } })
    }

    /// The registrations that may resolve more than they declare, and may use an instance as long as it lives.
    package func opaqueUsers(of node: Node) -> [Node] {
        let uses = Uses(in: self)
        return details.filter { uses.may($0, outlive: node) }
    }

    /// How long the users of each registration live.
    private struct Uses {
        private let users: [String: [String]]
        /// Without the nodes that live in their users.
        private let spans: [String: Int]

        init(in graph: DependencyGraph) {
            users = Dictionary(grouping: graph.edges, by: \.to).mapValues { $0.map(\.from) }
            spans = Dictionary(
                uniqueKeysWithValues: graph.details.compactMap { node in node.span.map { (node.name, $0) } })
        }

        func hasUsers(_ name: String) -> Bool { users[name] != nil }

        /// The lifetime of a node's longest-lived user; a group, and a node that lives in its users, stand for those
        /// users.
        func longest(of name: String) -> Int {
            reachable(from: users[name, default: []]) { spans[$0] == nil ? users[$0, default: []] : [] }
                .compactMap { spans[$0] }.max() ?? 0
        }

        /// Whether a registration that may resolve more than it declares lives as long as another one, or in an
        /// instance that does.
        func may(_ user: Node, outlive node: Node) -> Bool {
            guard user.isOpaque, user.name != node.name, let span = node.span else { return false }
            return (user.span ?? longest(of: user.name)) >= span
        }
    }
}

extension DependencyGraph.Node {
    /// Whether a root names this node, or its service.
    fileprivate func isMeant(by root: String) -> Bool {
        if name == root || service == root { return true }
        return service.hasPrefix(root + "[") || service.hasPrefix(root + "(")
    }

    /// How long an instance lives, the higher, the longer; nil for as long as the instance that requested it.
    fileprivate var span: Int? {
        // Each `scope of` is opened inside the container named after it.
        let depth = owner?.depthOfScopes ?? 0
        return switch lifetime {
        case nil, "transient", "graph", "making": nil
        case "scoped": Int.max - 1 - 2 * depth
        // A custom lifetime may last as long as the container.
        default: Int.max - 2 * depth
        }
    }
}

extension String {
    /// The number of scopes that the label of a container names.
    fileprivate var depthOfScopes: Int {
        var (rest, depth) = (self[...], 0)
        while rest.hasPrefix("scope of ") {
            rest = rest.dropFirst("scope of ".count)
            depth += 1
        }
        return depth
    }
}
