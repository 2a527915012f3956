import Foundation

/// Collects the results of the census.
protocol ReportStore: Sendable {
    func add(_ file: SourceFile, _ lines: LineCounts) async
    func skip(_ path: String, _ reason: SkipReason) async
    /// The counts so far, by path.
    var report: Report { get async }
    /// Saves the report: the container calls this when it is disposed.
    func close() async throws
}

/// Writes the results as JSON when it is closed.
actor JSONReportStore: ReportStore {
    private let file: URL
    private var contents: Report

    private init(file: URL, directory: String) {
        self.file = file
        contents = Report(directory: directory)
    }

    /// Opens the report, and fails at once, not after all the work, where it cannot be written.
    ///
    /// It takes the directory, although it needs only its name: so there is no report of a directory that does not
    /// exist.
    static func open(settings: Settings, tree: SourceTree) async throws -> any ReportStore {
        do {
            // An earlier report is kept until the tour ends.
            if !FileManager.default.fileExists(atPath: settings.report.path) { try Data().write(to: settings.report) }
            try FileHandle(forWritingTo: settings.report).close()
        } catch {
            throw TourError.report(settings.report.path, reason: error.localizedDescription)
        }
        return JSONReportStore(file: settings.report, directory: tree.root.path)
    }

    func add(_ file: SourceFile, _ lines: LineCounts) {
        contents.files.append(Report.File(path: file.path, language: file.language.rawValue, lines: lines))
    }

    func skip(_ path: String, _ reason: SkipReason) {
        contents.skipped.append(Report.Skipped(path: path, reason: reason.rawValue))
    }

    var report: Report {
        var report = contents
        report.files.sort { $0.path < $1.path }
        report.skipped.sort { $0.path < $1.path }
        return report
    }

    func close() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try encoder.encode(report).write(to: file, options: .atomic)
        } catch {
            throw TourError.report(file.path, reason: error.localizedDescription)
        }
    }
}
