extension Container {
    /// Runs a body with an instance that is not disposed before the end of the body, even when it is reset or replaced
    /// meanwhile.
    ///
    /// A bounded multiton's instance is not evicted as long as it is leased.
    /// ```swift
    /// try await container.withInstance(TenantPool.self, arguments: "acme") { pool in
    ///     try await pool.query("…")
    /// }
    /// ```
    /// The lease ends when the body returns, throws or is cancelled. `dispose()` waits for it. A transient, graph or
    /// weakly held instance belongs to the body alone.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - arguments: The arguments.
    ///   - operation: The body, isolated like the code around it.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or of ``resolve(_:qualifier:arguments:_:)``.
    @inlinable
    public nonisolated(nonsending) func withInstance<Service: Sendable, each Argument: Sendable, R>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, arguments: repeat each Argument,
        operation: (Service) async throws -> sending R
    ) async throws -> sending R {
        let (cell, body) = try await beginBody(
            leasing: service, qualifier, ArgumentPack.erasing(repeat each arguments))
        return try await LeaseBody.run(operation, with: cell.value(as: service), in: body)
    }

    /// Runs a body with a leased instance of an unqualified service created with one argument.
    ///
    /// The compiler knows the argument's type here, so that an existing instance is found like any hit.
    @_documentation(visibility: internal)
    @inlinable
    public nonisolated(nonsending) func withInstance<Service: Sendable, First: Hashable & Sendable, R>(
        _ service: Service.Type = Service.self, arguments first: First,
        operation: (Service) async throws -> sending R
    ) async throws -> sending R {
        // As in a request: an argument whose hash costs something is hashed for a multiton only.
        let isHashed =
            isHashedByLibrary(First.self) || isCheaplyHashed(first)
            || _requester.isIndexed(service, Arguments<First>.self)
        if isHashed, let found = findIndexed(service, Arguments<First>.self, hash: hashOfArguments(first)),
            let instance = found.entry.instance(of: service, for: first), let body = found.beginBody()
        {
            return try await LeaseBody.run(operation, with: instance, in: body)
        }
        let (cell, body) = try await beginBody(leasing: service, nil, Arguments(first))
        return try await LeaseBody.run(operation, with: cell.value(as: service), in: body)
    }

    /// Leases an instance for a body of the current task; without a lease, the instance belongs to the body alone.
    ///
    /// Not generic, so that it needs no metadata at run time.
    @usableFromInline
    nonisolated(nonsending) func beginBody(
        leasing service: any Any.Type, _ qualifier: (any Qualifier)?, _ pack: ArgumentPack
    ) async throws -> (Cell, LeaseBody?) {
        try await beginBody(leasing: ServiceKey(service, qualifier: qualifier, with: pack), pack)
    }

    /// The same for a key.
    nonisolated(nonsending) func beginBody(
        leasing key: ServiceKey, _ pack: ArgumentPack = .none
    ) async throws -> (Cell, LeaseBody?) {
        let (cell, lease) = try await _requester.carryOut(key, pack) { request in try await request.leased() }
        return (cell, lease.map { LeaseBody(leasing: [$0], at: core) })
    }

    /// The arguments for which this container holds an instance; for a `keyedBy:` registration, its keys.
    ///
    /// A separate overload because the compiler treats a pack of one as a tuple of one, which is not `Hashable`.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - type: The type of the argument, or of the key.
    /// - Returns: The arguments, in no particular order.
    public func cachedArguments<Service, Argument: Hashable & Sendable>(
        of service: Service.Type, qualifier: (any Qualifier)? = nil, _ type: Argument.Type
    ) -> [Argument] {
        core.cachedArguments(of: service, qualifier: qualifier).compactMap { key in
            (key.value?.base as? Arguments<Argument>)?.values ?? key.computed as? Argument
        }
    }

    /// The arguments for which this container holds an instance, in no particular order; for a `keyedBy:` registration,
    /// its keys.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - types: The types of the arguments, or the type of the key.
    /// - Returns: One tuple for each instance.
    public func cachedArguments<Service, each Argument: Hashable & Sendable>(
        of service: Service.Type, qualifier: (any Qualifier)? = nil, _ types: repeat (each Argument).Type
    ) -> [(repeat each Argument)] {
        core.cachedArguments(of: service, qualifier: qualifier).compactMap { key in
            (key.value?.base as? Arguments<repeat each Argument>)?.values ?? key.computed as? (repeat each Argument)
        }
    }
}

/// A cached instance, found by the hash of its arguments, and its container.
@usableFromInline struct IndexedInstance {
    @usableFromInline let entry: IndexEntry
    /// Kept because the comparison of arguments, which comes first, may release the last handle.
    let home: any ResolutionHost

    /// Begins a body of the current task, outside every run, that leases the instance.
    ///
    /// The caller has compared the arguments.
    ///
    /// - Returns: The body; nil where the general path must decide.
    @usableFromInline
    func beginBody() -> LeaseBody? {
        home.leaseIndexed(entry).map { LeaseBody(leasing: [$0], at: home, for: nil) }
    }
}

extension ContainerCore {
    /// The erased ``Arguments`` of each cached instance, or the keys that `keyedBy:` computed from them.
    fileprivate func cachedArguments(of service: any Any.Type, qualifier: (any Qualifier)?) -> [ArgumentKey] {
        // A request for a forwarded type means the service behind it.
        let targets = registeredKeys(of: service, qualifier: qualifier)
        return withState { state in
            state.instances.all.compactMap { kept in
                let binding = kept.binding
                let isMeant =
                    targets.contains(binding.key)
                    || binding.key.service == service && areEqual(binding.key.qualifier, qualifier)
                let key = kept.argumentKey
                guard isMeant, !key.isNone, let cell = kept.cell else { return nil }
                if cell.isHeldWeakly {
                    guard let living = cell.strengthened() else { return nil }
                    // Reading has retained the instance, perhaps as the last reference: it is released outside the
                    // lock.
                    state.retired.append(living)
                }
                return key
            }
        }
    }
}
