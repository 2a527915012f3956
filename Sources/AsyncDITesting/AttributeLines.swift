import AsyncDI
import Foundation
import Testing

/// Finds the lines of registrations that stand inside an attribute: `@Test(.container { Registration(…) })`.
///
/// The compiler copies the arguments of an attribute into the code that a macro makes, where `#line` is that of the
/// declaration below, for every registration. So the source is read: the first registration of the attribute is the
/// first one that its text has, and so on. Where their numbers differ, as with an `if` in the attribute, the line
/// stays.
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
            let source = try? String(contentsOfFile: trait.place.filePath, encoding: .utf8)
        else { return site }
        let lines = SwiftText(source).linesOfRegistrations(inAttributeAbove: trait.place.line)
        guard lines.count == entries.count else { return site }
        return RegistrationSite(fileID: site.fileID, line: UInt(lines[index]))
    }
}

/// The code of a source without comments and string literals.
struct SwiftText {
    /// The characters of the code; a space stands for each omitted one, and line ends stay.
    private let code: [Character]

    init(_ source: String) {
        var code: [Character] = []
        var rest = source[...]
        /// Omits the characters up to an end.
        func skip(_ start: String, to end: String, escapes: Bool = false) {
            rest = rest.dropFirst(start.count)
            while !rest.isEmpty, !rest.hasPrefix(end) {
                let length = escapes && rest.first == "\\" ? 2 : 1
                for character in rest.prefix(length) { code.append(character.isNewline ? character : " ") }
                rest = rest.dropFirst(length)
            }
            // The end of a line belongs to the code.
            if end != "\n" { rest = rest.dropFirst(end.count) }
            code.append(" ")
        }
        while let next = rest.first {
            if rest.hasPrefix("//") {
                skip("//", to: "\n")
            } else if rest.hasPrefix("/*") {
                skip("/*", to: "*/")
            } else if rest.hasPrefix("\"\"\"") {
                skip("\"\"\"", to: "\"\"\"", escapes: true)
            } else if next == "\"" {
                skip("\"", to: "\"", escapes: true)
            } else {
                code.append(next)
                rest = rest.dropFirst()
            }
        }
        self.code = code
    }

    /// The lines of the registrations in the attribute of a test or suite.
    ///
    /// - Parameter line: The line of the declaration.
    /// - Returns: The lines in their order; none when there is no such attribute.
    func linesOfRegistrations(inAttributeAbove line: Int) -> [Int] {
        var found: [Int] = []
        // Where the code of the attribute begins, and how many parentheses are open in it.
        var depth: Int?
        var currentLine = 1
        var word = ""
        var previousWord = ""
        for character in code {
            if character.isLetter || character.isNumber || character == "_" || character == "@" {
                word.append(character)
                continue
            }
            if !word.isEmpty { (previousWord, word) = (word, "") }
            switch character {
            case "(" where depth == nil && ["@Test", "@Suite"].contains(previousWord):
                // The last attribute that begins above the declaration counts.
                if currentLine > line { return found }
                (found, depth) = ([], 1)
            case "(":
                if depth != nil, previousWord == "Registration" { found.append(currentLine) }
                depth = depth.map { $0 + 1 }
            case "{", "<":
                if depth != nil, previousWord == "Registration" { found.append(currentLine) }
            case ")":
                depth = depth.flatMap { $0 == 1 ? nil : $0 - 1 }
            default: break
            }
            if character.isNewline { currentLine += 1 }
            if !character.isWhitespace { previousWord = "" }
        }
        return found
    }
}
