extension Registration where Service: Sendable {
    /// Registers a service created by an initializer, with a source for each of its parameters.
    ///
    /// The sources need no declaration: the factory resolves them, and ``Container/validate()`` checks them.
    /// ```swift
    /// Registration(using: Client.init(url:log:), with: .qualified(Env.prod), .resolved)
    /// Registration(using: Work.init, with: .leased(by: Tenant.self), .resolved, lifetime: .scoped)
    ///
    /// Registration(using: Document.init(title:store:), with: .argument, .resolved, lifetime: .multiton)
    /// ```
    /// Shared parameters that must be created are created concurrently, as without `with:`; the arguments of a
    /// parameter's service come before it. Those of a transient or graph one are awaited in turn.
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
        self.init(
            initializer, first, repeat each rest, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line)
    }

    /// Registers a service created by an initializer whose first parameter is an argument of the request; the others
    /// are resolved by their types.
    ///
    /// ```swift
    /// Registration(using: Document.init(title:store:), taking: String.self, lifetime: .multiton)
    ///
    /// let document = try await container.resolve(Document.self, arguments: "Letter")
    /// ```
    /// With several arguments, or where a parameter comes from elsewhere, ``ParameterSource/argument`` says which
    /// parameters are arguments.
    ///
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
        self.init(
            initializer, ParameterSource<Argument>.argument, repeat ParameterSource<each Dependency>.resolved,
            qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line)
    }

    /// A service made by an initializer with these sources.
    init<each Parameter: Sendable>(
        _ initializer: @escaping @Sendable (repeat each Parameter) async throws -> Service,
        _ sources: repeat ParameterSource<each Parameter>,
        qualifier: (any Qualifier)?, lifetime: Lifetime?, fileID: String, line: UInt
    ) {
        var arguments: any ArgumentTypes = ArgumentTypeList()
        let sources = (repeat (each sources).numbered(after: &arguments))
        let hasArguments = arguments.pack.count > 0
        self.init(
            Service.self, qualifier, hasArguments ? arguments.pack : nil, lifetime, fileID, line,
            ServiceFactory<Service> { (resolver: Resolver, pack: ArgumentPack) in
                var waits = 0
                for source in repeat each sources {
                    if source.mayWait(resolver) { waits += 1 }
                }
                if waits > 1 {
                    let all = try await resolver.all(pack, repeat each sources)
                    return try await initializer(repeat each all)
                }
                return try await initializer(repeat (each sources).value(from: resolver, pack))
            }, hasArguments ? arguments.keying : nil)
        var (keys, leased): ([ServiceKey], [ServiceKey]) = ([], [])
        for source in repeat each sources {
            keys += source.dependencies
            if let key = source.leasedKey { leased.append(key) }
        }
        blueprint.change {
            $0.dependencies = keys
            $0.leasedDependencies = leased
        }
    }
}

extension Resolver {
    /// The values of several parameters: shared ones that must be created are created concurrently, and the others in
    /// this task meanwhile.
    ///
    /// When one fails, the waits for the shared ones end, once the others have been created. The group's body runs in
    /// the caller's isolation only because it refers to it.
    func all<each Parameter: Sendable>(
        _ pack: ArgumentPack, _ sources: repeat ParameterSource<each Parameter>,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> (repeat each Parameter) {
        let slots = (repeat try await (each sources).begun(self, pack))
        var waits = 0
        for slot in repeat each slots {
            if slot.mayWait { waits += 1 }
        }
        if waits > 1 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                _ = isolation
                for slot in repeat each slots {
                    if slot.mayWait { group.addTask { try await slot.fill(from: self) } }
                }
                for slot in repeat each slots {
                    if slot.isEmpty, !slot.mayWait { try await slot.fill(from: self) }
                }
                // Not `waitForAll`, which waits for those that run on after one has failed.
                for try await _ in group {}
            }
        } else {
            for slot in repeat each slots {
                if slot.isEmpty { try await slot.fill(from: self) }
            }
        }
        return (repeat (each slots).instance)
    }

    /// Whether resolving a key may have to wait, for any arguments: see ``mayWait(for:)-(any Any.Type)``.
    func mayWait(for key: ServiceKey) -> Bool {
        if key.isPlain { return mayWait(for: key.service) }
        let table = host.table
        if table.hit(key) != nil { return false }
        let countsAll = run?.holder?.binding.lifetime.sharing == .registeringContainer
        if countsAll { return true }
        guard let (binding, _) = table.registration(of: key) else { return mayWait(inside: key) }
        return binding.lifetime.sharing.isShared
    }

    /// Whether a request with these arguments is answered by an existing instance.
    func hasInstance(_ key: ServiceKey, _ pack: ArgumentPack) -> Bool {
        (try? request(key, pack).readyCell()) != nil
    }
}
