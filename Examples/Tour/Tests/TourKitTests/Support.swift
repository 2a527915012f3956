import Foundation

@testable import TourKit

/// A report that is kept in memory.
actor MemoryReport: ReportStore {
    private(set) var skipped: [String] = []
    private(set) var isClosed = false
    private var files: [Report.File] = []

    func add(_ file: SourceFile, _ lines: LineCounts) {
        files.append(Report.File(path: file.path, language: file.language.rawValue, lines: lines))
    }

    func skip(_ path: String, _ reason: SkipReason) { skipped.append(path) }

    var report: Report { Report(directory: "memory", files: files) }

    func close() { isClosed = true }
}

/// A directory that exists as long as a test needs it.
struct TemporaryDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(component: "tour-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func write(_ text: String, to path: String) throws {
        try write(Data(text.utf8), to: path)
    }

    func write(_ data: Data, to path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}

func withTemporaryDirectory<Result>(_ body: (TemporaryDirectory) async throws -> Result) async throws -> Result {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    return try await body(directory)
}
