import AsyncDI
import AsyncDITesting
import Foundation
import Testing

@testable import TourKit

private let settings = Settings(
    directory: FileManager.default.temporaryDirectory,
    report: FileManager.default.temporaryDirectory.appending(component: "tour-\(UUID().uuidString).json"))

/// The Tour's registrations, each test with a container of its own.
@Suite(
    .timeLimit(.minutes(1)),
    .container {
        ReportModule(settings: settings)
        FileModule()
    })
struct ModuleTests {
    /// A changed dependency is a changed line of the file, which `ASYNCDI_REWRITE_GRAPHS=1 swift test` writes.
    @Test
    func `the wiring is complete, and the one in the repository`() async throws {
        try await expectWiring()
        try await expectGraph(matches: "Wiring.json")
    }

    @Test(
        .container { Registration(instance: Settings(directory: URL(filePath: "/nowhere"), report: settings.report)) })
    func `a directory that is missing is refused`() async throws {
        await #expect(throws: TourError.self) { try await Container.test.resolve(SourceTree.self) }
    }

    @Test
    func `a classifier is made once for each language`() async throws {
        let container = try Container.test
        for language in [Language.swift, .python, .swift] {
            _ = try await container.resolve(LineClassifier.self, arguments: language)
        }
        let created = try await container.events.all().filter { $0.kind == .created }
        #expect(created.count == 2)
    }
}
