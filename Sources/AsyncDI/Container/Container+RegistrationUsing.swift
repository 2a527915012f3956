// Each overload of `register(using:)` binds the initializer of `Registration` with as many parameters, so that both
// cost the same: the compiler does not specialize the pack form, which is slower where all dependencies exist.

extension Container {
    /// Registers an initializer whose parameters are resolved by their types.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    @inlinable
    public func register<Service: Sendable, each Dependency: Sendable>(
        using initializer: @escaping @Sendable (repeat each Dependency) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, as: service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer whose one parameter is resolved by its type.
    @_documentation(visibility: internal)
    @inlinable
    public func register<Service: Sendable, First: Sendable>(
        using initializer: @escaping @Sendable (First) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, as: service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer whose two parameters are resolved by their types.
    @_documentation(visibility: internal)
    @inlinable
    public func register<Service: Sendable, First: Sendable, Second: Sendable>(
        using initializer: @escaping @Sendable (First, Second) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, as: service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer whose three parameters are resolved by their types.
    @_documentation(visibility: internal)
    @inlinable
    public func register<Service: Sendable, First: Sendable, Second: Sendable, Third: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, as: service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers an initializer whose four parameters are resolved by their types.
    @_documentation(visibility: internal)
    @inlinable
    public func register<Service: Sendable, First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                using: initializer, as: service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line))
    }
}
