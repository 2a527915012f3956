/// Initializers with few parameters, where the compiler infers more of what `with:` leaves out: closures as well.
extension Registration where Service: Sendable {
    /// A service made by an initializer, and where its one parameter comes from.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that makes the service.
    ///   - first: Where the first parameter comes from.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Tells registrations of one type apart.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    @_documentation(visibility: internal)
    public init<First: Sendable>(
        using initializer: @escaping @Sendable (First) async throws -> Service,
        with first: ParameterSource<First>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        let site = RegistrationSite(fileID: fileID, line: line)
        self.init(initializer, first, qualifier: qualifier, lifetime: lifetime, site: site)
    }

    /// A service made by an initializer, and where its two parameters come from.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that makes the service.
    ///   - first: Where the first parameter comes from.
    ///   - second: Where the second parameter comes from.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Tells registrations of one type apart.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    @_documentation(visibility: internal)
    public init<First: Sendable, Second: Sendable>(
        using initializer: @escaping @Sendable (First, Second) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        let site = RegistrationSite(fileID: fileID, line: line)
        self.init(initializer, first, second, qualifier: qualifier, lifetime: lifetime, site: site)
    }

    /// A service made by an initializer, and where its three parameters come from.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that makes the service.
    ///   - first: Where the first parameter comes from.
    ///   - second: Where the second parameter comes from.
    ///   - third: Where the third parameter comes from.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Tells registrations of one type apart.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    @_documentation(visibility: internal)
    public init<First: Sendable, Second: Sendable, Third: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>, _ third: ParameterSource<Third>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        let site = RegistrationSite(fileID: fileID, line: line)
        self.init(initializer, first, second, third, qualifier: qualifier, lifetime: lifetime, site: site)
    }

    /// A service made by an initializer, and where its four parameters come from.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that makes the service.
    ///   - first: Where the first parameter comes from.
    ///   - second: Where the second parameter comes from.
    ///   - third: Where the third parameter comes from.
    ///   - fourth: Where the fourth parameter comes from.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Tells registrations of one type apart.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    @_documentation(visibility: internal)
    public init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>, _ third: ParameterSource<Third>,
        _ fourth: ParameterSource<Fourth>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        let site = RegistrationSite(fileID: fileID, line: line)
        self.init(initializer, first, second, third, fourth, qualifier: qualifier, lifetime: lifetime, site: site)
    }
}
