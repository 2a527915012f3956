/// Synchronous factories that need no resolver.
///
/// The service is named, or has a qualifier or a lifetime, because a lone closure has registrations.
extension Container {
    /// Registers a service whose factory needs no ``Resolver``, and is synchronous.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line, factory: @escaping @Sendable () throws -> Service
    ) throws {
        try register(
            Registration(
                service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line, factory: factory))
    }

    /// Registers a service of inferred type whose factory needs no ``Resolver``, and is synchronous.
    ///
    /// - Parameters:
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable>(
        qualifier: some Qualifier, lifetime: Lifetime? = nil, fileID: String = #fileID, line: UInt = #line,
        factory: @escaping @Sendable () throws -> Service
    ) throws {
        try register(
            Service.self, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line, factory: factory)
    }

    /// Registers a service of inferred type whose factory needs no ``Resolver``, and is synchronous.
    ///
    /// - Parameters:
    ///   - lifetime: How long an instance is shared.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable>(
        lifetime: Lifetime, fileID: String = #fileID, line: UInt = #line,
        factory: @escaping @Sendable () throws -> Service
    ) throws {
        try register(Service.self, lifetime: lifetime, fileID: fileID, line: line, factory: factory)
    }
}
