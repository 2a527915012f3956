import Foundation
import Testing

@testable import AsyncDI

/// Exported graphs, read again.
@Suite(.timeLimit(.minutes(10))) struct ExportTests {
    /// A graph whose every name, owner and lifetime is odd, and which has every kind of edge.
    private let odd: DependencyGraph = {
        let names = [
            "say \"hi\"", "two\nlines", "\nempty lines\n", "back\\slash\\n\\N\\G\\l", "ends with \\", "🧑🏽‍🚀 é 漢字 العربية",
            "a#b;<c>&`d`", "tab\t\u{0}\u{7F}\r\n", "", " ", "n0", "end", "subgraph x", "a --> b", "]", "[[\"]]", "}",
            "{", "//",
            "/* */", "%% comment", "%%{init: {\"theme\": \"dark\"}}%%", "style:\"x\"", "classDef a:\"x\";",
            "&lt;&#34;#34;",
            "<b>bold</b>", "<br/>", "`markdown`", "A<B, C>[x](Int, String?)", String(repeating: "long ", count: 100),
        ]
        let nodes = names.enumerated().map { number, name in
            DependencyGraph.Node(
                name, lifetime: number.isMultiple(of: 3) ? nil : name, owner: number.isMultiple(of: 5) ? nil : name,
                creations: number)
        }
        let edges = zip(names, names.dropFirst()).enumerated().map {
            DependencyGraph.Edge(from: $1.0, to: $1.1, isDeferred: $0.isMultiple(of: 2))
        }
        return DependencyGraph(nodes, edges: edges)
    }()

    /// The name of a node or an owner, with the sign for characters that no format accepts.
    private func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0 != "\n" && ($0.value < 0x20 || $0.value == 0x7F) ? "\u{FFFD}" : $0 }))
    }

    private func label(_ node: DependencyGraph.Node) -> String {
        guard let lifetime = node.lifetime else { return shown(node.name) }
        return shown("\(node.name)\n\(lifetime)\(node.creations > 1 ? " × \(node.creations)" : "")")
    }

    @Test func `Mermaid text can be read by its grammar, and has the same nodes and edges`() throws {
        let flowchart = try Flowchart(odd.mermaid())
        #expect(
            flowchart.labels.values.sorted() == odd.details.map { label($0) }.map { $0.isEmpty ? " " : $0 }.sorted())
        let owners = Set(odd.details.compactMap(\.owner)).map { shown($0) }.map { $0.isEmpty ? " " : $0 }
        #expect(flowchart.boxes.sorted() == owners.sorted())
        let identifiers = Dictionary(
            uniqueKeysWithValues: odd.details.map { node in
                (node.name, flowchart.labels.first { $0.value == (label(node).isEmpty ? " " : label(node)) }?.key)
            })
        let edges = odd.edges.map { edge in
            Flowchart.Edge(
                from: identifiers[edge.from]?.flatMap(\.self) ?? "", to: identifiers[edge.to]?.flatMap(\.self) ?? "",
                isDashed: edge.isDeferred)
        }
        #expect(Set(flowchart.edges) == Set(edges))
    }

    @Test func `the reader of flowcharts reads nothing else`() {
        for wrong in [
            "graph LR\n", "flowchart LR\n    n0[\"\"]\n", "flowchart LR\n    n0[\"a\"b\"]\n",
            "flowchart LR\n    n0[a]\n",
            "flowchart LR\n    n0 -> n1\n", "flowchart LR\n    end\n", "flowchart LR\n    subgraph c0[\"x\"]\n",
            "flowchart LR\n    n0[\"a<b\"]\n", "flowchart LR\n    n0[\"a#b\"]\n",
            "flowchart LR\n    n0[\"%%{a:1}%%\"]\n",
            "flowchart LR\n    n0 --> n1\n", "flowchart LR\n    n0[\"a\"]",
        ] {
            #expect(throws: Flowchart.Mistake.self, "\(wrong)") { try Flowchart(wrong) }
        }
    }

    @Test func `odd names are the same after being encoded`() throws {
        let data = try JSONEncoder().encode(odd)
        #expect(try JSONDecoder().decode(DependencyGraph.self, from: data) == odd)
    }

    /// Where Graphviz is: the gate says so, for it need not be installed everywhere.
    private static let graphviz = ProcessInfo.processInfo.environment["ASYNCDI_GRAPHVIZ"]

    @Test(.enabled(if: graphviz != nil)) func `Graphviz draws odd names as they are`() throws {
        let drawing = try draw(odd.dot())
        let expected =
            odd.details.flatMap { lines(of: label($0)) }
            + Set(odd.details.compactMap(\.owner)).flatMap { lines(of: shown($0)) }
        #expect(drawing.texts.sorted() == expected.sorted())
        #expect(drawing.edgeCount == odd.edges.count)
    }

    /// Lines as a drawing shows them: not those that are empty.
    private func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func draw(_ text: String) throws -> (texts: [String], edgeCount: Int) {
        let file = FileManager.default.temporaryDirectory.appending(component: "asyncdi-\(UUID()).dot")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = Self.graphviz.map { URL(filePath: $0) }
        process.arguments = ["-Tsvg", file.path()]
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let drawing = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let texts = drawing.matches(of: /<text [^>]*>([^<]*)<\/text>/).map { match in
            match.1.replacing(/&#(\d+);/) { UInt32($0.1).flatMap(Unicode.Scalar.init).map(String.init) ?? "?" }
                .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
                .replacing("&amp;", with: "&").replacing("\u{A0}", with: " ").trimmingCharacters(in: .whitespaces)
        }
        return (texts.filter { !$0.isEmpty }, drawing.matches(of: /class="edge"/).count)
    }
}

