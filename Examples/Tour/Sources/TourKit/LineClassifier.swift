/// Tells code, comments and blank lines apart in the files of one language.
///
/// The container makes one for each language: it is a multiton whose argument is the language.
final class LineClassifier: Sendable {
    private let syntax: Syntax
    /// For each byte, whether a delimiter begins with it: most do not, and need no closer look.
    private let startsDelimiter: [Bool]

    init(_ language: Language) {
        syntax = Syntax(of: language)
        startsDelimiter = syntax.firstBytesOfDelimiters
    }

    /// Where a file's last line has left off; `.code` before the first one.
    enum State: Sendable {
        case code
        case comment(depth: Int)
        case string(Syntax.StringLiteral)
    }

    /// Classifies a file's next line; one with both code and a comment is code.
    func classify(_ line: ArraySlice<UInt8>, after state: inout State) -> LineCounts.Kind {
        var kind = LineCounts.Kind.blank
        var position = line.startIndex
        while position < line.endIndex {
            let byte = line[position]
            if byte.isWhitespace {
                position += 1
            } else {
                let step = startsDelimiter[Int(byte)] ? step(into: line[position...], &state) : state.step
                if kind != .code { kind = step.kind }
                position += step.length
            }
        }
        // A string that should have ended with its line was none.
        if case .string(let string) = state, !string.isMultiline { state = .code }
        return kind
    }

    /// Meaning of the next bytes, when the first of them may begin a delimiter.
    private func step(into rest: ArraySlice<UInt8>, _ state: inout State) -> Step {
        switch state {
        case .code:
            if let marker = syntax.lineComment, rest.starts(with: marker) {
                return Step(kind: .comment, length: rest.count)
            }
            if let comment = syntax.blockComment, rest.starts(with: comment.open) {
                state = .comment(depth: 1)
                return Step(kind: .comment, length: comment.open.count)
            }
            if let string = syntax.strings.first(where: { rest.starts(with: $0.open) }) {
                state = .string(string)
                return Step(kind: .code, length: string.open.count)
            }
        case .comment(let depth):
            guard let comment = syntax.blockComment else { break }
            if rest.starts(with: comment.close) {
                state = depth == 1 ? .code : .comment(depth: depth - 1)
                return Step(kind: .comment, length: comment.close.count)
            }
            if comment.isNested, rest.starts(with: comment.open) {
                state = .comment(depth: depth + 1)
                return Step(kind: .comment, length: comment.open.count)
            }
        case .string(let string):
            if string.hasEscapes, rest.first == Syntax.escape { return Step(kind: .code, length: 2) }
            if rest.starts(with: string.close) {
                state = .code
                return Step(kind: .code, length: string.close.count)
            }
        }
        return state.step
    }
}

/// Some bytes of one kind.
private struct Step {
    let kind: LineCounts.Kind
    let length: Int
}

extension LineClassifier.State {
    /// One byte that does not change the state.
    fileprivate var step: Step {
        if case .comment = self { Step(kind: .comment, length: 1) } else { Step(kind: .code, length: 1) }
    }
}

extension UInt8 {
    /// A space, a tab, or the first half of the line ending CR LF.
    fileprivate var isWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}
