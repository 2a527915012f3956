// Each overload of `register(using:with:)` binds the initializer of `Registration` with as many parameters, of which
// the compiler infers the same.

extension Container {
    /// Registers an initializer, and where each of its parameters comes from.
    ///
    /// ```swift
    /// try await container.register(using: Client.init(url:log:), with: .qualified(Env.prod), .resolved)
    /// ```
    /// - Parameters:
    ///   - initializer: The initializer, or any function that makes the service.
    ///   - first: Where the first parameter comes from.
    ///   - rest: Where the other parameters come from.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable, First: Sendable, each Dependency: Sendable>(
        using initializer: @escaping @Sendable (First, repeat each Dependency) async throws -> Service,
        with first: ParameterSource<First>, _ rest: repeat ParameterSource<each Dependency>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, with: first, repeat each rest, as: service, qualifier: qualifier,
                lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer, and where its one parameter comes from.
    @_documentation(visibility: internal)
    public func register<Service: Sendable, First: Sendable>(
        using initializer: @escaping @Sendable (First) async throws -> Service,
        with first: ParameterSource<First>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, with: first, as: service, qualifier: qualifier,
                lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer, and where its two parameters come from.
    @_documentation(visibility: internal)
    public func register<Service: Sendable, First: Sendable, Second: Sendable>(
        using initializer: @escaping @Sendable (First, Second) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, with: first, second, as: service, qualifier: qualifier,
                lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer, and where its three parameters come from.
    @_documentation(visibility: internal)
    public func register<Service: Sendable, First: Sendable, Second: Sendable, Third: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>, _ third: ParameterSource<Third>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, with: first, second, third, as: service, qualifier: qualifier,
                lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer, and where its four parameters come from.
    @_documentation(visibility: internal)
    public func register<Service: Sendable, First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>, _ third: ParameterSource<Third>,
        _ fourth: ParameterSource<Fourth>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, with: first, second, third, fourth, as: service, qualifier: qualifier,
                lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer whose first parameter is an argument of the request; the others are resolved by their
    /// types.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that makes the service.
    ///   - argument: The type of the argument.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable, Argument: Hashable & Sendable, each Dependency: Sendable>(
        using initializer: @escaping @Sendable (Argument, repeat each Dependency) async throws -> Service,
        taking argument: Argument.Type, as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        lifetime: Lifetime? = nil, fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, taking: argument, as: service, qualifier: qualifier, lifetime: lifetime,
                fileID: fileID, line: line))
    }
}
