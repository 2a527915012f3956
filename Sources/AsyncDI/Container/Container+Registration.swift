extension Container {
    /// Registers a service, which can be resolved from now on.
    ///
    /// - Parameter registration: The registration.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`; the
    ///   container is then unchanged.
    public func register<Service>(_ registration: consuming Registration<Service>) throws {
        try core.register(registration.draft)
    }

    /// Registers a module's registrations, all or nothing, and calls ``Module/loaded(_:)``.
    ///
    /// - Parameter module: The module.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`; the
    ///   error of ``Module/loaded(_:)``.
    public nonisolated(nonsending) func register(_ module: some Module) async throws {
        // Evaluated here, because user code does not run on the container's executor.
        try await register(Registrations(of: module))
        try await core.loadModules()
    }

    /// Registers the contents of a builder closure, all or nothing.
    ///
    /// - Parameter registrations: ``Registration`` and ``Module`` values.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public nonisolated(nonsending) func register(@RegistrationBuilder _ registrations: () -> Registrations) async throws
    {
        try await register(registrations())
        try await core.loadModules()
    }

    /// Registers a collection of registrations, all or nothing.
    ///
    /// Its modules are loaded by ``start()``, or else before the next resolution from outside returns.
    ///
    /// - Parameter registrations: The registrations.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register(_ registrations: Registrations) throws {
        try core.register(registrations)
    }

    /// Registers a service created without arguments.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    @inlinable
    public func register<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) throws {
        try register(
            Registration(
                service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line,
                factory: factory))
    }

    /// Registers a service created without arguments, with a qualifier whose type is known.
    @_documentation(visibility: internal)
    @inlinable
    public func register<Service: Sendable, Name: Qualifier>(
        _ service: Service.Type = Service.self, qualifier: Name, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) throws {
        try register(
            Registration(
                service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line,
                factory: factory))
    }

    /// Registers a service created without arguments, whose type is the factory's result.
    ///
    /// - Parameters:
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    @inlinable
    public func register<Service: Sendable>(
        qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) throws {
        try register(
            Registration(
                qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line,
                factory: factory))
    }

    /// Registers a service created with arguments.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared between requests with equal arguments.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments given to `resolve`.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable, First: Hashable & Sendable, each Argument: Hashable & Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory:
            nonisolated(nonsending) @escaping @Sendable (Resolver, First, repeat each Argument) async throws -> Service
    ) throws {
        try register(
            Registration(
                service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line,
                factory: factory))
    }

    /// Registers a service created with arguments that are compared by a computed key.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared between requests with equal keys.
    ///   - key: Computes the key from the arguments.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments of the first request.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable, each Argument: Sendable, Key: Hashable & Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime = .multiton,
        keyedBy key: @escaping @Sendable (repeat each Argument) -> Key,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver, repeat each Argument) async throws -> Service
    ) throws {
        try register(
            Registration(
                service, qualifier: qualifier, lifetime: lifetime, keyedBy: key, fileID: fileID, line: line,
                factory: factory))
    }

    /// Registers an existing instance.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - instance: The instance, which belongs to its creator.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    @_disfavoredOverload  // A closure without parameters beside a qualifier is a factory.
    public func register<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, instance: Service,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(
            Registration(
                service, qualifier: qualifier, instance: instance, fileID: fileID, line: line))
    }

    /// Registers a transient service, whose arguments need not be `Hashable`.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: `.transient`.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments given to `resolve`.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: Sendable, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: TransientLifetime,
        fileID: String = #fileID, line: UInt = #line,
        factory:
            nonisolated(nonsending) @escaping @Sendable (Resolver, First, repeat each Argument) async throws -> Service
    ) throws {
        try register(
            Registration(
                service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line,
                factory: factory))
    }

    /// Registers a service created by its own `init()`.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func register<Service: DefaultInitializable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) throws {
        try register(Registration(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line))
    }

    /// Registers a service that need not be `Sendable`, for ``make(_:qualifier:arguments:)``.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is registered, for `make`.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments given to `make`.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    @_disfavoredOverload  // A lone closure is an ordinary factory.
    public func register<Service, each Argument: Sendable>(
        making service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory:
            nonisolated(nonsending) @escaping @Sendable (Resolver, repeat each Argument) async throws -> sending Service
    ) throws {
        try register(
            Registration(
                making: service, qualifier: qualifier, fileID: fileID, line: line,
                factory: factory))
    }

    /// Removes every registration of a service with this qualifier, whatever its arguments; its instances are disposed.
    ///
    /// In-progress creations reach their waiters. Ancestors keep their registrations.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: Whether the container had such a registration.
    @discardableResult
    public func unregister<Service>(_ service: Service.Type, qualifier: (any Qualifier)? = nil) -> Bool {
        core.unregister(Service.self, qualifier: qualifier, arguments: nil)
    }

    /// Removes the registration of a service with these argument types; its instances are disposed.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The type of the first argument.
    ///   - rest: The types of the other arguments.
    /// - Returns: Whether the container had such a registration.
    @discardableResult
    public func unregister<Service, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil, arguments first: First.Type,
        _ rest: repeat (each Argument).Type
    ) -> Bool {
        core.unregister(Service.self, qualifier: qualifier, arguments: Arguments<First, repeat each Argument>.self)
    }

    /// Removes every registration of this container; all instances are disposed.
    ///
    /// Decorations and open scopes stay.
    public func unregisterAll() {
        _ = core.unregister { $0.registrations.inOrder }
    }

    /// Returns whether a service without arguments is registered in this container, a fallback or an ancestor, under
    /// exactly this type.
    ///
    /// So an optional, an array or a ``Lazy`` is not, although it can be resolved. A service that is expected of each
    /// scope is, even where none has supplied it. One that is registered with `making:`, for `make`, is.
    ///
    /// Inside `withScope`, an outer container answers for the current scope, as it does for `resolve`.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: Whether it is registered.
    public func isRegistered<Service>(_ service: Service.Type, qualifier: (any Qualifier)? = nil) -> Bool {
        resolver.isRegistered(service, qualifier)
    }

    /// Returns whether a service with these argument types is registered here, under exactly this type.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The type of the first argument.
    ///   - rest: The types of the other arguments.
    /// - Returns: Whether it is registered.
    public func isRegistered<Service, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil, arguments first: First.Type,
        _ rest: repeat (each Argument).Type
    ) -> Bool {
        resolver.isRegistered(service, qualifier, Arguments<First, repeat each Argument>.self)
    }

    /// Returns whether a service has any registration, whatever its arguments: in this container, a fallback or an
    /// ancestor.
    ///
    /// Contributions to `resolveMany` and `making:` registrations count too. Inside `withScope`, an outer container
    /// answers for the current scope.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: Whether the service has a registration.
    public func hasAnyRegistration<Service>(of service: Service.Type, qualifier: (any Qualifier)? = nil) -> Bool {
        resolver.core?.hasAnyRegistration(of: Service.self, qualifier: qualifier) == true
    }
}

