/// A source, with its code and its comments apart.
struct SourceFile {
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

    /// From left to right: a folder names only types of folders further right, and none of its own rank.
    private static let ranks = [
        ["Injection", "Diagnostics"], ["Container"], ["Registration"], ["Resolution"], ["Lifetimes"], ["Keys"],
        ["Support"],
    ]

    /// Where a file names a type of a folder that is not further right.
    static func violations(in sources: [SourceFile]) -> [String] {
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
