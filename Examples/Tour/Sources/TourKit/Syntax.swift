/// The part of a language's syntax that distinguishes code from comments.
struct Syntax: Sendable {
    typealias Bytes = [UInt8]

    struct BlockComment: Sendable {
        let open: Bytes
        let close: Bytes
        let isNested: Bool
    }

    /// A string literal; in the order in which they are tried, so that `"""` comes before `"`.
    struct StringLiteral: Sendable {
        let open: Bytes
        let close: Bytes
        let hasEscapes: Bool
        let isMultiline: Bool
    }

    let lineComment: Bytes?
    let blockComment: BlockComment?
    let strings: [StringLiteral]

    static let escape = UInt8(ascii: "\\")

    /// For each byte, whether a delimiter or an escape begins with it.
    var firstBytesOfDelimiters: [Bool] {
        var delimiters = strings.flatMap { [$0.open, $0.close] } + [[Self.escape]]
        if let lineComment { delimiters.append(lineComment) }
        if let blockComment { delimiters += [blockComment.open, blockComment.close] }
        var isFirst = [Bool](repeating: false, count: 256)
        for delimiter in delimiters { isFirst[Int(delimiter[0])] = true }
        return isFirst
    }
}

extension Syntax {
    /// The syntax of a language.
    init(of language: Language) {
        let double = StringLiteral("\"", "\"")
        let single = StringLiteral("'", "'")
        switch language {
        case .swift:
            self.init(
                lineComment: "//", blockComment: ("/*", "*/"), isNested: true,
                strings: [
                    StringLiteral("#\"", "\"#", hasEscapes: false),
                    StringLiteral("\"\"\"", "\"\"\"", isMultiline: true),
                    double,
                ])
        case .rust:
            self.init(lineComment: "//", blockComment: ("/*", "*/"), isNested: true, strings: [double])
        case .kotlin:
            let raw = StringLiteral("\"\"\"", "\"\"\"", hasEscapes: false, isMultiline: true)
            self.init(lineComment: "//", blockComment: ("/*", "*/"), isNested: true, strings: [raw, double, single])
        case .c, .cPlusPlus, .objectiveC, .java:
            self.init(lineComment: "//", blockComment: ("/*", "*/"), strings: [double, single])
        case .go:
            let raw = StringLiteral("`", "`", hasEscapes: false, isMultiline: true)
            self.init(lineComment: "//", blockComment: ("/*", "*/"), strings: [raw, double, single])
        case .javaScript, .typeScript:
            let template = StringLiteral("`", "`", isMultiline: true)
            self.init(lineComment: "//", blockComment: ("/*", "*/"), strings: [template, double, single])
        case .python:
            let long = ["\"\"\"", "'''"].map { StringLiteral($0, $0, isMultiline: true) }
            self.init(lineComment: "#", strings: long + [double, single])
        case .ruby, .shell, .yaml:
            self.init(lineComment: "#", strings: [double, single])
        case .markdown:
            self.init(blockComment: ("<!--", "-->"))
        }
    }

    private init(
        lineComment: String? = nil, blockComment: (open: String, close: String)? = nil, isNested: Bool = false,
        strings: [StringLiteral] = []
    ) {
        self.lineComment = lineComment.map { Bytes($0.utf8) }
        self.blockComment = blockComment.map {
            BlockComment(open: Bytes($0.open.utf8), close: Bytes($0.close.utf8), isNested: isNested)
        }
        self.strings = strings
    }
}

extension Syntax.StringLiteral {
    init(_ open: String, _ close: String, hasEscapes: Bool = true, isMultiline: Bool = false) {
        self.init(
            open: Array(open.utf8), close: Array(close.utf8), hasEscapes: hasEscapes, isMultiline: isMultiline)
    }
}
