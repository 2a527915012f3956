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
    /// - Throws: The error of the body, or of ``resolve(_:qualifier:arguments:_:)``; ``ResolutionError`` with the code
    ///   `invalidOperation` for a wrapper, such as an array: ``withInstances(_:qualifier:operation:)`` leases each
    ///   contribution.
    @inlinable @inline(__always)
    public nonisolated(nonsending) func withInstance<Service: Sendable, each Argument: Sendable, R>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, arguments: repeat each Argument,
        operation: (Service) async throws -> sending R
    ) async throws -> sending R {
        let (cell, body) = try await beginBody(
            leasing: Service.self, qualifier, ArgumentPack.erasing(repeat each arguments))
        return try await LeaseBody.run(operation, with: cell.value(as: service), in: body)
    }

    /// Runs a body with a leased instance of an unqualified service created with one argument.
    ///
    /// The compiler knows the argument's type here, so that an existing instance is found like any hit.
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public nonisolated(nonsending) func withInstance<Service: Sendable, First: Hashable & Sendable, R>(
        _ service: Service.Type = Service.self, arguments first: First,
        operation: (Service) async throws -> sending R
    ) async throws -> sending R {
        // As in a request: an argument whose hash costs something is hashed for a multiton only.
        let isHashed = isCheaplyHashed(first) || _requester.isIndexed(Service.self, Arguments<First>.self)
        if isHashed, let found = findIndexed(Service.self, Arguments<First>.self, hash: hashOfArguments(first)),
            let instance = found.entry.instance(of: service, for: first), let body = found.beginBody()
        {
            return try await LeaseBody.run(operation, with: instance, in: body)
        }
        let (cell, body) = try await beginBody(leasing: Service.self, nil, Arguments(first))
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
        let found = try await _requester.carryOut(key, pack) { request in try await request.leased() }
        return (found.cell, found.lease.map { LeaseBody(leasing: [$0], at: core) })
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
