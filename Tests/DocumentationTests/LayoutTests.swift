import Foundation
import Synchronization
import Testing

/// The shape of the sources: which folder may name which, how long files are, and what must be explained.
///
/// One test after the other: a folder is read once.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LayoutTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The modules that users import.
    private static let modules = ["AsyncDI", "AsyncDITesting", "AsyncDIWiring"]

    /// Every source of a module.
    private static func sources(_ module: String = "AsyncDI") throws -> [SourceFile] {
        try sources(in: "Sources/\(module)")
    }

    /// The sources of the folders that were read, because the scanner takes most of the suite's time.
    private static let read = Mutex<[String: [SourceFile]]>([:])

    private static func sources(in path: String) throws -> [SourceFile] {
        if let sources = read.withLock({ $0[path] }) { return sources }
        let sources = try scannedSources(in: path)
        read.withLock { $0[path] = sources }
        return sources
    }

    private static func scannedSources(in path: String) throws -> [SourceFile] {
        let folder = root.appending(path: path)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            SourceFile(path: path, text: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
        }
    }

    @Test func `there are sources to look at`() throws {
        let sources = try Self.sources()
        #expect(sources.count > 30)
        #expect(
            Set(sources.map(\.folder)).isSuperset(of: ["Container", "Registration", "Resolution", "Keys", "Support"]))
    }

    @Test func `a folder names only types of folders further right`() throws {
        let violations = SourceFile.violations(in: try Self.sources())
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test(arguments: modules) func `no file is longer than 350 lines`(module: String) throws {
        let long = try Self.sources(module).filter { $0.lineCount > 350 }
        #expect(long.isEmpty, "\(long.map { "\($0.path): \($0.lineCount)" })")
    }

    @Test(arguments: [
        "Tests/AsyncDITests", "Tests/AsyncDITestingTests", "Tests/AsyncDIWiringTests", "Tests/DocumentationTests",
        "StressTests",
    ])
    func `no file of tests is longer than 400 lines`(folder: String) throws {
        let sources = try Self.sources(in: folder)
        #expect(!sources.isEmpty)
        let long = sources.filter { $0.lineCount > 400 }
        #expect(long.isEmpty, "\(long.map { "\($0.path): \($0.lineCount)" })")
    }

    @Test(arguments: modules) func `no comment is wider than 120 columns`(module: String) throws {
        for file in try Self.sources(module) {
            for line in file.comments.split(separator: "\n") where line.count > 120 {
                // Code is blank here.
                let width = line.lastIndex { $0 != " " }.map { line[...$0].count } ?? 0
                #expect(width <= 120, "\(file.path): \(line)")
            }
        }
    }

    @Test(arguments: modules) func `every unsafe word has its reason beside it`(module: String) throws {
        let sources = try Self.sources(module)
        #expect(sources.count > 5)
        let unexplained = sources.flatMap(\.unexplainedUnsafeWords)
        #expect(unexplained.isEmpty, "\(unexplained.joined(separator: "\n"))")
    }

    @Test(arguments: modules) func `no result of a locked step is discarded`(module: String) throws {
        let discarded = try Self.sources(module).flatMap(\.discardedResultsOfLockedSteps)
        #expect(discarded.isEmpty, "released under the lock, when optimized: \(discarded.joined(separator: "\n"))")
    }

    @Test func `nothing imports Foundation`() throws {
        for source in try Self.sources() { #expect(!source.imports("Foundation"), "\(source.path)") }
    }

    @Test func `the modules beside the library import little, and nothing unsafe of the library`() throws {
        for (module, allowed) in [
            ("AsyncDITesting", ["AsyncDI", "Foundation", "Testing"]), ("AsyncDIWiring", ["AsyncDI", "Foundation"]),
        ] {
            for source in try Self.sources(module) {
                #expect(source.imported.isSubset(of: allowed), "\(module)/\(source.path)")
                #expect(
                    !source.code.contains("@testable") && !source.code.contains("@_spi"), "\(module)/\(source.path)")
            }
        }
    }

    @Test(arguments: ["Tests/AsyncDITests", "StressTests"])
    func `tests that ThreadSanitizer watches use no lock that it cannot see`(folder: String) throws {
        let sources = try Self.sources(in: folder)
        #expect(sources.count > 10)
        // A contended `Mutex` waits inside the standard library, which is not instrumented: false races.
        for source in sources { #expect(!source.mentions("Mutex"), "\(source.path)") }
    }

    @Test func `the package depends on no other`() throws {
        let manifest = SourceFile(
            path: "Package.swift",
            text: try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8))
        #expect(!manifest.code.contains(".package("))
        #expect(manifest.code.contains("products:"), "this is the manifest")
    }
}
