public import AsyncDI
public import Testing

/// Expects the declared graph of a container to equal the one in a file of the repository.
///
/// ```swift
/// @Test func `dependencies change only where a reviewer sees it`() async throws {
///     try await expectWiring()
///     try await expectGraph(matches: "Wiring.json")
/// }
/// ```
/// Each registration and each edge that differs is a line of the issue. With the environment variable
/// `ASYNCDI_REWRITE_GRAPHS=1` the file is written instead, and the change is in the diff of the commit. The file
/// contains the `DependencyGraph.contract`, which has no source locations: moving a registration is no difference.
///
/// - Parameters:
///   - file: The file, relative to the folder of the test, or an absolute path.
///   - container: The container; nil for that of the current test.
///   - sourceLocation: The source location of the expectation.
/// - Throws: ``TestContainerError/noTestContainer``; `ResolutionError` with the code `disposed`; an error of the system
///   when the file cannot be read or written.
public nonisolated(nonsending) func expectGraph(
    matches file: String, of container: Container? = nil, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let container = try container ?? Container.test
    let graph = try await container.declaredGraph().contract
    let mustRewrite = environment("ASYNCDI_REWRITE_GRAPHS").map { $0 != "" && $0 != "0" } ?? false
    let finding = try GraphFile(file, beside: sourceLocation.filePath).compare(with: graph, mustRewrite: mustRewrite)
    if let finding { Issue.record(Comment(rawValue: finding), sourceLocation: sourceLocation) }
}

/// A file with a graph.
struct GraphFile {
    let path: String

    init(_ file: String, beside source: String) {
        let folder = source.lastIndex(of: "/").map { source[...$0] } ?? ""
        path = file.hasPrefix("/") ? file : folder + file
    }

    /// Returns the text of the issue; nil when the graphs are equal, or the file was rewritten.
    func compare(with graph: DependencyGraph, mustRewrite: Bool) throws -> String? {
        let advice = "To accept the graph, run the test with ASYNCDI_REWRITE_GRAPHS=1, and commit the file."
        let text = try TextFile.read(path)
        if mustRewrite {
            if text != graph.json() { try TextFile.write(graph.json(), to: path) }
            return nil
        }
        guard let text else { return "\(path) does not exist. \(advice)" }
        let earlier: DependencyGraph
        do {
            earlier = try DependencyGraph(from: JSONValue(parsing: text))
        } catch {
            return "\(path) has no graph in it: \(error) \(advice)"
        }
        let difference = graph.difference(from: earlier)
        if difference.isEmpty { return nil }
        return "The declared graph differs from \(path):\n\(difference)\n\(advice)"
    }
}

extension DependencyGraph {
    init(from json: JSONValue) throws(JSONValue.Mistake) {
        func text(_ value: JSONValue, _ key: String) throws(JSONValue.Mistake) -> String {
            guard let text = value[key]?.text else { throw JSONValue.Mistake("A node or edge has no \(key).") }
            return text
        }
        guard let details = json["details"]?.elements, let edges = json["edges"]?.elements else {
            throw JSONValue.Mistake("It must have details and edges.")
        }
        var nodes: [Node] = []
        for node in details {
            nodes.append(
                Node(
                    try text(node, "name"), service: node["service"]?.text, lifetime: node["lifetime"]?.text,
                    owner: node["owner"]?.text, isOpaque: node["isOpaque"]?.isTrue ?? false,
                    isEager: node["isEager"]?.isTrue ?? false))
        }
        var ends: [Edge] = []
        for edge in edges {
            ends.append(
                Edge(
                    from: try text(edge, "from"), to: try text(edge, "to"),
                    isDeferred: edge["isDeferred"]?.isTrue ?? false))
        }
        self.init(nodes, edges: ends)
    }
}
