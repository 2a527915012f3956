/// JSON as a value: enough to read a graph without Foundation.
enum JSONValue: Equatable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    /// A number, `true`, `false` or `null`, as text.
    case literal(String)

    /// The syntax error of a text.
    struct Mistake: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    init(parsing text: String) throws(Mistake) {
        var parser = Parser(text)
        self = try parser.value(depth: 0)
        if parser.next() != nil { throw parser.mistake("something follows the end") }
    }

    subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var isTrue: Bool { self == .literal("true") }

    private struct Parser {
        private let scalars: [Unicode.Scalar]
        private var index = 0

        init(_ text: String) { scalars = Array(text.unicodeScalars) }

        func mistake(_ what: String) -> Mistake {
            Mistake("It is no JSON in line \(scalars[..<index].count { $0 == "\n" } + 1): \(what).")
        }

        /// The next character that is not a space, without consuming it.
        mutating func next() -> Unicode.Scalar? {
            while index < scalars.count, " \n\r\t".unicodeScalars.contains(scalars[index]) { index += 1 }
            return index < scalars.count ? scalars[index] : nil
        }

        private mutating func take(_ expected: Unicode.Scalar) throws(Mistake) {
            guard next() == expected else { throw mistake("expected \(expected)") }
            index += 1
        }

        mutating func value(depth: Int) throws(Mistake) -> JSONValue {
            if depth > 64 { throw mistake("too deep") }
            switch next() {
            case "{":
                var members: [String: JSONValue] = [:]
                try list("{", "}") { (parser) throws(Mistake) in
                    let key = try parser.string()
                    try parser.take(":")
                    members[key] = try parser.value(depth: depth + 1)
                }
                return .object(members)
            case "[":
                var elements: [JSONValue] = []
                try list("[", "]") { (parser) throws(Mistake) in
                    elements.append(try parser.value(depth: depth + 1))
                }
                return .array(elements)
            case "\"": return .string(try string())
            default:
                let start = index
                while index < scalars.count, isOfLiteral(scalars[index]) { index += 1 }
                if index == start { throw mistake("expected a value") }
                return .literal(String(String.UnicodeScalarView(scalars[start..<index])))
            }
        }

        private func isOfLiteral(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains(scalar)
        }

        private mutating func list(
            _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ element: (inout Parser) throws(Mistake) -> Void
        ) throws(Mistake) {
            try take(open)
            if next() == close { return index += 1 }
            while true {
                try element(&self)
                guard next() == "," else { return try take(close) }
                index += 1
            }
        }

        private mutating func string() throws(Mistake) -> String {
            try take("\"")
            var text = String.UnicodeScalarView()
            while index < scalars.count {
                let scalar = scalars[index]
                index += 1
                switch scalar {
                case "\"": return String(text)
                case "\\": text.append(try escaped())
                default: text.append(scalar)
                }
            }
            throw mistake("a string does not end")
        }

        private mutating func escaped() throws(Mistake) -> Unicode.Scalar {
            guard index < scalars.count else { throw mistake("a string does not end") }
            defer { index += 1 }
            switch scalars[index] {
            case "n": return "\n"
            case "t": return "\t"
            case "r": return "\r"
            case "b": return "\u{8}"
            case "f": return "\u{C}"
            case "u":
                let first = try unit()
                // A surrogate pair encodes one character.
                if (0xD800..<0xDC00).contains(first), scalars[(index + 1)...].starts(with: ["\\", "u"]) {
                    index += 2
                    let second = try unit()
                    if let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second &- 0xDC00)) {
                        return scalar
                    }
                }
                guard let scalar = Unicode.Scalar(first) else { throw mistake("half a surrogate pair") }
                return scalar
            case let other: return other
            }
        }

        /// The four digits after a `u`; the last of them is not consumed.
        private mutating func unit() throws(Mistake) -> UInt32 {
            guard index + 4 < scalars.count,
                let unit = UInt32(String(String.UnicodeScalarView(scalars[index + 1...index + 4])), radix: 16)
            else { throw mistake("expected four hexadecimal digits") }
            index += 4
            return unit
        }
    }
}
