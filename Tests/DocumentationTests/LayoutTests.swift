import Foundation
import Testing

/// The shape of the sources: which folder may name which, how long files are, and what must be explained.
@Suite(.timeLimit(.minutes(10))) struct LayoutTests {
    /// From left to right: a folder names only types of folders further right, and none of its own rank.
    private static let ranks = [
        ["Injection", "Diagnostics"], ["Container"], ["Registration"], ["Resolution"], ["Lifetimes"], ["Keys"],
        ["Support"],
    ]

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The modules that users import.
    private static let modules = ["AsyncDI", "AsyncDITesting", "AsyncDIWiring"]

    /// Every source of a module.
    private static func sources(_ module: String = "AsyncDI") throws -> [SourceFile] {
        try sources(in: "Sources/\(module)")
    }

    private static func sources(in path: String) throws -> [SourceFile] {
        // The gate tests a package of links as well.
        let folder = root.appending(path: path).resolvingSymlinksInPath()
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            SourceFile(path: path, text: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
        }
    }

    // MARK: The sources

    @Test func `there are sources to look at`() throws {
        let sources = try Self.sources()
        #expect(sources.count > 30)
        #expect(
            Set(sources.map(\.folder)).isSuperset(of: ["Container", "Registration", "Resolution", "Keys", "Support"]))
    }

    @Test func `a folder names only types of folders further right`() throws {
        let violations = SourceFile.violations(ofRanks: Self.ranks, in: try Self.sources())
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test(arguments: modules) func `no file is longer than 400 lines`(module: String) throws {
        let long = try Self.sources(module).filter { $0.lineCount > 400 }
        #expect(long.isEmpty, "\(long.map { "\($0.path): \($0.lineCount)" })")
    }

    @Test(arguments: modules) func `no comment is wider than 120 columns`(module: String) throws {
        for file in try Self.sources(module) {
            for line in file.comments.split(separator: "\n") where line.count > 120 {
                // Code is blank here.
                let width = line.lastIndex { $0 != " " }.map { line[...$0].count } ?? 0
                #expect(width <= 120, "\(file.path): \(line)")
            }
        }
    }

    @Test(arguments: modules) func `every unsafe word has its reason beside it`(module: String) throws {
        let sources = try Self.sources(module)
        #expect(sources.count > 5)
        let unexplained = sources.flatMap(\.unexplainedUnsafeWords)
        #expect(unexplained.isEmpty, "\(unexplained.joined(separator: "\n"))")
    }

    @Test(arguments: modules) func `no result of a locked step is discarded`(module: String) throws {
        let discarded = try Self.sources(module).flatMap(\.discardedResultsOfLockedSteps)
        #expect(discarded.isEmpty, "released under the lock, when optimized: \(discarded.joined(separator: "\n"))")
    }

    @Test func `nothing imports Foundation`() throws {
        for source in try Self.sources() { #expect(!source.imports("Foundation"), "\(source.path)") }
    }

    @Test func `the modules beside the library import little, and nothing unsafe of the library`() throws {
        for (module, allowed) in [
            ("AsyncDITesting", ["AsyncDI", "Foundation", "Testing"]), ("AsyncDIWiring", ["AsyncDI", "Foundation"]),
        ] {
            for source in try Self.sources(module) {
                #expect(source.imported.isSubset(of: allowed), "\(module)/\(source.path)")
                #expect(
                    !source.code.contains("@testable") && !source.code.contains("@_spi"), "\(module)/\(source.path)")
            }
        }
    }

    @Test(arguments: ["Tests/AsyncDITests", "StressTests"])
    func `tests that ThreadSanitizer watches use no lock that it cannot see`(folder: String) throws {
        let sources = try Self.sources(in: folder)
        #expect(sources.count > 10)
        // A contended `Mutex` waits inside the standard library, which is not instrumented: false races.
        for source in sources { #expect(!source.mentions("Mutex"), "\(source.path)") }
    }

    @Test func `the package depends on no other`() throws {
        let manifest = SourceFile(
            path: "Package.swift",
            text: try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8))
        #expect(!manifest.code.contains(".package("))
        #expect(manifest.code.contains("products:"), "this is the manifest")
    }

    // MARK: The checks themselves

    private func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: path, text: text) }

    @Test func `an arrow to the left is found`() {
        let sources = [
            file("Container/Left.swift", "final class Left { var right: Right? }"),
            file("Keys/Right.swift", "struct Right {\n    func f(_: Left) {}\n}"),
        ]
        let violations = SourceFile.violations(ofRanks: Self.ranks, in: sources)
        #expect(violations == ["Keys/Right.swift:2 names Left of Container"])
    }

    @Test func `folders of one rank do not name each other`() {
        let sources = [
            file("Injection/One.swift", "enum One { static let other = Two.self }"),
            file("Diagnostics/Two.swift", "actor Two {}"),
        ]
        let violations = SourceFile.violations(ofRanks: Self.ranks, in: sources)
        #expect(violations == ["Injection/One.swift:1 names Two of Diagnostics"])
    }

    @Test func `an unknown folder is found`() {
        let violations = SourceFile.violations(ofRanks: Self.ranks, in: [file("Utils/Attic.swift", "struct Attic {}")])
        #expect(violations == ["Utils/Attic.swift is in no folder of the layout"])
    }

    @Test func `comments, strings, longer words and nested types are no mentions`() {
        let sources = [
            file("Container/Left.swift", "struct Left { struct Inner {} }\nextension Int { struct Far {} }"),
            file(
                "Keys/Right.swift",
                """
                /// Like `Left`. /* Left */
                /* Left /* Left */ Left */
                struct Right { struct Inner {}; let far = Far.self; let Leftover = "Left", raw = #"\\(Left)"# }
                let text = \"""
                    Left "Left" \\(1 + (2)) Left
                    \"""
                """),
        ]
        #expect(SourceFile.violations(ofRanks: Self.ranks, in: sources).isEmpty)
    }

    @Test func `an interpolation in a string is code`() {
        let sources = [
            file("Container/Left.swift", "public typealias Left = Int"),
            file("Keys/Right.swift", #"let text = "a (\(f(")", Left.self)) b""#),
            file("Support/Raw.swift", ##"let text = #"a \#(Left.self)"#"##),
        ]
        #expect(
            SourceFile.violations(ofRanks: Self.ranks, in: sources) == [
                "Keys/Right.swift:1 names Left of Container", "Support/Raw.swift:1 names Left of Container",
            ])
    }

    @Test func `types of every kind are collected, at the top level only`() {
        let text = """
            public struct A<T> {} ; final class B: C {}
            enum D { case e; class func f() {} ; struct G {} }
            @usableFromInline actor H {}
            protocol I<J>: AnyObject {}
            private typealias K = Int
            extension A { enum L {} }
            #if DEBUG
                struct M {}
            #endif
            """
        #expect(file("Keys/A.swift", text).topLevelTypes.sorted() == ["A", "B", "D", "H", "I", "K", "M"])
    }

    @Test func `an unsafe word without a reason is found`() {
        #expect(!file("Keys/A.swift", "final class A: @unchecked Sendable {}").unexplainedUnsafeWords.isEmpty)
        #expect(!file("Keys/A.swift", "let a = unsafeDowncast(b, to: A.self)").unexplainedUnsafeWords.isEmpty)
        #expect(!file("Keys/A.swift", "nonisolated(unsafe) let a = b  // Faster.").unexplainedUnsafeWords.isEmpty)
        #expect(
            !file(
                "Keys/A.swift", "/// because\n" + String(repeating: "\n", count: 20) + "nonisolated(unsafe) var a = 1"
            )
            .unexplainedUnsafeWords.isEmpty)
        #expect(!file("Keys/A.swift", #"nonisolated(unsafe) let a = "because""#).unexplainedUnsafeWords.isEmpty)
        #expect(
            file("Keys/A.swift", "/// Unchecked because it is.\nfinal class A: @unchecked Sendable {}")
                .unexplainedUnsafeWords.isEmpty)
        #expect(file("Keys/A.swift", "// `@unchecked Sendable` would be wrong here.").unexplainedUnsafeWords.isEmpty)
    }

    @Test func `a discarded result of a locked step is found`() {
        for line in ["_ = state.withLock { $0 }", "defer { _ = try? core.withState({ $0.handle }) }"] {
            #expect(file("Keys/A.swift", "let a = 1\n\(line)").discardedResultsOfLockedSteps == ["Keys/A.swift:2"])
        }
        for line in ["let old = state.withLock { $0 }", "state.withLock { _ = $0.take() }", "_ = unlock()"] {
            #expect(file("Keys/A.swift", line).discardedResultsOfLockedSteps.isEmpty)
        }
    }

    @Test func `imports of every spelling are found`() {
        for line in ["import Foundation", "public import Foundation", "@preconcurrency import Foundation.NSLock"] {
            #expect(file("Keys/A.swift", "import Synchronization\n\(line)").imports("Foundation"))
        }
        #expect(!file("Keys/A.swift", "// import Foundation\nimport FoundationEssentials").imports("Foundation"))
    }
}

