public import AsyncDI
import Foundation
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
///   - sourceLocation: The source location of the expectation; nil for that of the call.
///   - fileID: The file of the call.
///   - filePath: The path of that file.
///   - line: The line of the call.
///   - column: The column of the call.
/// - Throws: ``TestContainerError/noTestContainer``; `ResolutionError` with the code `disposed`; an error of the system
///   when the file cannot be read or written; outside Swift Testing, as in XCTest, the differences as
///   ``TestContainerError/unreported(findings:)``.
public nonisolated(nonsending) func expectGraph(
    matches file: String, of container: Container? = nil, sourceLocation: SourceLocation? = nil,
    // Not `#_sourceLocation`, which a file that imports XCTest alone does not find.
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) async throws {
    let place = sourceLocation ?? SourceLocation(checkedFileID: fileID, filePath: filePath, line: line, column: column)
    let container = try container ?? Container.test
    let graph = try await container.declaredGraph().contract
    let mustRewrite = ProcessInfo.processInfo.environment["ASYNCDI_REWRITE_GRAPHS"] == "1"
    let finding = try GraphFile(file, beside: place.filePath).compare(with: graph, mustRewrite: mustRewrite)
    guard let finding else { return }
    if Test.current == nil { throw TestContainerError.unreported(findings: [finding]) }
    Issue.record(Comment(rawValue: finding), sourceLocation: place)
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
        let exists = FileManager.default.fileExists(atPath: path)
        let data = exists ? try Data(contentsOf: URL(filePath: path)) : nil
        if mustRewrite {
            let text = Data(graph.json().utf8)
            if data != text { try text.write(to: URL(filePath: path)) }
            return nil
        }
        guard let data else { return "\(path) does not exist. \(advice)" }
        let earlier: DependencyGraph
        do {
            earlier = try JSONDecoder().decode(DependencyGraph.self, from: data)
        } catch {
            return "\(path) has no graph in it: \(error) \(advice)"
        }
        let difference = graph.difference(from: earlier)
        if difference.isEmpty { return nil }
        return "The declared graph differs from \(path):\n\(difference)\n\(advice)"
    }
}
