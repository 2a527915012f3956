extension Registration where Service: Sendable {
    /// Runs a hook after the factory, before any caller gets the instance.
    ///
    /// Several hooks run in the order given, after those of `injectProperties`. If one throws, the creation fails.
    ///
    /// - Parameter hook: Called with a resolver and the instance.
    /// - Returns: The changed registration.
    public func onCreate(
        _ hook: nonisolated(nonsending) @escaping @Sendable (Resolver, Service) async throws -> Void
    ) -> Self {
        changed {
            $0.creationHooks.append { resolver, cell, _ in try await hook(resolver, cell.undecorated.instance()) }
        }
    }

    /// Runs a hook with the arguments of the request after the factory, before any caller gets the instance.
    ///
    /// - Parameter hook: Called with a resolver, the instance and the arguments, whose types must be those of the
    ///   factory's: else the registration is an ``ResolutionError/Code/invalidRegistration``.
    /// - Returns: The changed registration.
    public func onCreate<First: Sendable, each Argument: Sendable>(
        _ hook:
            nonisolated(nonsending) @escaping @Sendable (Resolver, Service, First, repeat each Argument) async throws ->
            Void
    ) -> Self {
        adding(hook, to: \.creationHooks)
    }

    /// Sets properties of an instance from other services, so that two services can refer to each other.
    ///
    /// Inside the hook the instance counts as created: a service that resolves it there gets it, unfinished. No other
    /// caller sees an instance before the hooks of every instance in the cycle are done; if one fails, all fail.
    /// ```swift
    /// actor Child {
    ///     private(set) weak var parent: Parent?
    ///     func set(_ parent: Parent) { self.parent = parent }
    /// }
    ///
    /// Registration(Parent.self, lifetime: .singleton) { r in try await Parent(child: r.resolve()) }
    /// Registration(Child.self, lifetime: .singleton) { _ in Child() }
    ///     .injectProperties { r, child in await child.set(try await r.resolve()) }
    /// ```
    /// - Parameter hook: Called with a resolver and the instance.
    /// - Returns: The changed registration.
    public func injectProperties(
        _ hook: nonisolated(nonsending) @escaping @Sendable (Resolver, Service) async throws -> Void
    ) -> Self {
        changed {
            $0.propertyHooks.append { resolver, cell, _ in try await hook(resolver, cell.undecorated.instance()) }
        }
    }

    /// Sets properties of an instance from other services and from the arguments of the request.
    ///
    /// - Parameter hook: Called with a resolver, the instance and the arguments, whose types must be those of the
    ///   factory's: else the registration is an ``ResolutionError/Code/invalidRegistration``.
    /// - Returns: The changed registration.
    public func injectProperties<First: Sendable, each Argument: Sendable>(
        _ hook:
            nonisolated(nonsending) @escaping @Sendable (Resolver, Service, First, repeat each Argument) async throws ->
            Void
    ) -> Self {
        adding(hook, to: \.propertyHooks)
    }

    /// Closes an instance when its container is disposed, or when it is reset, replaced or evicted.
    ///
    /// Instances are disposed in the reverse order of their completion, each once. The hook needs a lifetime whose
    /// instances the container owns: on a transient, graph or weak registration it is an
    /// ``ResolutionError/Code/invalidRegistration``.
    ///
    /// - Parameter hook: Called with the instance; it ignores the cancellation of the caller that caused the disposal.
    /// - Returns: The changed registration.
    public func onDispose(
        _ hook: nonisolated(nonsending) @escaping @Sendable (Service) async throws -> Void
    ) -> Self {
        changed { $0.disposalHooks.append { cell, _ in try await hook(cell.undecorated.instance()) } }
    }

    /// Closes an instance, with the reason for its disposal.
    ///
    /// - Parameter hook: Called with the instance and the reason.
    /// - Returns: The changed registration.
    public func onDispose(
        _ hook: nonisolated(nonsending) @escaping @Sendable (Service, DisposalReason) async throws -> Void
    ) -> Self {
        changed { $0.disposalHooks.append { cell, reason in try await hook(cell.undecorated.instance(), reason) } }
    }

    /// Checks whether an instance works, for ``Container/health(timeout:)``.
    ///
    /// ```swift
    /// Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
    ///     .healthCheck { database in try await database.ping() }
    /// ```
    /// - Parameter check: Called with an instance that is alive; throws when the instance does not work. A second check
    ///   replaces the first one.
    /// - Returns: The changed registration. On transient and graph services, whose instances no container keeps, it is
    ///   an ``ResolutionError/Code/invalidRegistration``.
    public func healthCheck(
        _ check: nonisolated(nonsending) @escaping @Sendable (Service) async throws -> Void
    ) -> Self {
        changed { $0.healthCheck = { cell in try await check(cell.undecorated.instance()) } }
    }

    /// Makes the service available under another type too, with the same qualifier, arguments and instances.
    ///
    /// It remains this registration's service: a scope that overrides the service must name the other type, too. The
    /// cast is checked when the other type is resolved, and fails with ``ResolutionError/Code/typeMismatch``.
    ///
    /// - Parameter other: The other type, such as `(any P).self`.
    /// - Returns: The changed registration.
    public func implements<Other: Sendable>(_ other: Other.Type) -> Self {
        implements(other, qualifier: blueprint.key.qualifier)
    }

    /// Makes the service available under another type and a qualifier of its own too, with the same arguments and
    /// instances.
    ///
    /// The cast is checked when the other type is resolved, and fails with ``ResolutionError/Code/typeMismatch``.
    ///
    /// - Parameters:
    ///   - other: The other type, such as `(any P).self`.
    ///   - qualifier: The qualifier of the other type; nil for none.
    /// - Returns: The changed registration.
    public func implements<Other: Sendable>(_ other: Other.Type, qualifier: (any Qualifier)?) -> Self {
        forwarding(to: other, qualifier) { cell throws(ResolutionError) in
            let instance: Service = cell.instance()
            guard let converted = instance as? Other else {
                throw ResolutionError(
                    .typeMismatch,
                    "\(readableName(of: type(of: instance))) is registered to implement \(readableName(of: other)), but does not.",
                    advice: "Declare the conformance, or convert: .implements(\(metatypeExpression(other))) { … }.")
            }
            return converted
        }
    }

    /// Makes the service available under another type too, by a conversion that the compiler checks.
    ///
    /// - Parameters:
    ///   - other: The other type, such as `(any P).self`.
    ///   - convert: The conversion: `{ $0 }` for a protocol that the service conforms to.
    /// - Returns: The changed registration.
    public func implements<Other: Sendable>(
        _ other: Other.Type, _ convert: @escaping @Sendable (Service) -> Other
    ) -> Self {
        implements(other, qualifier: blueprint.key.qualifier, convert)
    }

    /// Makes the service available under another type and a qualifier of its own too, by a conversion that the compiler
    /// checks.
    ///
    /// - Parameters:
    ///   - other: The other type, such as `(any P).self`; the service's own for another name.
    ///   - qualifier: The qualifier of the other type; nil for none.
    ///   - convert: The conversion: `{ $0 }` for a protocol that the service conforms to.
    /// - Returns: The changed registration.
    public func implements<Other: Sendable>(
        _ other: Other.Type, qualifier: (any Qualifier)?, _ convert: @escaping @Sendable (Service) -> Other
    ) -> Self {
        forwarding(to: other, qualifier) { convert($0.instance()) }
    }

    /// Creates the service at start-up: see ``Container/start()``.
    ///
    /// A ``Lifetime/scoped`` service is created at the start of each scope, and at that of the application's container
    /// unless it needs a value that only scopes supply. Decorations of the types that it implements, in the same
    /// container, are created with it.
    ///
    /// Needs a lifetime whose instances stay: on a transient, graph or weak registration, and on one with arguments, it
    /// is an ``ResolutionError/Code/invalidRegistration``.
    ///
    /// - Returns: The changed registration.
    public func eager() -> Self { changed { $0.isEager = true } }

    /// Decides the fate of a creation without waiters.
    ///
    /// - Parameter policy: `.cancel`, the default, or `.finish`.
    /// - Returns: The changed registration.
    public func whenAbandoned(_ policy: AbandonmentPolicy) -> Self { changed { $0.abandonment = policy } }

    /// Adds a hook that receives the arguments of the request.
    private func adding<each Argument: Sendable>(
        _ hook:
            nonisolated(nonsending) @escaping @Sendable (Resolver, Service, repeat each Argument) async throws -> Void,
        to hooks: WritableKeyPath<Blueprint.Extras, [InstanceHook]>
    ) -> Self {
        changed {
            $0[keyPath: hooks].append { resolver, cell, pack in
                // The types are compared with the factory's at registration: a hook with other types never runs.
                let values = Arguments<repeat each Argument>.unpacked(pack)
                try await hook(resolver, cell.undecorated.instance(), repeat each values)
            }
            $0.hookArguments.append(Arguments<repeat each Argument>.self)
        }
    }

    private func forwarding<Other: Sendable>(
        to other: Other.Type, _ qualifier: (any Qualifier)?,
        _ convert: @escaping @Sendable (Cell) throws(ResolutionError) -> Other
    ) -> Self {
        let from = blueprint.key
        let to = ServiceKey(Other.self, qualifier: qualifier, arguments: from.arguments)
        return changed {
            $0.forwards.append(
                Forward(from: from, to: to) { cell throws(ResolutionError) in StrongCell(try convert(cell)) })
        }
    }
}

