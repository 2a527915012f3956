// Overloads that are chosen only for a mistake, so that the compiler explains it: without them it has no diagnostic to give.

extension Container {
    /// Explains itself to who gives an initialiser that makes something else than the service.
    @available(*, unavailable, message: "what the initializer makes is not of the type given as 'as:'")
    @_disfavoredOverload
    public func register<Service: Sendable, each Dependency: Sendable, Made>(
        using initializer: @escaping @Sendable (repeat each Dependency) async throws -> Made,
        as service: Service.Type, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil
    ) throws { fatalError() }

    /// Explains itself to who names no type.
    @available(
        *, unavailable, message: "name the service, resolve(Service.self, arguments: …), or give the result a type"
    )
    public nonisolated(nonsending) func resolve<First: Sendable, each Argument: Sendable>(
        arguments first: First, _ rest: repeat each Argument
    ) async throws -> Never { fatalError() }

    /// Explains itself to who names no type.
    @available(*, unavailable, message: "name the service, ready(Service.self), or give the result a type")
    public nonisolated func ready() throws -> Never { fatalError() }
}
