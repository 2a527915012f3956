import AsyncDI
import Foundation
import Testing

/// The package's documentation and the code that is compiled with these tests.
enum Documents {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// README and every page of the documentation catalogs.
    static func pages() throws -> [(name: String, text: String)] {
        let pages = try files(in: "Sources", endingIn: ".md") + ["README.md"]
        return try pages.map { ($0, try text(of: $0)) }
    }

    /// The Swift examples in the doc comments of the three modules, each in parts.
    static func docExamples() throws -> [(name: String, parts: [[String]])] {
        try files(in: "Sources", endingIn: ".swift").flatMap { name in
            try Markdown.docExamples(of: text(of: name)).map { (name, $0) }
        }
    }

    /// The code that these tests, `.ci/check-wiring` and the tests of `Exploration` compile, as lines.
    static func compiledFiles() throws -> [[String]] {
        try [
            "Tests/DocumentationTests", "Tests/CallSiteTests", "Tests/MainActorCallSiteTests",
            "Tests/WiringApplications/Sources", "Exploration/Tests",
        ]
        .flatMap { try files(in: $0, endingIn: ".swift") }
        .map { try Markdown.lines(text(of: $0)) }
    }

    /// The code that `.ci/check-apple-ui` compiles against its stand-ins, as lines: that of the ``appleGuides``.
    static func appleClient() throws -> [[String]] { [Markdown.lines(try text(of: ".ci/stand-ins/Client.swift"))] }

    /// The guides whose code needs frameworks that are not everywhere.
    static let appleGuides: Set = [
        "Sources/AsyncDI/AsyncDI.docc/Guides/SwiftUIAndUIKit.md",
        "Sources/AsyncDI/AsyncDI.docc/Guides/AppFromLaunchToScreen.md",
    ]

    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path())
    }

    private static func files(in folder: String, endingIn suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path())
            .filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
    }
}

/// The parts of a page that the checks need.
enum Markdown {
    /// A fenced block of a page.
    struct Block: Sendable {
        /// The word after the opening fence: `swift`, `text` or none.
        let language: String
        let lines: [String]
    }

    /// A link of a page to a file.
    struct Link: Sendable {
        let label: String
        let target: String
    }

    /// The lines that are not blank, with white space as single spaces.
    static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
    }

    /// The fenced blocks of a page.
    static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        var open: (language: String, lines: [String])?
        for line in lines(text) {
            if let (language, lines) = open {
                open = line.hasPrefix("```") ? nil : (language, lines + [line])
                if open == nil { blocks.append(Block(language: language, lines: lines)) }
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            }
        }
        if let (language, lines) = open { blocks.append(Block(language: language, lines: lines)) }
        return blocks
    }

    /// The Swift blocks in the doc comments of a source file, each in its parts.
    ///
    /// A blank line ends a part: a declaration and its use stand in different places of a test.
    static func docExamples(of source: String) -> [[[String]]] {
        var examples: [[[String]]] = []
        var open: (isSwift: Bool, parts: [[String]])?
        for line in source.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            guard line.hasPrefix("///") else {
                open = nil
                continue
            }
            let content = lines(String(line.dropFirst(3))).joined()
            if let (isSwift, parts) = open {
                if content.hasPrefix("```") {
                    if isSwift { examples.append(parts.filter { !$0.isEmpty }) }
                    open = nil
                } else if content.isEmpty {
                    open = (isSwift, parts + [[]])
                } else {
                    open = (isSwift, parts.dropLast() + [parts[parts.count - 1] + [content]])
                }
            } else if content.hasPrefix("```") {
                open = (content == "```swift", [[]])
            }
        }
        return examples
    }

    /// The links of a page to files of the package.
    static func links(in text: String) -> [Link] {
        text.replacing("\n", with: " ").matches(of: /\[([^\]]+)\]\(([^)]+)\)/).map {
            Link(label: Markdown.lines(String($0.1)).joined(), target: String($0.2))
        }
    }

    /// Whether a block stands in one of the files as it is.
    static func isCompiled(_ block: [String], in files: [[String]]) -> Bool {
        !block.isEmpty && files.contains { $0.contains(block) }
    }
}

/// A guide that shows the text of an error.
struct Guide {
    private let name: String
    private let blocks: [Markdown.Block]

    init(_ name: String) throws {
        self.name = name
        blocks = Markdown.blocks(of: try Documents.text(of: "Sources/AsyncDI/AsyncDI.docc/Guides/\(name).md"))
    }

    /// Whether a text block contains this.
    func contains(_ part: String) -> Bool {
        blocks.contains { $0.language == "text" && $0.lines.joined(separator: " ").contains(part) }
    }

    /// One of the guide's text blocks must be the error's description.
    func shows(_ error: ResolutionError?, sourceLocation: SourceLocation = #_sourceLocation) {
        guard let error else {
            Issue.record("there is no error to show", sourceLocation: sourceLocation)
            return
        }
        let isShown = blocks.contains {
            $0.language == "text" && withoutLines($0.lines.joined(separator: " ")) == withoutLines(error.description)
        }
        #expect(isShown, "\(name).md does not show: \(error.description)", sourceLocation: sourceLocation)
    }

    /// The text with `App.swift:1` for every source location, and without the suites around types: a reader's differ
    /// from the test's.
    private func withoutLines(_ text: String) -> String {
        text.replacing(/\w+\/[\w+]+\.swift:\d+/, with: "App.swift:1").replacing(/\w+Tests\./, with: "")
    }
}
