public import AsyncDI
public import Testing

/// Expects the registrations of a container to be complete and consistent, without running a factory.
///
/// ```swift
/// @Test(.container { AppModule() })
/// func `the application is wired`() async throws {
///     try await expectWiring()
/// }
/// ```
/// Each problem of `Container.validate()` is an issue, at the line of its registration.
///
/// - Parameters:
///   - container: The container; nil for that of the current test.
///   - sourceLocation: The source location for problems without a registration; nil for that of the call.
///   - fileID: The file of the call.
///   - filePath: The path of that file.
///   - line: The line of the call.
///   - column: The column of the call.
/// - Throws: ``TestContainerError/noTestContainer``; `ResolutionError` with the code `disposed`; outside Swift Testing,
///   as in XCTest, the problems as ``TestContainerError/unreported(findings:)``.
public nonisolated(nonsending) func expectWiring(
    of container: Container? = nil, sourceLocation: SourceLocation? = nil,
    // Not `#_sourceLocation`, which a file that imports XCTest alone does not find.
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) async throws {
    let place = sourceLocation ?? SourceLocation(checkedFileID: fileID, filePath: filePath, line: line, column: column)
    let container = try container ?? Container.test
    let lines = TestContainer.current?.session?.attributeLines ?? AttributeLines()
    let problems = try await container.validationReport().problems
    if Test.current == nil, !problems.isEmpty {
        throw TestContainerError.unreported(findings: problems.map { "\($0)" })
    }
    for problem in problems {
        // The last registration of the path: what is missing has none.
        let last = Array(zip(problem.path, problem.sites)).last { $0.1 != nil }
        let site = last.flatMap { lines.site(of: $0, at: $1) }
        let location = site.map { SourceFiles.location(of: $0, near: place) } ?? place
        Issue.record("\(problem)", sourceLocation: location)
    }
}
