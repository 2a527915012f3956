import AsyncDI
import Foundation
import Testing

@testable import TourKit

@Suite(.timeLimit(.minutes(1)))
struct TourTests {
    private func run(_ directory: TemporaryDirectory) async throws -> Summary {
        let report = directory.url.appending(component: "report.json")
        return try await Tour(Settings(directory: directory.url, report: report)).run()
    }

    @Test
    func `hundreds of files share one report and one classifier for each language`() async throws {
        try await withTemporaryDirectory { directory in
            for number in 0..<300 {
                try directory.write("// one\n\nlet x = \(number)\n", to: "\(number % 7)/\(number).swift")
            }
            for number in 0..<50 { try directory.write("# one\r\nx = \(number)", to: "\(number).py") }

            let summary = try await run(directory)
            #expect(summary.report.files.count == 350)
            #expect(
                summary.instances == [
                    "SourceTree": 1, "ReportStore": 1, "Census": 1, "LineClassifier(Language)": 2, "OpenFile": 350,
                    "FileCensus": 350,
                ])
            #expect(summary.text.contains("2 line classifiers, one for each language, served 350 files."))
            #expect(summary.text.contains("350 files opened, each closed by the scope that counted it."))
            #expect(summary.problems.isEmpty)
            #expect(summary.text.contains("Swift       300   300      300    300"))
            #expect(summary.text.contains("Python       50    50       50      0"))

            // The report is on disk, because the container has been disposed.
            let json = try Data(contentsOf: summary.location)
            #expect(try JSONDecoder().decode(Report.self, from: json) == summary.report)
        }
    }

    @Test
    func `a test replaces the report, and nothing is written`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("let x = 1\n", to: "a.swift")
            try directory.write(Data([0xFF, 0x0A]), to: "b.swift")
            let report = MemoryReport()
            let settings = Settings(directory: directory.url, report: URL(filePath: "/nowhere/report.json"))
            let tour = Tour(
                settings,
                overrides: Registrations {
                    Registration((any ReportStore).self, lifetime: .singleton) { _ in report }
                        .onDispose { report in try await report.close() }
                })
            let summary = try await tour.run()
            #expect(summary.report.files.map(\.path) == ["a.swift"])
            #expect(await report.skipped == ["b.swift"])
            #expect(await report.isClosed)
        }
    }

    @Test
    func `every registration is complete, and the graph of a run is drawn`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("let x = 1\n", to: "a.swift")
            var settings = Settings(directory: directory.url, report: directory.url.appending(component: "report.json"))
            try await Tour(settings).validate()

            settings.graph = .mermaid
            let graph = try #require(try await Tour(settings).run().graph)
            #expect(graph.hasPrefix("flowchart LR\n"))
            #expect(graph.contains("FileCensus<br/>scoped"))
            settings.graph = .dot
            #expect(try await Tour(settings).run().graph?.hasPrefix("digraph") == true)
        }
    }

    @Test
    func `an empty directory gives an empty report`() async throws {
        try await withTemporaryDirectory { directory in
            let summary = try await run(directory)
            #expect(summary.report.files.isEmpty)
            #expect(summary.instances == ["SourceTree": 1, "ReportStore": 1, "Census": 1])
            #expect(summary.text.contains("Total         0     0        0      0"))
        }
    }

    @Test
    func `a file that is not UTF-8 is reported and skipped`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("x\n", to: "a.swift")
            try directory.write(Data([0x78, 0x0A, 0xFF, 0xFE, 0x0A]), to: "b.swift")
            try directory.write("x\ny\n", to: "c.swift")
            let summary = try await run(directory)
            #expect(summary.report.files.map(\.path) == ["a.swift", "c.swift"])
            #expect(summary.report.skipped == [Report.Skipped(path: "b.swift", reason: "is not UTF-8")])
            #expect(summary.problems == ["skipped b.swift: it is not UTF-8"])
        }
    }

    @Test(.disabled(if: geteuid() == 0, "root reads everything"))
    func `an unreadable file is reported and skipped`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("x\n", to: "a.swift")
            try directory.write("x\n", to: "b.swift")
            let file = directory.url.appending(path: "b.swift").path
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file)
            let summary = try await run(directory)
            #expect(summary.report.files.map(\.path) == ["a.swift"])
            #expect(summary.problems == ["skipped b.swift: it cannot be read"])
        }
    }

    @Test
    func `a file that has gone cannot be opened`() {
        let file = SourceFile(url: URL(filePath: "/nowhere/a.swift"), path: "a.swift", language: .swift)
        #expect(throws: SkipReason.unreadable) { try OpenFile(file) }
    }

    @Test
    func `a large file is read in parts, and an endless line is refused`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write(String(repeating: "let größe = 1\n\n", count: 100_000), to: "large.swift")
            try directory.write(Data(repeating: 0x78, count: 17 * 1024 * 1024), to: "line.swift")
            let summary = try await run(directory)
            #expect(summary.report.files.map(\.lines) == [LineCounts(code: 100_000, comment: 0, blank: 100_000)])
            #expect(summary.problems == ["skipped line.swift: it has a line of more than 16 MiB"])
        }
    }

    @Test
    func `a missing directory fails before a report is written`() async throws {
        try await withTemporaryDirectory { directory in
            let report = directory.url.appending(path: "report.json")
            let settings = Settings(directory: directory.url.appending(path: "missing"), report: report)
            await #expect(throws: TourError.self) { try await Tour(settings).run() }
            #expect(!FileManager.default.fileExists(atPath: settings.report.path))
        }
    }

    @Test
    func `a report that cannot be written fails at the beginning`() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("x\n", to: "a.swift")
            let report = directory.url.appending(path: "missing/report.json")
            let settings = Settings(directory: directory.url, report: report)
            await #expect(throws: TourError.self) { try await Tour(settings).run() }
        }
    }
}
