import Foundation

/// The unit of work: counts one file and adds the result to the report.
///
/// It lives in a scope of its own, together with the open file.
final class FileCensus: Sendable {
    private static let longestLine = 16 * 1024 * 1024

    private let file: SourceFile
    private let input: OpenFile
    private let classifier: LineClassifier
    private let report: any ReportStore

    init(file: SourceFile, input: OpenFile, classifier: LineClassifier, report: any ReportStore) {
        self.file = file
        self.input = input
        self.classifier = classifier
        self.report = report
    }

    func run() async throws {
        await report.add(file, try await count())
    }

    private func count() async throws -> LineCounts {
        var counts = LineCounts()
        var state = LineClassifier.State.code
        var unfinished: [UInt8] = []
        while let block = try await input.read() {
            var lines = block.split(separator: .lineFeed, omittingEmptySubsequences: false)
            let last = lines.removeLast()
            for line in lines {
                unfinished += line
                counts.add(try kind(of: unfinished[...], after: &state))
                unfinished.removeAll(keepingCapacity: true)
            }
            // The text after the last line break may go on in the next block.
            unfinished += last
            guard unfinished.count < Self.longestLine else { throw SkipReason.lineTooLong }
        }
        // A line break ends a line; it does not begin another one at the end of the file.
        if !unfinished.isEmpty { counts.add(try kind(of: unfinished[...], after: &state)) }
        return counts
    }

    private func kind(of line: ArraySlice<UInt8>, after state: inout LineClassifier.State) throws -> LineCounts.Kind {
        // A line break is never part of another character, so each line can be looked at by itself.
        guard String(validating: line, as: UTF8.self) != nil else { throw SkipReason.notUTF8 }
        return classifier.classify(line, after: &state)
    }
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
}
