/// Initializers with few parameters, where the compiler infers more of the sources: closures as well.
extension Registration where Service: Sendable {
    /// Registers a service created by an initializer, with the source of its parameter.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - first: The source of the first parameter.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
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
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            try await initializer(first.value(from: resolver))
        }
        blueprint.dependencies = first.dependencies
    }

    /// Registers a service created by an initializer, with sources for its two parameters.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - first: The source of the first parameter.
    ///   - second: The source of the second parameter.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
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
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            try await initializer(first.value(from: resolver), second.value(from: resolver))
        }
        blueprint.dependencies = first.dependencies + second.dependencies
    }

    /// Registers a service created by an initializer, with sources for its three parameters.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - first: The source of the first parameter.
    ///   - second: The source of the second parameter.
    ///   - third: The source of the third parameter.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
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
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            try await initializer(
                first.value(from: resolver), second.value(from: resolver), third.value(from: resolver))
        }
        blueprint.dependencies = first.dependencies + second.dependencies + third.dependencies
    }

    /// Registers a service created by an initializer, with sources for its four parameters.
    ///
    /// The same as ``init(using:with:_:as:qualifier:lifetime:fileID:line:)`` with any number of parameters.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - first: The source of the first parameter.
    ///   - second: The source of the second parameter.
    ///   - third: The source of the third parameter.
    ///   - fourth: The source of the fourth parameter.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
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
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            try await initializer(
                first.value(from: resolver), second.value(from: resolver), third.value(from: resolver),
                fourth.value(from: resolver))
        }
        blueprint.dependencies = first.dependencies + second.dependencies + third.dependencies + fourth.dependencies
    }
}
