/// Which services need which: what a container recorded, or what its registrations declare.
///
/// A value to look at in a test, to draw with ``dot()`` or ``mermaid()``, or to keep: it is `Codable`.
/// ```swift
/// await container.startRecording()
/// _ = try await container.resolve(Editor.self)
/// let graph = await container.dependencyGraph()
/// print(graph.mermaid())
/// ```
/// Nodes and edges are sorted, so that equal graphs are equal values and texts, whatever the order in which things
/// happened.
public struct DependencyGraph: Sendable, Codable, Hashable {
    /// A registration, or one group of contributions.
    public struct Node: Sendable, Codable, Hashable {
        /// What the node is called in this graph; no two nodes have the same name.
        public var name: String
        /// The service as it is asked for: the name, unless several registrations go by that.
        public var service: String
        /// The name of the lifetime, `instance` or `making` for registrations of those kinds; nil for what no factory
        /// makes, as a group of contributions.
        public var lifetime: String?
        /// The container that holds the registration: its name, `root`, or `scope of` another one.
        ///
        /// Scopes of one container count as one owner, and so do containers with the same name.
        public var owner: String?
        /// The file and line of the registration.
        public var site: String?
        /// How many instances were made while the container was recording.
        public var creations: Int
        /// How many runs of the factory failed.
        public var failures: Int
        /// How long all runs of the factory and its hooks took together, by the container's clock, what they waited for
        /// included.
        public var duration: Duration
        /// Whether the graph was declared by registrations of which this one does not say everything that it resolves:
        /// a closure without ``Registration/dependencies(_:)``, or a decorated service.
        public var isOpaque: Bool

        /// A node.
        ///
        /// - Parameters:
        ///   - name: What the node is called in the graph.
        ///   - service: The service as it is asked for; the name when nil.
        ///   - lifetime: The name of the lifetime.
        ///   - owner: The container that holds the registration.
        ///   - site: The file and line of the registration.
        ///   - creations: How many instances were made.
        ///   - failures: How many runs of the factory failed.
        ///   - duration: How long all runs took together.
        ///   - isOpaque: Whether the registration may resolve more than it declares.
        public init(
            _ name: String, service: String? = nil, lifetime: String? = nil, owner: String? = nil, site: String? = nil,
            creations: Int = 0, failures: Int = 0, duration: Duration = .zero, isOpaque: Bool = false
        ) {
            self.name = name
            self.service = service ?? name
            self.lifetime = lifetime
            self.owner = owner
            self.site = site
            self.creations = creations
            self.failures = failures
            self.duration = duration
            self.isOpaque = isOpaque
        }
    }

    /// One service needs another.
    public struct Edge: Sendable, Codable, Hashable {
        /// The name of the node that asks.
        public var from: String
        /// The name of the node that is asked for.
        public var to: String
        /// Whether it is asked for later, through a ``Lazy``, a ``Provider`` or the hooks of a registration with
        /// `.injectProperties`: such an edge closes no cycle.
        public var isDeferred: Bool

        /// An edge.
        ///
        /// - Parameters:
        ///   - from: The name of the node that asks.
        ///   - to: The name of the node that is asked for.
        ///   - isDeferred: Whether it is asked for later.
        public init(from: String, to: String, isDeferred: Bool = false) {
            self.from = from
            self.to = to
            self.isDeferred = isDeferred
        }
    }

    /// The nodes with everything that is known of them, by name.
    public let details: [Node]
    /// Who needs whom, sorted; no edge is there twice.
    ///
    /// What one service asks for both at once and later is one edge, which is not deferred.
    public let edges: [Edge]

    /// The names of the nodes, sorted.
    public var nodes: [String] { details.map(\.name) }

    /// A graph of nodes and edges; what only an edge names is a node too.
    ///
    /// - Parameters:
    ///   - nodes: The nodes; of several with one name the first counts.
    ///   - edges: The edges.
    public init(_ nodes: [Node] = [], edges: [Edge] = []) {
        var byName: [String: Node] = [:]
        for node in nodes where byName[node.name] == nil { byName[node.name] = node }
        for name in edges.lazy.flatMap({ [$0.from, $0.to] }) where byName[name] == nil { byName[name] = Node(name) }
        details = byName.values.sorted { $0.name < $1.name }
        let atOnce = Set(edges.filter { !$0.isDeferred })
        self.edges = Set(edges).filter { edge in
            !edge.isDeferred || !atOnce.contains(Edge(from: edge.from, to: edge.to))
        }
        .sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    }

    private enum CodingKeys: CodingKey {
        case details, edges
    }

    /// A graph that was encoded, perhaps by hand: it is completed and sorted like any other.
    ///
    /// - Parameter decoder: Reads the graph.
    /// - Throws: What the decoder throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            container.decode([Node].self, forKey: .details), edges: container.decode([Edge].self, forKey: .edges))
    }

    /// What is known of a node; nil when there is none of that name.
    ///
    /// - Parameter name: The node's name.
    public subscript(name: String) -> Node? {
        let index = details.firstIndex(reaching: name, by: \.name)
        return index < details.count && details[index].name == name ? details[index] : nil
    }

    /// The names of the services that a node asks for, sorted.
    ///
    /// - Parameter name: The node's name.
    /// - Returns: The names.
    public func dependencies(of name: String) -> [String] {
        edges[edges.firstIndex(reaching: name, by: \.from)...].prefix { $0.from == name }.map(\.to)
    }
}

extension Array {
    /// The index of the first element whose key is not below `key`, in an array that is sorted by keys; the end when
    /// there is none.
    fileprivate func firstIndex(reaching key: String, by keyOf: (Element) -> String) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if keyOf(self[middle]) < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
