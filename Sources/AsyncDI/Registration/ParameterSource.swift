/// The source of an initializer's parameter, for `Registration(using:with:)`: the factory resolves it, and
/// ``Container/validate()`` checks it.
///
/// ```swift
/// Registration(using: Client.init(url:log:), with: .qualified(Env.prod), .resolved)
/// Registration(using: Work.init, with: .leased(by: Tenant.self), .resolved, lifetime: .scoped)
/// ```
public struct ParameterSource<Value: Sendable>: Sendable {
    /// The resolved services, in order.
    let dependencies: [ServiceKey]
    private let resolution: nonisolated(nonsending) @Sendable (Resolver) async throws -> Value

    private init(
        _ dependencies: [ServiceKey],
        _ resolution: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Value
    ) {
        self.dependencies = dependencies
        self.resolution = resolution
    }

    nonisolated(nonsending) func value(from resolver: Resolver) async throws -> Value {
        try await resolution(resolver)
    }

    /// Resolved by its type, as without `with:`.
    public static var resolved: Self {
        Self([ServiceKey(Value.self)]) { resolver in try await resolver.resolve(Value.self) }
    }

    /// Resolved by its type and a qualifier.
    ///
    /// - Parameter qualifier: The qualifier.
    /// - Returns: The source.
    public static func qualified(_ qualifier: some Qualifier) -> Self {
        Self([ServiceKey(Value.self, qualifier: qualifier)]) { resolver in
            try await resolver.resolve(Value.self, qualifier: qualifier)
        }
    }

    /// Resolved with arguments that are resolved themselves.
    ///
    /// - Parameters:
    ///   - first: The type of the first argument, which is a service.
    ///   - rest: The types of the other arguments.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func resolved<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
        by first: First.Type, _ rest: repeat (each Argument).Type, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self(keys(first, repeat each rest, qualifier: qualifier)) { resolver in
            try await resolver.resolve(
                Value.self, qualifier: qualifier, arguments: resolver.resolve(First.self),
                repeat resolver.resolve((each Argument).self))
        }
    }

    /// Resolved with an argument that is computed from another service.
    ///
    /// ```swift
    /// Registration(using: Basket.init, with: .resolved(by: { (request: Request) in request.customer }))
    /// ```
    /// - Parameters:
    ///   - argument: Computes the argument.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func resolved<Origin: Sendable, Argument: Hashable & Sendable>(
        by argument: @escaping @Sendable (Origin) throws -> Argument, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self([ServiceKey(Origin.self), key(Argument.self, qualifier: qualifier)]) { resolver in
            let argument = try argument(await resolver.resolve(Origin.self))
            return try await resolver.resolve(Value.self, qualifier: qualifier, arguments: argument)
        }
    }

    /// Leased for as long as the created instance lasts: see ``Resolver/lease(_:qualifier:)``.
    public static var leased: Self { leased(qualifier: nil) }

    /// Leased by a qualifier for as long as the created instance lasts.
    ///
    /// - Parameter qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func leased(qualifier: (any Qualifier)?) -> Self {
        Self([ServiceKey(Value.self, qualifier: qualifier)]) { resolver in
            try await resolver.lease(Value.self, qualifier: qualifier)
        }
    }

    /// Leased with arguments that are resolved themselves, for as long as the created instance lasts.
    ///
    /// - Parameters:
    ///   - first: The type of the first argument, which is a service.
    ///   - rest: The types of the other arguments.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func leased<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
        by first: First.Type, _ rest: repeat (each Argument).Type, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self(keys(first, repeat each rest, qualifier: qualifier)) { resolver in
            try await resolver.lease(
                Value.self, qualifier: qualifier, arguments: resolver.resolve(First.self),
                repeat resolver.resolve((each Argument).self))
        }
    }

    /// Leased with an argument that is computed from another service, for as long as the created instance lasts.
    ///
    /// ```swift
    /// Registration(
    ///     using: UnitOfWork.init, with: .leased(by: { (request: Request) in request.tenant }), .resolved,
    ///     lifetime: .scoped)
    /// ```
    /// - Parameters:
    ///   - argument: Computes the argument.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func leased<Origin: Sendable, Argument: Hashable & Sendable>(
        by argument: @escaping @Sendable (Origin) throws -> Argument, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self([ServiceKey(Origin.self), key(Argument.self, qualifier: qualifier)]) { resolver in
            let argument = try argument(await resolver.resolve(Origin.self))
            return try await resolver.lease(Value.self, qualifier: qualifier, arguments: argument)
        }
    }

    /// The arguments as services, and the parameter with their types.
    private static func keys<First: Sendable, each Argument: Sendable>(
        _ first: First.Type, _ rest: repeat (each Argument).Type, qualifier: (any Qualifier)?
    ) -> [ServiceKey] {
        var keys = [ServiceKey(first)]
        for argument in repeat (each Argument).self { keys.append(ServiceKey(argument)) }
        return keys + [key(first, repeat each rest, qualifier: qualifier)]
    }

    private static func key<First: Sendable, each Argument: Sendable>(
        _ first: First.Type, _ rest: repeat (each Argument).Type, qualifier: (any Qualifier)?
    ) -> ServiceKey {
        ServiceKey(Value.self, qualifier: qualifier, arguments: Arguments<First, repeat each Argument>.self)
    }
}