/// A source, with its code and its comments apart.
private struct SourceFile {
    let path: String
    /// The text without comments and without what string literals say; lines stay where they are.
    let code: String
    /// The comments alone; lines stay where they are.
    let comments: String
    /// The words of the code.
    let words: [Word]

    /// The lines that discard the result of a step under a lock.
    ///
    /// A reference that leaves the lock only to be discarded is released under it: the optimizer leaves out the copy.
    var discardedResultsOfLockedSteps: [String] {
        code.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { $0.element.contains(/_ = .*with(Lock|State)/) }
            .map { "\(path):\($0.offset + 1)" }
    }

    init(path: String, text: String) {
        self.path = path
        var scanner = SourceScanner(text)
        scanner.scan()
        code = String(decoding: scanner.code, as: UTF8.self)
        comments = String(decoding: scanner.comments, as: UTF8.self)
        words = Self.words(of: scanner.code)
    }

    var folder: String { String(path.split(separator: "/").first ?? "") }
    var lineCount: Int { code.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

    struct Word {
        let text: String
        let line: Int
        /// How many braces are open around it.
        let depth: Int
    }

    private static func words(of code: [UInt8]) -> [Word] {
        var words: [Word] = []
        var word: [UInt8] = []
        var (line, depth) = (1, 0)
        for byte in code + [UInt8(ascii: "\n")] {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 128...:
                word.append(byte)
                continue
            default: break
            }
            if !word.isEmpty {
                words.append(Word(text: String(decoding: word, as: UTF8.self), line: line, depth: depth))
            }
            word = []
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return words
    }

    /// The names of the types declared outside every other declaration.
    var topLevelTypes: Set<String> {
        let kinds: Set = ["class", "struct", "enum", "protocol", "actor", "typealias"]
        var names: Set<String> = []
        for (kind, name) in zip(words, words.dropFirst()) where kind.depth == 0 && kinds.contains(kind.text) {
            names.insert(name.text)
        }
        return names
    }

    /// The modules that the file imports.
    var imported: Set<String> {
        Set(zip(words, words.dropFirst()).compactMap { $0.text == "import" ? $1.text : nil })
    }

    func imports(_ module: String) -> Bool { imported.contains(module) }

    func mentions(_ name: String) -> Bool { words.contains { $0.text == name } }

    /// Unsafe words without a comment nearby that gives the reason or states the invariant.
    var unexplainedUnsafeWords: [String] {
        let codeLines = code.split(separator: "\n", omittingEmptySubsequences: false)
        let commentLines = comments.split(separator: "\n", omittingEmptySubsequences: false)
        var unexplained: [String] = []
        for (index, line) in codeLines.enumerated() {
            for word in ["@unchecked Sendable", "nonisolated(unsafe)", "unsafeDowncast"] where line.contains(word) {
                let around = commentLines[max(0, index - 6)...min(commentLines.count - 1, index + 1)].joined(
                    separator: " ")
                if ["because", "invariant", "proved", "hence `\(word)`"].contains(where: around.contains) { continue }
                unexplained.append("\(path):\(index + 1) \(word)")
            }
        }
        return unexplained
    }

    /// Where a file names a type of a folder that is not further right.
    static func violations(ofRanks ranks: [[String]], in sources: [SourceFile]) -> [String] {
        func rank(_ folder: String) -> Int? { ranks.firstIndex { $0.contains(folder) } }
        var home: [String: String] = [:]
        for source in sources {
            for type in source.topLevelTypes { home[type] = source.folder }
        }
        var violations: [String] = []
        for source in sources {
            guard let own = rank(source.folder) else {
                violations.append("\(source.path) is in no folder of the layout")
                continue
            }
            for word in source.words {
                guard let folder = home[word.text], folder != source.folder, let other = rank(folder), other <= own
                else { continue }
                violations.append("\(source.path):\(word.line) names \(word.text) of \(folder)")
            }
        }
        return violations
    }
}

/// Takes Swift apart into code and comments; string literals vanish, but for what they interpolate.
private struct SourceScanner {
    private let text: [UInt8]
    private var position = 0
    private(set) var code: [UInt8] = []
    private(set) var comments: [UInt8] = []

