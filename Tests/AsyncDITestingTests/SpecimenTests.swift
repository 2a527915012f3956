import Foundation
import Testing

/// The reports, as the testing library hands them on: the specimens are run by a process of their own, and what it reports
/// is compared with what their lines say.
@Suite(.timeLimit(.minutes(10)), .enabled(if: !Specimens.areEnabled))
struct SpecimenTests {
    /// Line, and a part of a message.
    struct Finding: Hashable, CustomStringConvertible {
        let line: Int
        let text: String
        var isWarning = false
        var description: String { "line \(line): \(text)" }
    }

    @Test func `every report comes at its line, once, and nothing else is reported`() async throws {
        var (found, failed) = try await reports()
        for expected in try expectations() {
            let matches = found.filter { $0.line == expected.line && $0.text.contains(expected.text) }
            #expect(matches.count == 1, "\(expected)")
            for match in matches { #expect(match.isWarning == expected.isWarning, "\(expected)") }
            found.removeAll { matches.contains($0) }
        }
        #expect(found.filter { !$0.text.contains("TestError") }.isEmpty)
        // A warning fails no test.
        #expect(!failed.contains("an unused override"))
        #expect(failed.isSuperset(of: ["overrides of nothing", "a hook that throws", "a test that fails by itself"]))
    }

    /// The expectations in the lines of the specimens.
    private func expectations() throws -> [Finding] {
        let source = try String(contentsOfFile: Specimens.file, encoding: .utf8)
        var findings: [Finding] = []
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard let mark = line.range(of: "  // reports "), let colon = line[mark.upperBound...].range(of: ": ")
            else {
                continue
            }
            findings.append(
                Finding(
                    line: index + 1, text: String(line[colon.upperBound...]),
                    isWarning: line[mark.upperBound...].hasPrefix("unusedOverride")))
        }
        #expect(findings.count >= 12)
        return findings
    }

    /// Runs the specimens: their reports, and the names of the tests that failed.
    private func reports() async throws -> (findings: [Finding], failed: Set<String>) {
        let output = FileManager.default.temporaryDirectory.appending(component: "specimens-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: output) }
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        // Under macOS a helper loads the tests: its arguments stay, but for those that select tests.
        var arguments = Array(CommandLine.arguments.dropFirst())
        while let index = arguments.firstIndex(where: { ["--filter", "--skip", "--xunit-output"].contains($0) }) {
            arguments.removeSubrange(index..<min(index + 2, arguments.count))
        }
        process.arguments =
            arguments + [
                "--testing-library", "swift-testing", "--filter", "ReportSpecimens", "--event-stream-output-path",
                output.path, "--event-stream-version", "6.3",
            ]
        process.environment = ProcessInfo.processInfo.environment.merging([Specimens.variable: "1"]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // Without a thread of the pool of tasks, which other tests need.
        let (ends, end) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        for await _ in ends {}
        try #require(!process.isRunning)
        #expect(process.terminationStatus != 0)

        var findings: [Finding] = []
        var failed: Set<String> = []
        for line in try String(contentsOf: output, encoding: .utf8).split(separator: "\n") {
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let payload = json?["payload"] as? [String: Any], let kind = payload["kind"] as? String else {
                continue
            }
            let texts = (payload["messages"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
            if kind == "issueRecorded", let issue = payload["issue"] as? [String: Any] {
                let place = issue["sourceLocation"] as? [String: Any]
                findings.append(
                    Finding(
                        line: place?["line"] as? Int ?? 0, text: texts.joined(separator: "\n"),
                        isWarning: issue["severity"] as? String == "warning" || issue["isFailure"] as? Bool == false))
            }
            if kind == "testEnded", texts.contains(where: { $0.contains(" failed after ") }),
                let name = texts.first?.split(separator: "\"").dropFirst().first
            {
                failed.insert(String(name))
            }
        }
        return (findings, failed)
    }
}
