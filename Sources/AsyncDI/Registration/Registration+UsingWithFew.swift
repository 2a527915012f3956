/// Initializers with few parameters, where the compiler infers more of the sources: closures as well.
extension Registration where Service: Sendable {
    /// Registers a service created by an initializer, with the source of its parameter.
    @_documentation(visibility: internal)
    public init<First: Sendable>(
        using initializer: @escaping @Sendable (First) async throws -> Service,
        with first: ParameterSource<First>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(initializer, first, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line)
    }

    /// Registers a service created by an initializer, with sources for its two parameters.
    @_documentation(visibility: internal)
    public init<First: Sendable, Second: Sendable>(
        using initializer: @escaping @Sendable (First, Second) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(initializer, first, second, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line)
    }

    /// Registers a service created by an initializer, with sources for its three parameters.
    @_documentation(visibility: internal)
    public init<First: Sendable, Second: Sendable, Third: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>, _ third: ParameterSource<Third>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(
            initializer, first, second, third, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line)
    }

    /// Registers a service created by an initializer, with sources for its four parameters.
    @_documentation(visibility: internal)
    public init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Service,
        with first: ParameterSource<First>, _ second: ParameterSource<Second>, _ third: ParameterSource<Third>,
        _ fourth: ParameterSource<Fourth>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(
            initializer, first, second, third, fourth, qualifier: qualifier, lifetime: lifetime, fileID: fileID,
            line: line)
    }
}
