/// The name of a type as source code spells it: without the module, `String?` for `Optional<String>`.
func readableName(of type: any Any.Type) -> String {
    if let wrapper = type as? any SugaredType.Type { return wrapper.sugaredName }
    // What `String(describing:)` returns for a type, after the casts with which it looks for another description: they
    // would be a quarter of a singleton's creation, whose task has its name.
    return _typeName(type, qualified: false)
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