    init(_ text: String) { self.text = Array(text.utf8) }

    mutating func scan() { scanCode(untilParenthesis: false) }

    private func isNext(_ string: String) -> Bool {
        var index = position
        for byte in string.utf8 {
            guard index < text.count, text[index] == byte else { return false }
            index += 1
        }
        return true
    }

    private enum Kind { case code, comment, literal }

    /// Goes on by as many characters; what is not of a kind leaves a space, and lines end in both.
    private mutating func take(_ count: Int = 1, as kind: Kind) {
        for _ in 0..<count where position < text.count {
            let byte = text[position]
            let isNewline = byte == UInt8(ascii: "\n")
            code.append(kind == .code || isNewline ? byte : UInt8(ascii: " "))
            comments.append(kind == .comment || isNewline ? byte : UInt8(ascii: " "))
            position += 1
        }
    }

    private mutating func scanCode(untilParenthesis: Bool) {
        var depth = 0
        while position < text.count {
            if isNext("//") {
                while position < text.count, text[position] != UInt8(ascii: "\n") { take(as: .comment) }
            } else if isNext("/*") {
                scanBlockComment()
            } else if let hashes = hashesBeforeQuote() {
                scanString(hashes: hashes)
            } else {
                if untilParenthesis, isNext("(") { depth += 1 }
                if untilParenthesis, isNext(")") {
                    if depth == 0 { return }
                    depth -= 1
                }
                take(as: .code)
            }
        }
    }

