/// The description of a service: its key, its lifetime, its factory and its hooks.
///
/// A registration is a value: a modifier such as ``eager()`` returns a changed copy. It takes effect in the container
/// that it is given to, in a ``RegistrationBuilder`` closure or by `register`.
/// ```swift
/// Registration(HTTPClient.self, lifetime: .singleton) { _ in HTTPClient() }
///     .onDispose { client in try await client.shutdown() }
/// Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
/// ```
public struct Registration<Service>: Sendable {
    /// The content of the registration; shared by its copies, and taken over by the first container that it is given
    /// to.
    private(set) var draft: Binding

    var blueprint: Blueprint {
        get { draft.blueprint }
        set { draft = Binding(draft: newValue) }
    }

    init(blueprint: Blueprint) { draft = Binding(draft: blueprint) }

    /// A service without arguments; the factory is one of `Service`, as which it is registered: `service` may be a
    /// subclass that the compiler does not know, which makes the registration invalid.
    @usableFromInline
    init(
        _ service: any Any.Type, _ details: KeyDetails?, _ lifetime: Lifetime?, _ fileID: String, _ line: UInt,
        _ factory: Factory
    ) {
        draft = Binding(
            draft: ServiceKey(Service.self, details), lifetime: lifetime, factory: factory,
            site: RegistrationSite(fileID: fileID, line: line))
        if service != Service.self { blueprint.change { $0.givenType = service } }
    }

    /// A service with arguments; the factory is one of `Service` that takes them.
    @usableFromInline
    init(
        _ service: any Any.Type, _ qualifier: (any Qualifier)?, _ arguments: ArgumentPack.Type?, _ lifetime: Lifetime?,
        _ fileID: String, _ line: UInt, _ factory: Factory, _ keying: ArgumentKeying?
    ) {
        var blueprint = Blueprint(
            key: ServiceKey(Service.self, qualifier: qualifier, arguments: arguments), lifetime: lifetime,
            factory: factory,
            site: RegistrationSite(fileID: fileID, line: line))
        if keying != nil { blueprint.change { $0.keying = keying } }
        if service != Service.self { blueprint.change { $0.givenType = service } }
        self.init(blueprint: blueprint)
    }
}

