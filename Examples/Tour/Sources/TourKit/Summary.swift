import Foundation

/// Summary that is printed at the end.
package struct Summary: Sendable {
    let report: Report
    /// How many instances of each service the container created.
    let instances: [String: Int]
    let location: URL
    /// The dependencies between services, in the format that the user chose.
    package let graph: String?

    /// A line for each file or directory that was left out.
    package var problems: [String] {
        report.skipped.map { "skipped \($0.path): it \($0.reason)" }
    }

    /// The table by language, the instances that files shared, and the path of the report.
    package var text: String {
        var languages = Table(titles: ["Language", "Files", "Code", "Comment", "Blank"])
        for language in Language.allCases {
            let files = report.files.filter { $0.language == language.rawValue }
            if !files.isEmpty { languages.add(row(language.rawValue, files)) }
        }
        languages.add(row("Total", report.files))

        return """
            \(report.directory)

            \(languages.text)

            \(sharing)

            Report: \(location.path)
            """
    }

    /// The container's work: one sentence for each lifetime.
    private var sharing: String {
        let files = counted(report.files.count + report.skipped.count, "file")
        return """
            What AsyncDI shared, and closed:
            - \(counted(instances["LineClassifier(Language)"], "line classifier")), one for each language, served \(files).
            - \(counted(instances["ReportStore"], "report")) collected every result, and was saved when the container closed.
            - \(counted(instances["OpenFile"], "file")) opened, each closed by the scope that counted it.
            """
    }

    private func counted(_ number: Int?, _ noun: String) -> String {
        "\(number ?? 0) \(noun)\(number == 1 ? "" : "s")"
    }

    private func row(_ title: String, _ files: [Report.File]) -> [String] {
        var lines = LineCounts()
        for file in files { lines += file.lines }
        return [title, "\(files.count)", "\(lines.code)", "\(lines.comment)", "\(lines.blank)"]
    }
}
