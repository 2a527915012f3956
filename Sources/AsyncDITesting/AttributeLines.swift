import AsyncDI
import Foundation
import Testing

/// Finds the lines of registrations that stand inside an attribute: `@Test(.container { Registration(…) })`.
///
/// The compiler copies the arguments of an attribute into the code that a macro makes, where `#line` is that of the
/// declaration below, for every registration. So the source is read: the first registration of the attribute is the
/// first one that its text has, and so on. With a branch or loop among them, and where their numbers differ, the
/// line stays.
struct AttributeLines: Sendable {
    /// The registrations of a trait, and its place as the compiler gives it.
    struct Trait: Sendable {
        let place: SourceLocation
        let registrations: Registrations
    }

    private let traits: [Trait]

    init(_ traits: [Trait] = []) { self.traits = traits }

    /// The place of a registration: the given one, unless it is inside an attribute.
    func site(of key: ServiceKey?, at site: RegistrationSite?) -> RegistrationSite? {
        guard let site,
            let trait = traits.first(where: { $0.place.fileID == site.fileID && $0.place.line == site.line })
        else { return site }
        // Of all traits of one attribute, in their order.
        let entries = traits.filter { $0.place.fileID == site.fileID }.flatMap(\.registrations.entries).filter {
            $0.site == site
        }
        guard let index = entries.lastIndex(where: { $0.key == key || $0.implementedKeys.contains { $0 == key } }),
            let text = SwiftText.ofFile(trait.place.filePath), !text.hasRegistration(onLine: trait.place.line)
        else { return site }
        let lines = text.linesOfRegistrations(inAttributeAbove: trait.place.line)
        guard lines.count == entries.count else { return site }
        return RegistrationSite(fileID: site.fileID, line: UInt(lines[index]))
    }
}

/// The code of a source without comments and string literals.
struct SwiftText: Sendable {
    /// The attribute of a test or suite.
    private struct Attribute {
        let line: Int
        /// The line on which its declaration begins; zero before that was found.
        var lastLine = 0
        var registrations: [Int] = []
        /// Whether a branch or loop decides which of its registrations exist, and how often.
        var isConditional = false
    }

    private static let branches: Set = ["if", "else", "switch", "for", "while"]
    private static let declarations: Set = ["func", "struct", "class", "enum", "actor", "extension"]
    private var attributes: [Attribute] = []
    private var registrations: Set<Int> = []

    /// The files that were read, because many reports may be about one file.
    private static let files = Locked<[String: SwiftText?]>([:])

    /// Returns the text of a file, which is read once; nil for one that cannot be read.
    static func ofFile(_ path: String) -> SwiftText? {
        files.withLock { files in
            if let known = files[path] { return known }
            let text = (try? String(contentsOfFile: path, encoding: .utf8)).map { SwiftText($0) }
            files[path] = .some(text)
            return text
        }
    }

    init(_ source: String) {
        // The number of open parentheses in the attribute; nil outside attributes.
        var depth: Int?
        // The open braces there: whether each one is that of a branch or loop.
        var braces: [Bool] = []
        // The parentheses around a branch or loop whose brace has not come yet; nil without one.
        var branch: Int?
        // Whether the declaration of the latest attribute has not begun yet.
        var isBelowAttribute = false
        var last: Int { attributes.count - 1 }
        let tokens = Self.tokens(of: source)
        for (index, token) in tokens.enumerated() {
            let before = index > 0 ? tokens[index - 1].text : ""
            let after = index + 1 < tokens.count ? tokens[index + 1] : (text: "", line: 0)
            switch token.text {
            case "(" where depth == nil && (before == "@Test" || before == "@Suite"):
                attributes.append(Attribute(line: token.line))
                isBelowAttribute = false
                depth = 1
                (braces, branch) = ([], nil)
            case "(":
                depth = depth.map { $0 + 1 }
            case ")":
                if depth == 1 { isBelowAttribute = true }
                depth = depth.flatMap { $0 == 1 ? nil : $0 - 1 }
            case "{" where depth != nil:
                // Not that of a closure among the arguments of a condition.
                braces.append(branch == depth)
                if branch == depth { branch = nil }
            case "}" where depth != nil:
                _ = braces.popLast()
            case let word where depth != nil && Self.branches.contains(word):
                // The label of an argument is no branch, as in `.enabled(if: …)`.
                branch = after.text == ":" ? nil : depth
            case "#if" where depth != nil:
                // A condition of the compiler has no braces.
                attributes[last].isConditional = true
            case let word where isBelowAttribute && Self.declarations.contains(word):
                attributes[last].lastLine = token.line
                isBelowAttribute = false
            case "Registration" where ["(", "{", "<"].contains(after.text):
                registrations.insert(after.line)
                if depth == nil { continue }
                attributes[last].registrations.append(after.line)
                if braces.contains(true) { attributes[last].isConditional = true }
            default: break
            }
        }
    }

