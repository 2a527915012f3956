/// Takes Swift apart into code and comments; string literals vanish, but for what they interpolate.
struct SourceScanner {
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

    /// Goes on by as many characters: those of the other kinds leave a space, and lines end in both.
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
