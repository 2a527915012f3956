import Foundation

/// Summary that is printed at the end.
package struct Summary: Sendable {
    let report: Report
    let factoryRuns: [String: Int]
    let location: URL
    /// Which service needed which, in the format asked for.
    package let graph: String?

    /// A line for each file or directory that was left out.
    package var problems: [String] {
        report.skipped.map { "skipped \($0.path): it \($0.reason)" }
    }

    /// The table by language, how often each factory ran, and where the report is.
    package var text: String {
        var languages = Table(titles: ["Language", "Files", "Code", "Comment", "Blank"])
        for language in Language.allCases {
            let files = report.files.filter { $0.language == language.rawValue }
            if !files.isEmpty { languages.add(row(language.rawValue, files)) }
        }
        languages.add(row("Total", report.files))

        var factories = Table(titles: ["Factory", "Runs"])
        for (service, runs) in factoryRuns.sorted(by: { $0.key < $1.key }) { factories.add([service, "\(runs)"]) }

        return """
            \(report.directory)

            \(languages.text)

            \(factories.text)

            Report: \(location.path)
            """
    }

    private func row(_ title: String, _ files: [Report.File]) -> [String] {
        var lines = LineCounts()
        for file in files { lines += file.lines }
        return [title, "\(files.count)", "\(lines.code)", "\(lines.comment)", "\(lines.blank)"]
    }
}
