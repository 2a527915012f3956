/// The source of an initializer's parameter, for `Registration(using:with:)`: the factory resolves it, and
/// ``Container/validate()`` checks it.
///
/// ```swift
/// Registration(using: Client.init(url:log:), with: .qualified(Env.prod), .resolved)
/// Registration(using: Work.init, with: .leased(by: Tenant.self), .resolved, lifetime: .scoped)
///
/// Registration(using: Document.init(title:store:), with: .argument, .resolved, lifetime: .multiton)
/// ```
public struct ParameterSource<Value: Sendable>: Sendable {
    private enum Origin: Sendable {
        /// The argument of the request with this number; the number is dealt out by a registration.
        case argument(Int, type: @Sendable (any ArgumentTypes) -> any ArgumentTypes)
        /// A service, and its arguments, which are resolved themselves; nil without any.
        case service(Access, ArgumentSource?)
    }

    private enum Access { case resolved, leased }

    private let key: ServiceKey
    private var origin: Origin

    private init(_ key: ServiceKey, _ origin: Origin) {
        self.key = key
        self.origin = origin
    }

    private init(_ access: Access, _ arguments: ArgumentSource? = nil, qualifier: (any Qualifier)? = nil) {
        self.init(
            ServiceKey(Value.self, qualifier: qualifier, arguments: arguments?.types), .service(access, arguments))
    }

    // MARK: Services without arguments

    /// Resolved by its type, as without `with:`.
    public static var resolved: Self { Self(.resolved) }

    /// Resolved by its type and a qualifier.
    ///
    /// - Parameter qualifier: The qualifier.
    /// - Returns: The source.
    public static func qualified(_ qualifier: some Qualifier) -> Self { Self(.resolved, qualifier: qualifier) }

    /// Leased for as long as the instance being made lasts: see ``Resolver/lease(_:qualifier:)``.
    ///
    /// The instance being made must be one that a container owns, such as a scoped one or a singleton. A registration
    /// with another lifetime is an ``ResolutionError/Code/invalidRegistration``.
    public static var leased: Self { leased(qualifier: nil) }

    /// Leased by a qualifier for as long as the instance being made lasts.
    ///
    /// - Parameter qualifier: Tells registrations of the parameter's type apart.
    /// - Returns: The source.
    public static func leased(qualifier: (any Qualifier)?) -> Self { Self(.leased, qualifier: qualifier) }

    // MARK: Services with arguments

    /// Resolved with arguments that are resolved themselves.
    ///
    /// - Parameters:
    ///   - first: The type of the first argument, which is a service.
    ///   - rest: The types of the other arguments.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func resolved<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
        by first: First.Type, _ rest: repeat (each Argument).Type, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self(.resolved, .services(first, repeat each rest), qualifier: qualifier)
    }

    /// Resolved with an argument that is computed from another service.
    ///
    /// ```swift
    /// Registration(using: Basket.init, with: .resolved(by: { (request: Request) in request.customer }))
    /// ```
    /// - Parameters:
    ///   - argument: Computes the argument.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func resolved<Origin: Sendable, Argument: Hashable & Sendable>(
        by argument: @escaping @Sendable (Origin) throws -> Argument, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self(.resolved, .made(by: argument), qualifier: qualifier)
    }

    /// Leased with arguments that are resolved themselves, for as long as the created instance lasts.
    ///
    /// - Parameters:
    ///   - first: The type of the first argument, which is a service.
    ///   - rest: The types of the other arguments.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func leased<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
        by first: First.Type, _ rest: repeat (each Argument).Type, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self(.leased, .services(first, repeat each rest), qualifier: qualifier)
    }

    /// Leased with an argument that is computed from another service, for as long as the created instance lasts.
    ///
    /// ```swift
    /// Registration(
    ///     using: UnitOfWork.init, with: .leased(by: { (request: Request) in request.tenant }), .resolved,
    ///     lifetime: .scoped)
    /// ```
    /// - Parameters:
    ///   - argument: Computes the argument.
    ///   - qualifier: Distinguishes registrations of the parameter's type.
    /// - Returns: The source.
    public static func leased<Origin: Sendable, Argument: Hashable & Sendable>(
        by argument: @escaping @Sendable (Origin) throws -> Argument, qualifier: (any Qualifier)? = nil
    ) -> Self {
        Self(.leased, .made(by: argument), qualifier: qualifier)
    }
}

extension ParameterSource where Value: Hashable {
    /// An argument of the request: the first `.argument` of a registration is the first one given to `resolve`, the
    /// second one the second.
    ///
    /// ```swift
    /// Registration(
    ///     using: Document.init(store:title:page:), with: .resolved, .argument, .argument, lifetime: .multiton)
    ///
    /// let document = try await container.resolve(Document.self, arguments: "Letter", 1)
    /// ```
    public static var argument: Self {
        Self(ServiceKey(Value.self), .argument(0) { $0.appending(Value.self) })
    }
}

