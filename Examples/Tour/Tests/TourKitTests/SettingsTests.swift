import Foundation
import Testing

@testable import TourKit

@Suite(.timeLimit(.minutes(1)))
struct SettingsTests {
    @Test
    func `a directory and a report`() throws {
        let settings = try Settings(arguments: ["/some/where", "--report", "/tmp/report.json"])
        #expect(settings.directory.path == "/some/where")
        #expect(settings.report.path == "/tmp/report.json")
    }

    @Test
    func `a graph, in one of two formats`() throws {
        #expect(try Settings(arguments: ["--graph", "dot"]).graph == .dot)
        #expect(try Settings(arguments: ["--graph", "mermaid"]).graph == .mermaid)
        #expect(try Settings(arguments: []).graph == nil)
    }

    @Test
    func `AsyncDI's own sources by default`() throws {
        let settings = try Settings(arguments: [])
        #expect(settings.directory.path.hasSuffix("/Sources/AsyncDI"))
        #expect(FileManager.default.fileExists(atPath: settings.directory.path))
    }

    @Test(arguments: [["--report"], ["--graph"], ["--graph", "png"], ["--what"], ["a", "b"]])
    func `mistakes are told in one line`(arguments: [String]) {
        let error = #expect(throws: TourError.self) { try Settings(arguments: arguments) }
        #expect(error?.description.contains("usage: tour") == true)
    }
}
