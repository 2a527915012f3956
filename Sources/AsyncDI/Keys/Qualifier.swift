/// A typed name that distinguishes registrations of one service type.
///
/// Declare an enumeration, or use a string:
/// ```swift
/// enum Env: Qualifier { case prod, test }
///
/// Registration(URL.self, qualifier: Env.prod, instance: prodURL)
/// Registration(URL.self, qualifier: .named("backup"), instance: backupURL)
/// ```
/// Qualifiers of different types are never equal, and an unqualified registration never matches a qualified request.
/// Their `==` and `hash(into:)` run during look-ups, and `==` also under the container's lock, while it registers and
/// for an optional service that is missing: keep them quick and free of side effects.
public protocol Qualifier: Hashable, Sendable {}

extension String: Qualifier {}

extension Qualifier where Self == String {
    /// A qualifier made of a string: `.named("main")` and `"main"` are the same.
    public static func named(_ name: String) -> String { name }
}

/// A qualifier made of any hashable value.
public struct KeyQualifier<Key: Hashable & Sendable>: Qualifier, CustomStringConvertible {
    /// The value.
    public let key: Key

    /// The value, as messages show it.
    public var description: String { "\(key)" }
}

extension Qualifier {
    /// A qualifier made of any hashable value: `.key(42)`, `.key(tenant.id)`.
    ///
    /// - Parameter key: The value, compared by its `==`.
    /// - Returns: The qualifier.
    public static func key<Key>(_ key: Key) -> Self where Self == KeyQualifier<Key> { KeyQualifier(key: key) }
}

extension Qualifier {
    /// Equality with a qualifier of any type.
    fileprivate func isEqual(to other: any Qualifier) -> Bool {
        guard let other = other as? Self else { return false }
        return self == other
    }
}

/// Equality of two optional qualifiers of any types.
func areEqual(_ first: (any Qualifier)?, _ second: (any Qualifier)?) -> Bool {
    switch (first, second) {
    case (nil, nil): true
    case (let first?, let second?): first.isEqual(to: second)
    default: false
    }
}