    /// The words and other characters of the code, and their lines.
    private static func tokens(of source: String) -> [(text: String, line: Int)] {
        var tokens: [(text: String, line: Int)] = []
        var (line, isInWord) = (1, false)
        for character in code(of: source) {
            let isPartOfWord = character.isLetter || character.isNumber || "_@#".contains(character)
            if isPartOfWord, isInWord {
                tokens[tokens.count - 1].text.append(character)
            } else if !character.isWhitespace {
                tokens.append((String(character), line))
            }
            isInWord = isPartOfWord
            if character.isNewline { line += 1 }
        }
        return tokens
    }

    /// The characters of the code; a space stands for each omitted one, and line ends stay.
    private static func code(of source: String) -> [Character] {
        let characters = Array(source)
        var code: [Character] = []
        code.reserveCapacity(characters.count)
        var position = 0
        func isAt(_ text: [Character]) -> Bool { characters[position...].starts(with: text) }
        func omit(_ count: Int) {
            let omitted = characters[position...].prefix(count)
            code += omitted.map { $0.isNewline ? $0 : " " }
            position += omitted.count
        }
        /// Omits a comment that ends with its line.
        func omitLine() { while position < characters.count, !characters[position].isNewline { omit(1) } }
        /// Omits a comment that may have others inside.
        func omitComment() {
            var depth = 0
            repeat {
                let isBegin = isAt(["/", "*"])
                let isEnd = isAt(["*", "/"])
                depth += (isBegin ? 1 : 0) - (isEnd ? 1 : 0)
                omit(isBegin || isEnd ? 2 : 1)
            } while depth > 0 && position < characters.count
        }
        func omitString(in quotes: [Character]) {
            omit(quotes.count)
            while position < characters.count, !isAt(quotes) { omit(characters[position] == "\\" ? 2 : 1) }
            omit(quotes.count)
        }
        let quotes: [Character] = ["\"", "\"", "\""]
        while position < characters.count {
            switch characters[position] {
            case "/" where isAt(["/", "/"]): omitLine()
            case "/" where isAt(["/", "*"]): omitComment()
            case "\"" where isAt(quotes): omitString(in: quotes)
            case "\"": omitString(in: ["\""])
            case let character:
                code.append(character)
                position += 1
            }
        }
        return code
    }

    /// Whether a registration begins on a line.
    func hasRegistration(onLine line: Int) -> Bool { registrations.contains(line) }

    /// The lines of the registrations in the attribute of a test or suite.
    ///
    /// - Parameter line: The line of the declaration.
    /// - Returns: The lines in their order; none when there is no such attribute.
    func linesOfRegistrations(inAttributeAbove line: Int) -> [Int] {
        // A text that is not understood, such as a raw string with a quotation mark, hides attributes: that of another
        // declaration must not take their place.
        attributes.last { $0.line <= line && line <= $0.lastLine && !$0.isConditional }?.registrations ?? []
    }
}
