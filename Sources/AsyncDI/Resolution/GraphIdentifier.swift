/// A graph of instances that are shared within one resolution, which later requests can enter again.
///
/// A factory can resolve the graph that it is part of; the identifier leads back to the same instances later,
/// as long as references to them exist.
/// ```swift
/// Registration(Editor.self) { r in Editor(graph: try await r.resolve(GraphIdentifier.self)) }
///
/// try await container.withGraph(editor.graph) { resolver in
///     let document = try await resolver.resolve(Document.self)  // the editor's own
///     print(document.title)
/// }
/// ```
/// The identifier does not hold the instances.
public struct GraphIdentifier: Hashable, Sendable {
    let graph: ResolutionGraph

    init(_ graph: ResolutionGraph) {
        self.graph = graph.itself
        graph.keep()
    }

    /// Creates a new, empty graph.
    public init() { self.init(ResolutionGraph()) }

    /// Whether the two are the same graph.
    public static func == (first: GraphIdentifier, second: GraphIdentifier) -> Bool { first.graph === second.graph }

    /// Hashes the graph's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(graph)) }
}

extension GraphIdentifier: WrapperType {
    static var need: WrapperNeed { .nothing }
    static func isAvailable(for request: Request) -> Bool { true }

    static func ready(for request: Request) throws -> Any? {
        GraphIdentifier(request.graph ?? request.asker?.graph ?? ResolutionGraph())
    }
}
