import Foundation

/// A language that draws graphs.
package enum GraphFormat: String, Sendable {
    case dot, mermaid
}

/// The user's settings.
package struct Settings: Sendable {
    package static let usage = "usage: tour [DIRECTORY] [--report FILE] [--graph dot|mermaid]"

    /// The directory whose files are counted.
    var directory: URL
    /// Where the report is written.
    var report: URL
    /// How the tour's own dependency graph is written, instead of the summary; nil for the summary.
    var graph: GraphFormat?
    /// How many files are open at once.
    var concurrency = 16

    init(directory: URL = Self.defaultDirectory, report: URL = Self.defaultReport) {
        self.directory = directory
        self.report = report
    }

    /// Reads the command line, without the command's own name.
    package init(arguments: some Sequence<String>) throws {
        self.init()
        var directories: [String] = []
        var arguments = arguments.makeIterator()
        while let argument = arguments.next() {
            if argument == "--report" {
                guard let file = arguments.next() else { throw TourError.usage("--report needs a file") }
                report = URL(filePath: file)
            } else if argument == "--graph" {
                guard let format = arguments.next().flatMap(GraphFormat.init) else {
                    throw TourError.usage("--graph needs a format: dot or mermaid")
                }
                graph = format
            } else if argument.hasPrefix("-") {
                throw TourError.usage("unknown option \(argument)")
            } else {
                directories.append(argument)
            }
        }
        guard directories.count < 2 else { throw TourError.usage("one directory at a time") }
        if let directory = directories.first { self.directory = URL(filePath: directory) }
    }

    /// AsyncDI's own sources, which this file lies beside; where they are gone, the current directory.
    static var defaultDirectory: URL {
        var root = URL(filePath: #filePath)
        for _ in 1...5 { root.deleteLastPathComponent() }  // Settings.swift, TourKit, Sources, Tour, Examples
        let sources = root.appending(components: "Sources", "AsyncDI")
        let isThere = FileManager.default.fileExists(atPath: sources.path)
        return isThere ? sources : URL(filePath: FileManager.default.currentDirectoryPath)
    }

    static var defaultReport: URL {
        let process = ProcessInfo.processInfo.processIdentifier
        return FileManager.default.temporaryDirectory.appending(component: "tour-report-\(process).json")
    }
}