/// A Mermaid flowchart, as far as its grammar is used: lines of boxes, nodes with quoted texts, and edges.
private struct Flowchart {
    struct Mistake: Error {
        let line: String
    }

    struct Edge: Hashable {
        let from: String
        let to: String
        let isDashed: Bool
    }

    private(set) var labels: [String: String] = [:]
    private(set) var boxes: [String] = []
    private(set) var edges: [Edge] = []

    init(_ source: String) throws {
        guard source.hasSuffix("\n") else { throw Mistake(line: source) }
        var lines = source.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        guard !lines.isEmpty, lines.removeFirst() == "flowchart LR" else { throw Mistake(line: source) }
        var depth = 0
        for line in lines {
            if let match = line.wholeMatch(of: /\ *subgraph (c\d+)\["([^"]+)"\]/) {
                boxes.append(try Self.text(match.2))
                depth += 1
            } else if let match = line.wholeMatch(of: /\ *(n\d+)\["([^"]+)"\]/) {
                labels[String(match.1)] = try Self.text(match.2)
            } else if let match = line.wholeMatch(of: /\ *(n\d+) (-->|-\.->) (n\d+)/) {
                guard labels[String(match.1)] != nil, labels[String(match.3)] != nil else { throw Mistake(line: line) }
                edges.append(Edge(from: String(match.1), to: String(match.3), isDashed: match.2 == "-.->"))
            } else if line.wholeMatch(of: /\ *end/) != nil, depth > 0 {
                depth -= 1
            } else {
                throw Mistake(line: line)
            }
        }
        guard depth == 0 else { throw Mistake(line: "end") }
    }

    /// The visible form of a quoted text: entities are `#34;`, a line ends with `<br/>`.
    private static func text(_ quoted: Substring) throws -> String {
        let plain = String(quoted).replacing("<br/>", with: "\n")
        // Read by a pass over the whole source before its grammar, or as HTML or Markdown.
        if plain.contains(/[<>&`\\%:]/) || plain.replacing(/#\d+;/, with: "").contains(/[#;]/) {
            throw Mistake(line: String(quoted))
        }
        return plain.replacing(/#(\d+);/) { UInt32($0.1).flatMap(Unicode.Scalar.init).map(String.init) ?? "?" }
    }
}
