import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LayerTests {
    @Test
    func `only the composition imports AsyncDI`() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardizedFileURL
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        let importing = try files.filter {
            try String(contentsOf: sources.appending(path: $0), encoding: .utf8).contains("import AsyncDI")
        }
        #expect(!importing.isEmpty)
        #expect(importing.allSatisfy { $0.hasPrefix("NotesComposition/") })
    }
}
