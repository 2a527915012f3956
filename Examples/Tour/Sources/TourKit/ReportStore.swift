import Foundation

/// Collects the results, and writes them as JSON when it is closed.
actor ReportStore {
    private let file: URL
    private var contents: Report

    private init(file: URL, directory: String) {
        self.file = file
        contents = Report(directory: directory)
    }

    /// Opens the report; it fails at once, not after all the work, where it cannot be written.
    static func open(settings: Settings) async throws -> ReportStore {
        do {
            try Data().write(to: settings.report)
        } catch {
            throw TourError.report(settings.report.path, reason: error.localizedDescription)
        }
        return ReportStore(file: settings.report, directory: settings.directory.path)
    }

    func add(_ file: SourceFile, _ lines: LineCounts) {
        contents.files.append(Report.File(path: file.path, language: file.language.rawValue, lines: lines))
    }

    func skip(_ path: String, _ reason: SkipReason) {
        contents.skipped.append(Report.Skipped(path: path, reason: reason.rawValue))
    }

    /// Counts so far, by path.
    var report: Report {
        var report = contents
        report.files.sort { $0.path < $1.path }
        report.skipped.sort { $0.path < $1.path }
        return report
    }

    /// Writes the file: the container calls this when it is disposed.
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
