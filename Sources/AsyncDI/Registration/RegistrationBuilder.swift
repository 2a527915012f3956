/// Registrations as a value: what a module contributes, or a function returns, in a builder closure.
public struct Registrations: Sendable {
    var blueprints: [Blueprint] = []

    /// No registrations.
    public init() {}

    /// The registrations of a builder closure.
    ///
    /// - Parameter registrations: Registrations and modules.
    public init(@RegistrationBuilder _ registrations: () -> Registrations) { self = registrations() }

    fileprivate init(_ blueprints: [Blueprint]) { self.blueprints = blueprints }
}

/// Collects ``Registration`` and ``Module`` values, with `if`, `switch` and `for`.
@resultBuilder public enum RegistrationBuilder {
    /// One registration.
    public static func buildExpression<S>(_ registration: Registration<S>) -> Registrations {
        Registrations([registration.blueprint])
    }
    /// What a module registers.
    public static func buildExpression(_ module: any Module) -> Registrations { module.registrations }
    /// What several modules register.
    public static func buildExpression(_ modules: [any Module]) -> Registrations {
        Registrations(modules.flatMap(\.registrations.blueprints))
    }
    /// Registrations collected elsewhere.
    public static func buildExpression(_ registrations: Registrations) -> Registrations { registrations }
    /// Explains itself to who writes something else.
    @available(*, unavailable, message: "a container is made of Registration and Module values")
    public static func buildExpression<Other>(_ other: Other) -> Registrations { Registrations() }
    /// Everything in a block.
    public static func buildBlock(_ parts: Registrations...) -> Registrations { buildArray(parts) }
    /// An `if` without `else`.
    public static func buildOptional(_ part: Registrations?) -> Registrations { part ?? Registrations() }
    /// The first branch.
    public static func buildEither(first: Registrations) -> Registrations { first }
    /// The second branch.
    public static func buildEither(second: Registrations) -> Registrations { second }
    /// A `for` loop.
    public static func buildArray(_ parts: [Registrations]) -> Registrations {
        Registrations(parts.flatMap(\.blueprints))
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ part: Registrations) -> Registrations { part }
}