// MARK: The declaration

extension ParameterSource {
    /// The services that are resolved, in the order of their resolution.
    var dependencies: [ServiceKey] {
        switch origin {
        case .argument: []
        case .service(_, let arguments): (arguments?.dependencies ?? []) + [key]
        }
    }

    /// The service that is leased, if one is.
    var leasedKey: ServiceKey? {
        if case .service(.leased, _) = origin { key } else { nil }
    }

    /// The same source, with the number of its argument: the count of the arguments before it.
    func numbered(after arguments: inout any ArgumentTypes) -> Self {
        guard case .argument(_, let type) = origin else { return self }
        var copy = self
        copy.origin = .argument(arguments.pack.count, type: type)
        arguments = type(arguments)
        return copy
    }
}

// MARK: The resolution

extension ParameterSource {
    /// Whether the value may be one to be created concurrently with others: a shared one that may have to be created,
    /// whatever its arguments.
    func mayWait(_ resolver: Resolver) -> Bool {
        if case .service = origin { resolver.mayWait(for: key) } else { false }
    }

    nonisolated(nonsending) func value(from resolver: Resolver, _ pack: ArgumentPack) async throws -> Value {
        switch origin {
        case .argument(let number, _): return argument(number, of: pack)
        case .service(.resolved, nil) where key.isPlain: return try await resolver.resolve(Value.self)
        case .service(.resolved, nil): return try await resolver.request(key, .none).resolve(Value.self)
        case .service(.leased, nil): return try await resolver.request(key, .none).leasedForCreation(Value.self)
        case .service(let access, let arguments?):
            return try await value(from: resolver, access, by: try await arguments.pack(resolver))
        }
    }

    /// As much of the value as there is without waiting, for a factory that resolves the rest concurrently.
    nonisolated(nonsending) func begun(_ resolver: Resolver, _ pack: ArgumentPack) async throws -> DependencySlot<Value>
    {
        switch origin {
        case .argument(let number, _):
            return DependencySlot(argument(number, of: pack))
        case .service(let access, nil):
            if case .resolved = access, let cell = try resolver.request(key, .none).publishedCell() {
                return DependencySlot(cell.value(as: Value.self))
            }
            return DependencySlot(mayWait: resolver.mayWait(for: key)) { try await value(from: $0, pack) }
        case .service(let access, let arguments?):
            // The arguments are made once: it is the user's code.
            if arguments.dependencies.contains(where: { resolver.mayWait(for: $0) }) {
                return DependencySlot(mayWait: resolver.mayWait(for: key)) { try await value(from: $0, pack) }
            }
            let made = try await arguments.pack(resolver)
            return DependencySlot(mayWait: resolver.mayWait(for: key) && !resolver.hasInstance(key, made)) {
                try await value(from: $0, access, by: made)
            }
        }
    }

    private nonisolated(nonsending) func value(
        from resolver: Resolver, _ access: Access, by pack: ArgumentPack
    ) async throws -> Value {
        let request = resolver.request(key, pack)
        switch access {
        case .resolved: return try await request.resolveUnready(Value.self)
        case .leased: return try await request.leasedForCreation(Value.self)
        }
    }

    private func argument(_ number: Int, of pack: ArgumentPack) -> Value {
        guard let value = pack.list[number] as? Value else {
            preconditionFailure("the registration was found by the types of its arguments")
        }
        return value
    }
}

/// The arguments of a parameter's service, which come from other services.
struct ArgumentSource: Sendable {
    /// The type of the pack of arguments.
    let types: ArgumentPack.Type
    /// The services that the arguments come from.
    let dependencies: [ServiceKey]
    let pack: nonisolated(nonsending) @Sendable (Resolver) async throws -> ArgumentPack

    /// Arguments that are services.
    static func services<each Argument: Hashable & Sendable>(_ types: repeat (each Argument).Type) -> Self {
        var keys: [ServiceKey] = []
        for type in repeat each types { keys.append(ServiceKey(type)) }
        return Self(types: Arguments<repeat each Argument>.self, dependencies: keys) { resolver in
            Arguments(repeat try await resolver.resolve((each Argument).self))
        }
    }

    /// An argument that is made from a service.
    static func made<Origin: Sendable, Argument: Hashable & Sendable>(
        by argument: @escaping @Sendable (Origin) throws -> Argument
    ) -> Self {
        Self(types: packType(of: Argument.self), dependencies: [ServiceKey(Origin.self)]) { resolver in
            Arguments(try argument(await resolver.resolve(Origin.self)))
        }
    }

    /// The type of a pack of one argument.
    ///
    /// Not optimized, because optimized code of Swift 6.3 reads a pack that it has not filled, where the module is
    /// compiled as a whole into one object.
    @_optimize(none)
    private static func packType<Argument: Hashable & Sendable>(of _: Argument.Type) -> ArgumentPack.Type {
        Arguments<Argument>.self
    }
}