extension Registration where Service: Sendable {
    /// Registers a service created without arguments.
    ///
    /// The factory may be synchronous, asynchronous, throwing or bound to a global actor. Its error reaches the caller
    /// unchanged.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved: a concrete type or `any P`.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance; its ``Resolver`` resolves the dependencies.
    @inlinable
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) {
        let details = qualifier.flatMap { KeyDetails.of($0) }
        self.init(service, details, lifetime, fileID, line, ServiceFactory<Service>(factory))
    }

    /// A service created without arguments, with a qualifier whose type is known.
    @_documentation(visibility: internal)
    @inlinable
    public init<Name: Qualifier>(
        _ service: Service.Type = Service.self, qualifier: Name, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) {
        self.init(
            service, QualifiedDetails(qualifier), lifetime, fileID, line, ServiceFactory<Service>(factory))
    }

    /// Registers a service created without arguments, whose type is the factory's result.
    ///
    /// A separate overload, so that a lone closure is always a factory.
    ///
    /// - Parameters:
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance; its ``Resolver`` resolves the dependencies.
    @inlinable
    public init(
        qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) {
        self.init(
            Service.self, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line, factory: factory)
    }

    /// Registers a service created with arguments, which are part of every cache key.
    ///
    /// Their `==` and `hash(into:)` run during look-ups, under the container's lock: keep them quick and free of side
    /// effects.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared between requests with equal arguments.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments given to `resolve`.
    public init<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory:
            nonisolated(nonsending) @escaping @Sendable (Resolver, First, repeat each Argument) async throws -> Service
    ) {
        self.init(
            service, qualifier, Arguments<First, repeat each Argument>.self, lifetime, fileID, line,
            ServiceFactory<Service>(many: factory), .byArguments(Arguments<First, repeat each Argument>.self))
    }

    /// A service created with one argument.
    @_documentation(visibility: internal)
    @inlinable
    public init<First: Hashable & Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver, First) async throws -> Service
    ) {
        self.init(
            service, qualifier, Arguments<First>.self, lifetime, fileID, line, ServiceFactory<Service>(one: factory),
            .byArguments(Arguments<First>.self))
    }

    /// A transient service created with one argument, which need not be `Hashable`.
    @_documentation(visibility: internal)
    @inlinable
    public init<First: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: TransientLifetime,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver, First) async throws -> Service
    ) {
        self.init(
            service, qualifier, Arguments<First>.self, .transient, fileID, line, ServiceFactory<Service>(one: factory),
            nil)
    }

    /// Registers a service created with arguments that are compared by a computed key.
    ///
    /// The key's `==` and `hash(into:)` run during look-ups, under the container's lock: keep them quick and free of
    /// side effects.
    ///
    /// ```swift
    /// Registration(Tile.self, keyedBy: { (point: Point, _: Style) in point.rounded }) { _, point, style in
    ///     try await Tile(point, style)
    /// }
    /// ```
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared between requests with equal keys.
    ///   - key: Computes the key from the arguments; quick, and free of side effects.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments of the first request.
    public init<each Argument: Sendable, Key: Hashable & Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime = .multiton,
        keyedBy key: @escaping @Sendable (repeat each Argument) -> Key,
        fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver, repeat each Argument) async throws -> Service
    ) {
        let arguments = Arguments<repeat each Argument>.self
        self.init(
            service, qualifier, arguments.count == 0 ? nil : arguments, lifetime, fileID, line,
            ServiceFactory<Service>(many: factory), .computed(by: key))
    }

    /// Registers a transient service, whose arguments need not be `Hashable`: closures, delegates.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: `.transient`.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments given to `resolve`.
    public init<First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: TransientLifetime,
        fileID: String = #fileID, line: UInt = #line,
        factory:
            nonisolated(nonsending) @escaping @Sendable (Resolver, First, repeat each Argument) async throws -> Service
    ) {
        self.init(
            service, qualifier, Arguments<First, repeat each Argument>.self, .transient, fileID, line,
            ServiceFactory<Service>(many: factory), nil)
    }

    /// Registers an existing instance.
    ///
    /// The instance belongs to its creator: no reset drops it, and only an `onDispose` hook disposes it. It has no
    /// lifetime.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - instance: The instance.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    @_disfavoredOverload  // A lone closure without parameters is a factory.
    @inlinable
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, instance: Service,
        fileID: String = #fileID, line: UInt = #line
    ) {
        let details = qualifier.flatMap { KeyDetails.of($0) }
        self.init(service, details, .singleton, fileID, line, InstanceFactory(StrongCell(instance)))
    }

    /// Registers a value that each scope supplies; in a scope without it, resolving the value fails and names it, and
    /// an optional request gets nil.
    ///
    /// ```swift
    /// Registration(expected: Request.self)
    ///
    /// try await container.withScope {
    ///     Registration(instance: request)
    /// } operation: { _ in
    ///     try await next()
    /// }
    /// ```
    /// - Parameters:
    ///   - service: The type of the value.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    public init(
        expected service: Service.Type, qualifier: (any Qualifier)? = nil, fileID: String = #fileID, line: UInt = #line
    ) {
        let key = ServiceKey(Service.self, qualifier: qualifier)
        self.init(service, qualifier: qualifier, lifetime: .transient, fileID: fileID, line: line) { resolver in
            throw ResolutionError.unsupplied(
                key, in: resolver.host, steps: resolver.run?.path ?? [], asker: resolver.run)
        }
        blueprint.change { $0.isExpected = true }
    }
}

extension Registration {
    /// Registers a service that need not be `Sendable`: a new one for each ``Container/make(_:qualifier:arguments:)``,
    /// sent to the caller and stored nowhere.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is registered, for `make`.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance from the arguments given to `make`.
    @_disfavoredOverload  // A lone closure is an ordinary factory.
    public init<each Argument: Sendable>(
        making service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        fileID: String = #fileID, line: UInt = #line,
        factory:
            nonisolated(nonsending) @escaping @Sendable (Resolver, repeat each Argument) async throws -> sending Service
    ) {
        let isEmpty = Arguments<repeat each Argument>.types.isEmpty
        self.init(
            blueprint: Blueprint(
                key: ServiceKey(
                    Service.self, qualifier: qualifier, arguments: isEmpty ? nil : Arguments<repeat each Argument>.self,
                    role: .making),
                lifetime: .transient,
                factory: MakingFactory<Service> { resolver, pack in
                    try await factory(resolver, repeat each Arguments<repeat each Argument>.unpacked(pack))
                },
                site: RegistrationSite(fileID: fileID, line: line)))
    }
}
