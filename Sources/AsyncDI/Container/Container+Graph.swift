extension Container {
    /// Shares one graph among several requests: their graph instances are the same.
    ///
    /// ```swift
    /// try await container.withGraph { resolver in
    ///     let editor = try await resolver.resolve(Editor.self)
    ///     let toolbar = try await resolver.resolve(Toolbar.self)  // on the same Document
    ///     toolbar.attach(to: editor)
    /// }
    /// ```
    /// - Parameters:
    ///   - identifier: The identifier of the graph; nil for a new graph.
    ///   - body: Receives the resolver that shares the graph; isolated like the code around it.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public nonisolated(nonsending) func withGraph<R>(
        _ identifier: GraphIdentifier? = nil, _ body: (Resolver) async throws -> sending R
    ) async throws -> sending R {
        let outside = resolver
        let shared = identifier?.graph ?? ResolutionGraph()
        let graph = outside.graph?.outlived.map { ResolutionGraph(shared, outliving: $0.scopes) } ?? shared
        graph.enter()
        defer { graph.leave() }
        return try await body(Resolver(host: outside.host, run: nil, graph: graph))
    }
}
