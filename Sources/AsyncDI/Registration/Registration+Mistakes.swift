// Overloads that match only a mistake, so that the compiler explains it: without them it has no diagnostic to offer.

extension Registration where Service: Sendable {
    /// Diagnoses a lifetime beside a ready instance.
    @_disfavoredOverload  // A lone closure without parameters is a factory.
    @available(
        *, unavailable,
        message: "a ready instance has no lifetime: leave 'lifetime:' out; a factory that awaits begins with '_ in'"
    )
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime?,
        instance: Service
    ) { fatalError() }

    /// Diagnoses a lifetime beside a ready instance.
    @_disfavoredOverload  // A lone closure without parameters is a factory.
    @available(
        *, unavailable,
        message: "a ready instance has no lifetime: leave 'lifetime:' out; a factory that awaits begins with '_ in'"
    )
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, instance: Service,
        lifetime: Lifetime?
    ) { fatalError() }

    /// Diagnoses an initializer that returns a value of another type.
    @available(*, unavailable, message: "the initializer's result is not of the type given as 'as:'")
    @_disfavoredOverload
    public init<each Dependency: Sendable, Made>(
        using initializer: @escaping @Sendable (repeat each Dependency) async throws -> Made,
        as service: Service.Type, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil
    ) { fatalError() }

    /// Diagnoses a conversion to another type.
    @available(*, unavailable, message: "the closure's result is not of the type to implement")
    @_disfavoredOverload
    public func implements<Other: Sendable, Made>(
        _ other: Other.Type, _ convert: @escaping @Sendable (Service) -> Made
    ) -> Self { fatalError() }
}

// The compiler takes such an initializer for one with a tuple as its parameter, and would prefer that to an unavailable
// overload. So this one only warns, and the registration is invalid.

extension Registration where Service: Sendable {
    /// Diagnoses a single source for an initializer with several parameters.
    @available(*, deprecated, message: "'with:' needs a source for each of the initializer's parameters")
    @_documentation(visibility: internal)
    public init<First: Sendable, Second: Sendable, each Dependency: Sendable>(
        using initializer: @escaping @Sendable (First, Second, repeat each Dependency) async throws -> Service,
        with source: ParameterSource<(First, Second, repeat each Dependency)>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        var parameters = 2
        for _ in repeat (each Dependency).self { parameters += 1 }
        self.init(qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { _ in
            preconditionFailure("an invalid registration creates nothing")
        }
        blueprint.change { $0.parametersOfOneSource = parameters }
    }
}