/// Registers a service: `try await container += Registration(…)`.
///
/// - Parameters:
///   - container: The container.
///   - registration: The registration.
/// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
public func += <Service>(container: Container, registration: Registration<Service>) async throws {
    try await container.register(registration)
}

/// Registers a module's registrations, and calls ``Module/loaded(_:)``: `try await container += NetworkModule()`.
///
/// - Parameters:
///   - container: The container.
///   - module: The module.
/// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`; the
///   error of ``Module/loaded(_:)``.
public nonisolated(nonsending) func += (container: Container, module: some Module) async throws {
    try await container.register(module)
}

extension Resolver {
    fileprivate func isRegistered<Service>(
        _ service: Service.Type, _ qualifier: (any Qualifier)?, _ arguments: ArgumentPack.Type? = nil
    ) -> Bool {
        if host.table.isClosed { return false }
        return [ServiceKey.Role.service, .making].contains { role in
            let key = ServiceKey(Service.self, qualifier: qualifier, arguments: arguments, role: role)
            return host.table.registration(of: key) != nil
        }
    }
}

extension ContainerCore {
    fileprivate func hasAnyRegistration(of service: any Any.Type, qualifier: (any Qualifier)?) -> Bool {
        let name = ServiceName(ServiceKey(service, qualifier: qualifier))
        return !table.isClosed
            && searchOrder.contains { core in core.withState { !$0.registrations.records(named: name).isEmpty } }
    }
}
