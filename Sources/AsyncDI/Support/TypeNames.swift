/// The name of a type as source code spells it: `Outer.Inner` without the module, `String?` for `Optional<String>`.
///
/// A private type, or one inside a function, is called by its own name alone.
func readableName(of type: any Any.Type) -> String {
    if let wrapper = type as? any SugaredType.Type { return wrapper.sugaredName }
    // What `String(describing:)` returns for a type, after the casts with which it looks for another description: they
    // would be a quarter of a singleton's creation, whose task has its name.
    return NestedTypeName(_typeName(type, qualified: true)).text(replacing: _typeName(type, qualified: false))
}

/// The type in source code: `Dog`, or `any Pet` for an existential type.
func typeExpression(_ type: any Any.Type) -> String {
    isExistential(type) ? "any \(readableName(of: type))" : readableName(of: type)
}

/// The expression for a type's metatype: `Pet.self`, or `(any Pet).self` for an existential type.
func metatypeExpression(_ type: any Any.Type) -> String {
    isExistential(type) ? "(\(typeExpression(type))).self" : "\(readableName(of: type)).self"
}

/// Whether a type is `any P`.
func isExistential<T>(_ type: T.Type) -> Bool {
    // The metatype of an existential type is the one whose own type is printed as `P.Protocol`.
    String(describing: Swift.type(of: type)).hasSuffix(".Protocol")
}

/// A type whose name has punctuation.
private protocol SugaredType {
    static var sugaredName: String { get }
}

extension Optional: SugaredType {
    fileprivate static var sugaredName: String { readableName(of: Wrapped.self) + "?" }
}

extension Array: SugaredType {
    fileprivate static var sugaredName: String { "[" + readableName(of: Element.self) + "]" }
}

extension Dictionary: SugaredType {
    fileprivate static var sugaredName: String {
        "[" + readableName(of: Key.self) + ": " + readableName(of: Value.self) + "]"
    }
}

/// A type's name without modules, read from the name that has them.
private struct NestedTypeName {
    /// One piece of a name.
    private struct Piece {
        /// With outer types, as far as source code can spell them.
        var nested = ""
        /// Without outer types.
        var plain = ""

        mutating func append(_ text: Substring.UTF8View) {
            nested += Substring(text)
            plain += Substring(text)
        }

        mutating func append(_ other: Piece) {
            nested += other.nested
            plain += other.plain
        }
    }

    private var rest: Substring.UTF8View
    private var result = Piece()
    /// Whether the name has nothing whose form is not known.
    private var isUnderstood = true

    /// Reads a name such as `App.Box<App.Outer.Config>`; a name in which nothing is nested is left unread.
    init(_ qualified: String) {
        rest = qualified[...].utf8
        guard rest.lazy.filter({ $0 == UInt8(ascii: ".") }).dropFirst().first != nil else { return }
        result = readPiece()
    }

    /// The name with outer types, or the plain one, when the two disagree on anything else.
    func text(replacing plain: String) -> String { isUnderstood && result.plain == plain ? result.nested : plain }

    /// Reads up to the end, or to the `>` of the generic arguments.
    private mutating func readPiece() -> Piece {
        var piece = Piece()
        while let character = rest.first, character != UInt8(ascii: ">") {
            if skip("(extension in ", through: "):") { continue }
            if isAtName {
                piece.append(readPath())
            } else if rest.starts(with: "->".utf8) {
                piece.append(take(2))
            } else {
                piece.append(take(1))
                // The `Type` of `(A, B).Type` is no path.
                if character == UInt8(ascii: ".") { piece.append(takeName()) }
            }
        }
        return piece
    }

    /// Reads `App.Outer<App.A>.Inner`.
    private mutating func readPath() -> Piece {
        var components: [Piece] = []
        var hasModule = true
        repeat {
            if skip("(unknown context", through: ")") {
                // A private type, or a function: other code cannot spell its surroundings.
                components = []
                hasModule = false
                continue
            }
            var component = Piece()
            component.append(takeName())
            if rest.first == UInt8(ascii: "<") {
                component.append(take(1))
                component.append(readPiece())
                component.append(take(1))
            }
            components.append(component)
        } while skipDot()
        // The constraint of an existential: `Self.App.Store.Item == Int`.
        if components.count > 1, components[0].plain == "Self" { isUnderstood = false }
        if hasModule, components.count > 1 { components.removeFirst() }
        let isMetatype = components.count > 1 && ["Type", "Protocol"].contains(components.last?.plain)
        return Piece(
            nested: components.map(\.nested).joined(separator: "."),
            plain: components.suffix(isMetatype ? 2 : 1).map(\.plain).joined(separator: "."))
    }

    // MARK: Characters

    private static func isPartOfName(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private var isAtName: Bool { rest.first.map { Self.isPartOfName($0) || $0 == UInt8(ascii: "`") } == true }

    private mutating func take(_ count: Int) -> Substring.UTF8View {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Takes a name, perhaps one in backticks, which may have any character.
    private mutating func takeName() -> Substring.UTF8View {
        if rest.first == UInt8(ascii: "`") {
            return take(rest.dropFirst().prefix { $0 != UInt8(ascii: "`") }.count + 2)
        }
        return take(rest.prefix(while: Self.isPartOfName).count)
    }

    /// Skips a dot between two components.
    private mutating func skipDot() -> Bool {
        guard rest.first == UInt8(ascii: ".") else { return false }
        let before = rest
        rest = rest.dropFirst()
        if isAtName || rest.starts(with: "(unknown context".utf8) { return true }
        rest = before
        return false
    }

    private mutating func skip(_ start: String, through end: String) -> Bool {
        guard rest.starts(with: start.utf8) else { return false }
        while !rest.isEmpty, !rest.starts(with: end.utf8) { rest = rest.dropFirst() }
        rest = rest.dropFirst(end.utf8.count)
        return true
    }
}
