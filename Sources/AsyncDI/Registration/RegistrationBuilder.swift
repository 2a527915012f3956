/// Registrations as a value: what a module contributes, or a function returns, in a builder closure.
public struct Registrations: Sendable {
    var blueprints: [Blueprint] = []
    var decorations: [Decoration] = []
    /// The modules that the registrations came from, to be told when all are there.
    var modules: [any Module] = []

    var isEmpty: Bool { blueprints.isEmpty && decorations.isEmpty && modules.isEmpty }

    /// No registrations.
    public init() {}

    /// The registrations of a builder closure.
    ///
    /// - Parameter registrations: Registrations and modules.
    public init(@RegistrationBuilder _ registrations: () -> Registrations) { self = registrations() }

    init(blueprints: [Blueprint] = [], decorations: [Decoration] = []) {
        self.blueprints = blueprints
        self.decorations = decorations
    }

    /// What a module registers, and the module itself, after those that it contains.
    init(of module: any Module) {
        self = module.registrations
        modules.append(module)
    }

    fileprivate init(_ parts: [Registrations]) {
        for part in parts {
            blueprints += part.blueprints
            decorations += part.decorations
            modules += part.modules
        }
    }
}

/// Collects ``Registration`` and ``Module`` values, with `if`, `switch` and `for`.
@resultBuilder public enum RegistrationBuilder {
    /// One registration.
    public static func buildExpression<S>(_ registration: Registration<S>) -> Registrations {
        Registrations(blueprints: [registration.blueprint])
    }
    /// One decoration.
    public static func buildExpression(_ decoration: Decoration) -> Registrations {
        Registrations(decorations: [decoration])
    }
    /// What a module registers.
    public static func buildExpression(_ module: any Module) -> Registrations { Registrations(of: module) }
    /// What several modules register.
    public static func buildExpression(_ modules: [any Module]) -> Registrations {
        Registrations(modules.map(Registrations.init(of:)))
    }
    /// Registrations collected elsewhere.
    public static func buildExpression(_ registrations: Registrations) -> Registrations { registrations }
    /// Explains itself to who writes something else.
    @available(*, unavailable, message: "a container is made of Registration, Decoration and Module values")
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
        Registrations(parts)
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ part: Registrations) -> Registrations { part }
}
