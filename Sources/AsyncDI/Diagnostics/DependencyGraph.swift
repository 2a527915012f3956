/// The dependencies between services: recorded by a container, or declared by its registrations.
///
/// A value to inspect in a test, to draw with ``dot()`` or ``mermaid()``, or to keep: it is `Codable`.
/// ```swift
/// await container.startRecording()
/// _ = try await container.resolve(Editor.self)
/// let graph = await container.dependencyGraph()
/// print(graph.mermaid())
/// ```
/// Nodes and edges are sorted: equal graphs are equal values and texts, whatever the order of events.
public struct DependencyGraph: Sendable, Codable, Hashable {
    /// A registration, or one group of contributions.
    public struct Node: Sendable, Codable, Hashable {
        /// The name of the node, which no other node of the graph has.
        public var name: String
        /// The service as it is requested: the name, unless several registrations have that name.
        public var service: String
        /// The name of the lifetime, `instance` or `making` for registrations of those kinds; nil for a node without a
        /// factory, such as a group of contributions or a value that scopes supply.
        public var lifetime: String?
        /// The container that holds the registration: its name, `root`, or `scope of` another one.
        ///
        /// Scopes of one container count as one owner, and so do containers with the same name.
        public var owner: String?
        /// The file and line of the registration.
        public var site: String?
        /// The number of instances created while the container was recording.
        public var creations: Int
        /// The number of failed runs of the factory.
        public var failures: Int
        /// The total time of all runs of the factory and its hooks, by the container's clock, including waits.
        public var duration: Duration
        /// Whether the graph was declared and this registration may resolve more than it declares: a closure without
        /// ``Registration/dependencies(_:)``, or a decorated service.
        public var isOpaque: Bool
        /// Whether the service is created at start-up: see ``Registration/eager()``.
        public var isEager: Bool

        /// Creates a node.
        ///
        /// - Parameters:
        ///   - name: The name of the node in the graph.
        ///   - service: The service as it is requested; the name when nil.
        ///   - lifetime: The name of the lifetime.
        ///   - owner: The container that holds the registration.
        ///   - site: The file and line of the registration.
        ///   - creations: The number of instances created.
        ///   - failures: The number of failed runs of the factory.
        ///   - duration: The total time of all runs.
        ///   - isOpaque: Whether the registration may resolve more than it declares.
        ///   - isEager: Whether the service is created at start-up.
        public init(
            _ name: String, service: String? = nil, lifetime: String? = nil, owner: String? = nil, site: String? = nil,
            creations: Int = 0, failures: Int = 0, duration: Duration = .zero, isOpaque: Bool = false,
            isEager: Bool = false
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
            self.isEager = isEager
        }
    }

    /// A dependency of one service on another.
    public struct Edge: Sendable, Codable, Hashable {
        /// The name of the node that depends on the other.
        public var from: String
        /// The name of the node that it depends on.
        public var to: String
        /// Whether the dependency is resolved later, through a ``Lazy``, a ``Provider`` or the hooks of a registration
        /// with `.injectProperties`: such an edge closes no cycle.
        public var isDeferred: Bool

        /// Creates an edge.
        ///
        /// - Parameters:
        ///   - from: The name of the node that depends on the other.
        ///   - to: The name of the node that it depends on.
        ///   - isDeferred: Whether it is resolved later.
        public init(from: String, to: String, isDeferred: Bool = false) {
            self.from = from
            self.to = to
            self.isDeferred = isDeferred
        }
    }

    /// The nodes with their details, sorted by name.
    public let details: [Node]
    /// The dependencies, sorted; each occurs once.
    ///
    /// A dependency that is resolved both at once and later is one edge, which is not deferred.
    public let edges: [Edge]

    /// The names of the nodes, sorted.
    public var nodes: [String] { details.map(\.name) }

    /// Creates a graph of nodes and edges; a name that occurs only in an edge becomes a node too.
    ///
    /// - Parameters:
    ///   - nodes: The nodes; of several with one name, the first is used.
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

    /// Decodes a graph, perhaps written by hand, and completes and sorts it like any other.
    ///
    /// - Parameter decoder: Reads the graph.
    /// - Throws: The decoder's error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            container.decode([Node].self, forKey: .details), edges: container.decode([Edge].self, forKey: .edges))
    }

    /// The node of that name, or nil.
    ///
    /// - Parameter name: The node's name.
    public subscript(name: String) -> Node? {
        let index = details.firstIndex(reaching: name, by: \.name)
        return index < details.count && details[index].name == name ? details[index] : nil
    }

    /// The names of a node's dependencies, sorted.
    ///
    /// - Parameter name: The node's name.
    /// - Returns: The names.
    public func dependencies(of name: String) -> [String] {
        edges[edges.firstIndex(reaching: name, by: \.from)...].prefix { $0.from == name }.map(\.to)
    }
}

extension Array {
    /// The index of the first element whose key is not below `key`, in an array sorted by keys; the end index without
    /// such an element.
    fileprivate func firstIndex(reaching key: String, by keyOf: (Element) -> String) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if keyOf(self[middle]) < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
