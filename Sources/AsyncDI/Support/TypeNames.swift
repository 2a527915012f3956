/// The name of a type as its author writes it: without the module, `String?` for `Optional<String>`.
func readableName(of type: any Any.Type) -> String {
    if let wrapper = type as? any SugaredType.Type { return wrapper.sugaredName }
    return String(describing: type)
}

/// The expression for a type's metatype: `Pet.self`, or `(any Pet).self` for an existential type.
func readableMetatype<T>(of type: T.Type) -> String {
    // The metatype of an existential type is the one whose own type is printed as `P.Protocol`.
    let isExistential = String(describing: Swift.type(of: type)).hasSuffix(".Protocol")
    return isExistential ? "(any \(readableName(of: type))).self" : "\(readableName(of: type)).self"
}

/// A type whose name is written with punctuation.
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
