extension Registration where Service: Sendable {
    /// Registers a service created by an initializer, with a source for each of its parameters.
    ///
    /// The sources need no declaration: the factory resolves them, and ``Container/validate()`` checks them.
    /// ```swift
    /// Registration(using: Client.init(url:log:), with: .qualified(Env.prod), .resolved)
    /// Registration(using: Work.init, with: .leased(by: Tenant.self), .resolved, lifetime: .scoped)
    /// ```
    /// The parameters are resolved one after another, from the first to the last.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - first: The source of the first parameter.
    ///   - rest: The sources of the other parameters.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    public init<First: Sendable, each Dependency: Sendable>(
        using initializer: @escaping @Sendable (First, repeat each Dependency) async throws -> Service,
        with first: ParameterSource<First>, _ rest: repeat ParameterSource<each Dependency>,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            try await initializer(first.value(from: resolver), repeat (each rest).value(from: resolver))
        }
        var keys = first.dependencies
        for source in repeat each rest { keys += source.dependencies }
        blueprint.dependencies = keys
    }

    /// Registers a service created by an initializer whose first parameter is an argument of the request; the others
    /// are resolved by their types.
    ///
    /// ```swift
    /// Registration(using: Document.init(title:store:), taking: String.self, lifetime: .multiton)
    ///
    /// let document = try await container.resolve(Document.self, arguments: "Letter")
    /// ```
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - argument: The type of the argument.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    public init<Argument: Hashable & Sendable, each Dependency: Sendable>(
        using initializer: @escaping @Sendable (Argument, repeat each Dependency) async throws -> Service,
        taking argument: Argument.Type, as service: Service.Type = Service.self,
        qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil, fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) {
            (resolver, argument: Argument) in
            try await initializer(argument, repeat resolver.resolve((each Dependency).self))
        }
        var services: [any Any.Type] = []
        for service in repeat (each Dependency).self { services.append(service) }
        dependsOn(services)
    }
}