    private mutating func scanBlockComment() {
        var depth = 0
        repeat {
            if isNext("/*") {
                depth += 1
                take(2, as: .comment)
            } else if isNext("*/") {
                depth -= 1
                take(2, as: .comment)
            } else {
                take(as: .comment)
            }
        } while depth > 0 && position < text.count
    }

    /// How many number signs a string literal begins with here, nil when none begins.
    private func hashesBeforeQuote() -> Int? {
        var end = position
        while end < text.count, text[end] == UInt8(ascii: "#") { end += 1 }
        return end < text.count && text[end] == UInt8(ascii: "\"") ? end - position : nil
    }

    private mutating func scanString(hashes: Int) {
        let sign = String(repeating: "#", count: hashes)
        take(hashes, as: .literal)
        let quote = isNext("\"\"\"") ? "\"\"\"" : "\""
        take(quote.count, as: .literal)
        while position < text.count {
            if isNext(quote + sign) { return take(quote.count + hashes, as: .literal) }
            if isNext("\\" + sign + "(") {
                take(hashes + 2, as: .literal)
                scanCode(untilParenthesis: true)
                take(as: .literal)
            } else if isNext("\\" + sign) {
                take(hashes + 2, as: .literal)
            } else {
                take(as: .literal)
            }
        }
    }
}
