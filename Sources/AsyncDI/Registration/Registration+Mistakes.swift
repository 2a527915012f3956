// Overloads that are chosen only for a mistake, so that the compiler explains it: without them it has no diagnostic to give.

extension Registration where Service: Sendable {
    /// Explains itself to who gives an initialiser that makes something else than the service.
    @available(*, unavailable, message: "what the initializer makes is not of the type given as 'as:'")
    @_disfavoredOverload
    public init<each Dependency: Sendable, Made>(
        using initializer: @escaping @Sendable (repeat each Dependency) async throws -> Made,
        as service: Service.Type, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil
    ) { fatalError() }

    /// Explains itself to who gives a conversion to something else.
    @available(*, unavailable, message: "the service is not of the type that it should implement")
    @_disfavoredOverload
    public func implements<Other: Sendable, Made>(
        _ other: Other.Type, _ convert: @escaping @Sendable (Service) -> Made
    ) -> Self { fatalError() }
}
