/// The name of a type as source code spells it: `Outer.Inner` without the module, `String?` for `Optional<String>`.
///
/// A private type, or one inside a function, is called by its own name alone.
package func readableName(of type: any Any.Type) -> String {
    if let named = type as? any NamedInMessages.Type { return named.nameInMessages(of: readableName) }
    // What `String(describing:)` returns for a type, after the casts with which it looks for another description: they
    // would be a quarter of a singleton's creation, whose task has its name.
    return NestedTypeName(_typeName(type, qualified: true)).text(replacing: _typeName(type, qualified: false))
}

/// The name of a type with its module and outer types, where these have names: a private type, or one inside a
/// function, is called by the names around that.
func qualifiedName(of type: any Any.Type) -> String {
    var name = _typeName(type, qualified: true)
    // Followed by an address, which differs from run to run.
    while let start = name.firstRange(of: "(unknown context at "),
        let end = name[start.upperBound...].firstRange(of: ").")
    {
        name.removeSubrange(start.lowerBound..<end.upperBound)
    }
    return name
}

/// The type in source code: `Dog`, or `any Pet` for an existential type.
func typeExpression(_ type: any Any.Type) -> String {
    if let named = type as? any NamedInMessages.Type { return named.nameInMessages(of: typeExpression) }
    let name = readableName(of: type)
    return isExistential(type) && !name.hasPrefix("any ") ? "any \(name)" : name
}

/// The expression for a type's metatype: `Pet.self`, or `(any Pet).self` for an existential type.
func metatypeExpression(_ type: any Any.Type) -> String {
    operand(typeExpression(type)) + ".self"
}

/// The type of a parameter whose argument is kept: `@escaping (Int) -> Int` for a function.
func parameterExpression(_ type: any Any.Type) -> String {
    let expression = typeExpression(type)
    let isFunction = !isExistential(type) && operand(expression) != expression
    return isFunction ? "@escaping \(expression)" : expression
}

/// A type's expression, in parentheses where a `?` or a `.self` after it would belong to a part of it only.
private func operand(_ expression: String) -> String {
    var isCompound = expression.hasPrefix("any ")
    var depth = 0
    var last: Character?
    for character in expression {
        switch character {
        case "(", "[", "<": depth += 1
        case ">" where last == "-": isCompound = isCompound || depth == 0
        case ")", "]", ">": depth -= 1
        case "&": isCompound = isCompound || depth == 0
        default: break
        }
        last = character
    }
    return isCompound ? "(\(expression))" : expression
}

/// Whether a type is `any P`.
func isExistential<T>(_ type: T.Type) -> Bool {
    // The metatype of an existential type is the one whose own type is printed as `P.Protocol`. One with constraints is
    // itself printed as `any P<…>`.
    String(describing: Swift.type(of: type)).hasSuffix(".Protocol")
        || _typeName(type, qualified: false).hasPrefix("any ")
}

/// A type that messages call by another name than its own.
protocol NamedInMessages {
    /// The name, for these names of the types that it is made of.
    static func nameInMessages(of part: (any Any.Type) -> String) -> String
}

extension Optional: NamedInMessages {
    static func nameInMessages(of part: (any Any.Type) -> String) -> String { operand(part(Wrapped.self)) + "?" }
}

extension Array: NamedInMessages {
    static func nameInMessages(of part: (any Any.Type) -> String) -> String { "[" + part(Element.self) + "]" }
}

extension Dictionary: NamedInMessages {
    static func nameInMessages(of part: (any Any.Type) -> String) -> String {
        "[" + part(Key.self) + ": " + part(Value.self) + "]"
    }
}

/// A type's name without modules, read from the name that has them.
///
/// Read byte by byte, because every creation of a binding's first instance needs a name for its task.
private struct NestedTypeName {
    private let name: [UInt8]
    private var position = 0
    /// The part that has been read: with outer types, as far as source code can spell them.
    private var nested: [UInt8] = []
    /// The same without outer types.
    private var plain: [UInt8] = []
    /// The constraints of existential types.
    private var constraints = 0
    /// Whether the name has nothing whose form is not known.
    private var isUnderstood = true

