/// A typed name that distinguishes registrations of one service type.
///
/// Declare an enumeration, or use a string:
/// ```swift
/// enum Env: Qualifier { case prod, test }
///
/// Registration(URL.self, qualifier: Env.prod, instance: prodURL)
/// Registration(URL.self, qualifier: .named("backup"), instance: backupURL)
/// ```
/// Qualifiers of different types are never equal, and an unqualified registration never answers for a qualified one.
/// Their `==` and `hash(into:)` run while the container looks things up, `==` also under its lock when one is
/// registered: keep them quick and free of side effects.
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
    /// - Parameter key: The value; its `==` decides.
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
