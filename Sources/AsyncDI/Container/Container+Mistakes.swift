// Overloads that match only a mistake, so that the compiler explains it: without them it has no diagnostic to offer.

extension Container {
    /// Diagnoses a lifetime beside a ready instance.
    @available(
        *, unavailable,
        message: "a ready instance has no lifetime: leave 'lifetime:' out; a factory that awaits begins with '_ in'"
    )
    public func register<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime?,
        instance: Service
    ) throws { fatalError() }

    /// Diagnoses a lifetime beside a ready instance.
    @available(
        *, unavailable,
        message: "a ready instance has no lifetime: leave 'lifetime:' out; a factory that awaits begins with '_ in'"
    )
    public func register<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, instance: Service,
        lifetime: Lifetime?
    ) throws { fatalError() }

    /// Diagnoses a lifetime beside a ready instance.
    @available(
        *, unavailable,
        message: "a ready instance has no lifetime: leave 'lifetime:' out; a factory that awaits begins with '_ in'"
    )
    public func registerMany<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        key: (any Hashable & Sendable)? = nil, lifetime: Lifetime?, instance: Service
    ) throws { fatalError() }

    /// Diagnoses a lifetime beside a ready instance.
    @available(
        *, unavailable,
        message: "a ready instance has no lifetime: leave 'lifetime:' out; a factory that awaits begins with '_ in'"
    )
    public func registerMany<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        lifetime: Lifetime?, key: (any Hashable & Sendable)?, instance: Service
    ) throws { fatalError() }

    /// Diagnoses an initializer that returns a value of another type.
    @available(*, unavailable, message: "the initializer's result is not of the type given as 'as:'")
    @_disfavoredOverload
    public func register<Service: Sendable, each Dependency: Sendable, Made>(
        using initializer: @escaping @Sendable (repeat each Dependency) async throws -> Made,
        as service: Service.Type, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil
    ) throws { fatalError() }
}

// For the reason beside the same overload of `Registration`, this one only warns.

extension Container {
    /// Diagnoses a single source for an initializer with several parameters.
    @available(*, deprecated, message: "'with:' needs a source for each of the initializer's parameters")
    @_documentation(visibility: internal)
    public func register<Service: Sendable, First: Sendable, Second: Sendable, each Dependency: Sendable>(
        using initializer: @escaping @Sendable (First, Second, repeat each Dependency) async throws -> Service,
        with source: ParameterSource<(First, Second, repeat each Dependency)>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, with: source, as: service, qualifier: qualifier, lifetime: lifetime,
                fileID: fileID, line: line))
    }
}