extension Cell {
    /// The instance of a cell that hooks receive, which holds it.
    fileprivate func instance<Service: Sendable>() -> Service {
        guard let instance = load(as: Service.self) else { preconditionFailure("hooks get a cell that holds") }
        return instance
    }
}

extension Blueprint {
    /// The description of the registration of a forwarded type.
    func forwarding(by forward: Forward) -> Blueprint {
        var copy = Blueprint(key: forward.to, lifetime: lifetime, factory: factory)
        copy.site = site
        copy.change { $0.target = forward }
        copy.createLikeForwarded(self)
        return copy
    }

    /// Takes over how instances of the service behind a forwarded type are created and kept.
    ///
    /// A decorated instance is created and cached separately, for each of the arguments, like the service behind it.
    mutating func createLikeForwarded(_ service: Blueprint) {
        // The decoration of a value that scopes supply belongs to each scope that requests it.
        lifetime = service.isExpected ? .scoped : service.lifetime
        change {
            $0.keying = service.keying
            $0.abandonment = service.abandonment
            $0.isEager = service.isEager
        }
    }
}

/// The dependencies that closures declare, also those of `making:` registrations.
extension Registration {
    /// Declares the dependencies of the factory and hooks, for ``Container/validate()``: a closure cannot be inspected.
    ///
    /// Without any type it declares that they have no dependencies. ``Lazy``, ``Provider``, `Optional` and arrays have
    /// the same meaning as for parameters of an initializer.
    ///
    /// - Parameter types: The service types.
    /// - Returns: The changed registration.
    public func dependencies(_ types: any Sendable.Type...) -> Self { declaring(types.map { ServiceKey($0) }) }