    /// Reads a name such as `App.Box<App.Outer.Config>`; a name in which nothing is nested is left unread.
    init(_ qualified: String) {
        name = Array(qualified.utf8)
        guard let dot = name.firstIndex(of: UInt8(ascii: ".")), name[(dot + 1)...].contains(UInt8(ascii: ".")) else {
            return
        }
        nested.reserveCapacity(name.count)
        plain.reserveCapacity(name.count)
        readPiece()
    }

    /// The name with outer types, or the plain one, when the two disagree on anything else.
    func text(replacing plain: String) -> String {
        isUnderstood && self.plain.elementsEqual(plain.utf8) ? String(decoding: nested, as: UTF8.self) : plain
    }

    /// Reads up to the end, or to the `>` of the generic arguments.
    private mutating func readPiece() {
        while let character = next, character != UInt8(ascii: ">") {
            if skip("(extension in ", through: "):") { continue }
            if isAtName {
                readPath()
            } else if isAt("->") {
                append(take(2))
            } else {
                append(take(1))
                // The `Type` of `(A, B).Type` is no path.
                if character == UInt8(ascii: ".") { append(takeName()) }
            }
        }
    }

    /// Reads `App.Outer<App.A>.Inner`.
    private mutating func readPath() {
        let start = (nested: nested.count, plain: plain.count)
        func forget() {
            nested.removeSubrange(start.nested...)
            plain.removeSubrange(start.plain...)
        }
        var components = 0
        var hasModule = true
        repeat {
            if skip("(unknown context", through: ")") {
                // A private type, or a function: other code cannot spell its surroundings.
                forget()
                components = 0
                hasModule = false
                continue
            }
            let component = takeName()
            if components == 1 {
                if plain[start.plain...].elementsEqual("Self".utf8) { return readConstraint(from: start.nested) }
                if hasModule { forget() }
            }
            if nested.count > start.nested {
                nested.append(UInt8(ascii: "."))
                if component.elementsEqual("Type".utf8) || component.elementsEqual("Protocol".utf8) {
                    plain.append(UInt8(ascii: "."))
                } else {
                    plain.removeSubrange(start.plain...)
                }
            }
            append(component)
            if next == UInt8(ascii: "<") {
                append(take(1))
                readPiece()
                append(take(1))
            }
            components += 1
        } while skipDot()
    }

    /// Reads the rest of `Self.App.Store.Item == Int`, the constraint of an existential, of which source code spells
    /// the last part only: `any Store<Int>`.
    ///
    /// Several constraints, or protocols, are in an order of the compiler's, and stay as they are.
    private mutating func readConstraint(from start: Int) {
        let end = name[position...].firstIndex(of: UInt8(ascii: " ")) ?? name.count
        plain += take(end - position)
        isUnderstood = isUnderstood && constraints == 0 && isAt(" == ") && !nested.contains(UInt8(ascii: "&"))
        constraints += 1
        plain += take(4)
        nested.removeSubrange(start...)
    }

    private mutating func append(_ text: ArraySlice<UInt8>) {
        nested += text
        plain += text
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

    private var next: UInt8? { position < name.count ? name[position] : nil }
    private var isAtName: Bool { next.map { Self.isPartOfName($0) || $0 == UInt8(ascii: "`") } == true }
    private func isAt(_ text: String) -> Bool {
        next == text.utf8.first && name[position...].starts(with: text.utf8)
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        defer { position = min(position + count, name.count) }
        return name[position...].prefix(count)
    }

    /// Takes a name, perhaps one in backticks, which may have any character.
    private mutating func takeName() -> ArraySlice<UInt8> {
        if next == UInt8(ascii: "`") {
            return take(name[(position + 1)...].prefix { $0 != UInt8(ascii: "`") }.count + 2)
        }
        return take(name[position...].prefix(while: Self.isPartOfName).count)
    }

    /// Skips a dot between two components.
    private mutating func skipDot() -> Bool {
        guard next == UInt8(ascii: ".") else { return false }
        position += 1
        if isAtName || isAt("(unknown context") { return true }
        position -= 1
        return false
    }

    private mutating func skip(_ start: String, through end: String) -> Bool {
        guard next == UInt8(ascii: "("), isAt(start) else { return false }
        while position < name.count, !isAt(end) { position += 1 }
        _ = take(end.utf8.count)
        return true
    }
}