    /// Declares that the factory or a hook resolves a service with a qualifier, for ``Container/validate()``.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that it is resolved with.
    /// - Returns: The changed registration.
    public func dependency<Other: Sendable>(_ service: Other.Type, qualifier: (any Qualifier)? = nil) -> Self {
        declaring([ServiceKey(Other.self, qualifier: qualifier)])
    }

    /// Declares that the factory or a hook resolves a service with arguments, for ``Container/validate()``.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that it is resolved with.
    ///   - first: The type of the first argument.
    ///   - rest: The types of the other arguments.
    /// - Returns: The changed registration.
    public func dependency<Other: Sendable, First: Sendable, each Argument: Sendable>(
        _ service: Other.Type, qualifier: (any Qualifier)? = nil, arguments first: First.Type,
        _ rest: repeat (each Argument).Type
    ) -> Self {
        let arguments = Arguments<First, repeat each Argument>.self
        return declaring([ServiceKey(Other.self, qualifier: qualifier, arguments: arguments)])
    }

    private func declaring(_ keys: [ServiceKey]) -> Self {
        changed { $0.declaredDependencies = ($0.declaredDependencies ?? []) + keys }
    }

    private func changed(_ change: (inout Blueprint.Extras) -> Void) -> Self {
        var copy = self
        copy.blueprint.change(change)
        return copy
    }
}
