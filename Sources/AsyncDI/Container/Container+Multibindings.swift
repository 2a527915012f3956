extension Container {
    /// Adds a registration, with its hooks, to the contributions of a service.
    ///
    /// ```swift
    /// try await container.registerMany(
    ///     Registration((any Exporter).self, lifetime: .singleton) { _ in try await PDFExporter() }
    ///         .onDispose { exporter in try await exporter.close() },
    ///     key: "pdf")
    /// ```
    /// The same as registering ``Registration/intoMany(key:)``, in every form of a registration. Contributions never
    /// replace one another, except those with equal keys, which follow the container's ``DuplicatePolicy``.
    ///
    /// - Parameters:
    ///   - registration: The registration.
    ///   - key: The contribution's key in ``resolveMap(_:keyedBy:qualifier:)``; nil keeps the key given by
    ///     ``Registration/intoMany(key:)``.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func registerMany<Service: Sendable>(
        _ registration: Registration<Service>, key: (any Hashable & Sendable)? = nil
    ) throws {
        let isContributed = key == nil && registration.blueprint.key.isContribution
        try register(isContributed ? registration : registration.intoMany(key: key))
    }

    /// Adds a contribution to a service, for ``resolveMany(_:qualifier:)``.
    ///
    /// For a contribution with hooks, use ``registerMany(_:key:)``.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: Distinguishes groups of contributions.
    ///   - key: The contribution's key in ``resolveMap(_:keyedBy:qualifier:)``; equal keys in one container follow its
    ///     ``DuplicatePolicy``.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func registerMany<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        key: (any Hashable & Sendable)? = nil, lifetime: Lifetime? = nil, fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) throws {
        try registerMany(
            Registration(
                service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line, factory: factory),
            key: key)
    }

    /// Adds a contribution to a service, with the lifetime named before the key.
    ///
    /// The same as ``registerMany(_:qualifier:key:lifetime:fileID:line:factory:)``.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: Distinguishes groups of contributions.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - key: The contribution's key in ``resolveMap(_:keyedBy:qualifier:)``; equal keys in one container follow its
    ///     ``DuplicatePolicy``.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    ///   - factory: Creates an instance.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func registerMany<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        lifetime: Lifetime?, key: (any Hashable & Sendable)?, fileID: String = #fileID, line: UInt = #line,
        factory: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service
    ) throws {
        try registerMany(
            service, qualifier: qualifier, key: key, lifetime: lifetime, fileID: fileID, line: line, factory: factory)
    }

    /// Adds an existing instance to the contributions of a service.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes groups of contributions.
    ///   - key: The contribution's key in ``resolveMap(_:keyedBy:qualifier:)``; equal keys in one container follow its
    ///     ``DuplicatePolicy``.
    ///   - instance: The instance, which belongs to its creator.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    /// - Throws: ``ResolutionError`` with the code `duplicateRegistration`, `invalidRegistration` or `disposed`.
    public func registerMany<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        key: (any Hashable & Sendable)? = nil, instance: Service, fileID: String = #fileID, line: UInt = #line
    ) throws {
        try registerMany(
            Registration(service, qualifier: qualifier, instance: instance, fileID: fileID, line: line), key: key)
    }

    /// Removes every contribution to a service from this container.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the contributions were registered with.
    /// - Returns: Whether the container had any.
    @discardableResult
    public func unregisterMany<Service>(_ service: Service.Type, qualifier: (any Qualifier)? = nil) -> Bool {
        let name = ServiceName(ServiceKey(Service.self, qualifier: qualifier))
        return core.unregister { $0.registrations.contributions(to: name) }
    }

    /// Removes the contribution to a service under one key from this container, and disposes its instance.
    ///
    /// An inherited contribution under the same key, which this one hid, answers again.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - key: The key of the contribution.
    ///   - qualifier: The qualifier that the contribution was registered with.
    /// - Returns: Whether the container had it.
    @discardableResult
    public func unregister<Service>(
        _ service: Service.Type, contributedAs key: some Hashable & Sendable, qualifier: (any Qualifier)? = nil
    ) -> Bool {
        let key = ServiceKey.contribution(to: Service.self, as: key, qualifier)
        return core.unregister { state in state.table.ownRegistration(of: key).map { [$0] } ?? [] }
    }

    /// Runs a body with every contribution to a service, none of which is disposed before the end of the body, even
    /// when it is reset, unregistered or replaced meanwhile.
    ///
    /// The leases end when the body returns, throws or is cancelled; `dispose()` waits for them. They are those of
    /// ``withInstance(_:qualifier:arguments:operation:)``.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the contributions were registered with.
    ///   - operation: The body, isolated like the code around it. Receives an instance of each contribution, in the
    ///     order of ``resolveMany(_:qualifier:)``.
    /// - Returns: The result of the body.
    /// - Throws: The body's error, and the errors of ``resolveMany(_:qualifier:)``.
    public nonisolated(nonsending) func withInstances<Service: Sendable, R>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        operation: ([Service]) async throws -> sending R
    ) async throws -> sending R {
        let (leased, body) = try await _requester.carryOut(ServiceKey(Service.self, qualifier: qualifier)) { request in
            try await request.leasedContributions()
        }
        return try await LeaseBody.run(operation, with: leased.instances(of: service), in: body)
    }

    /// Runs a body with the contributions to a service under keys of one type; none of them is disposed before the end
    /// of the body.
    ///
    /// A body that needs only one of them can lease it alone: ``withInstance(_:contributedAs:qualifier:operation:)``.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - key: The type of the keys; contributions without a key, or with one of another type, are left out.
    ///   - qualifier: The qualifier that the contributions were registered with.
    ///   - operation: The body, isolated like the code around it. Receives an instance of each contribution by its key.
    /// - Returns: The result of the body.
    /// - Throws: The body's error, and the errors of ``resolveMap(_:keyedBy:qualifier:)``.
    public nonisolated(nonsending) func withInstanceMap<Service: Sendable, Key: Hashable & Sendable, R>(
        _ service: Service.Type = Service.self, keyedBy key: Key.Type, qualifier: (any Qualifier)? = nil,
        operation: ([Key: Service]) async throws -> sending R
    ) async throws -> sending R {
        let (leased, body) = try await _requester.carryOut(ServiceKey(Service.self, qualifier: qualifier)) { request in
            try await request.leasedContributions(keyedBy: key)
        }
        return try await LeaseBody.run(operation, with: leased.dictionary(of: service, keyedBy: key), in: body)
    }

    /// Runs a body with the contribution to a service under one key, which is not disposed before the end of the body,
    /// even when it is replaced meanwhile.
    ///
    /// Creates only this contribution.
    /// ```swift
    /// try await container.withInstance((any JobHandler).self, contributedAs: job.kind) { handler in
    ///     try await handler.run(job)
    /// }
    /// ```
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - key: The key of the contribution.
    ///   - qualifier: The qualifier that the contribution was registered with.
    ///   - operation: The body, isolated like the code around it. Receives the nearest contribution's instance.
    /// - Returns: The result of the body.
    /// - Throws: The body's error; ``ResolutionError/Code/notRegistered`` without a contribution under the key; a
    ///   factory's error, unchanged; `CancellationError`.
    public nonisolated(nonsending) func withInstance<Service: Sendable, R>(
        _ service: Service.Type = Service.self, contributedAs key: some Hashable & Sendable,
        qualifier: (any Qualifier)? = nil,
        operation: (Service) async throws -> sending R
    ) async throws -> sending R {
        let key = ServiceKey.contribution(to: Service.self, as: key, qualifier)
        let (cell, body) = try await beginBody(leasing: key)
        return try await LeaseBody.run(operation, with: cell.value(as: service), in: body)
    }
}

extension ContainerCore {
    func contributions(to key: ServiceKey) -> [ServiceKey] {
        let name = ServiceName(key)
        var keys: [ServiceKey] = []
        // Usually one container has all of them, and no key occurs in it twice.
        var seen: Set<ServiceKey>?
        // The furthest first: a nearer contribution with the same key takes the place of the one that it hides.
        for core in searchOrder.reversed() {
            let own = core.withState { $0.registrations.contributionKeys(to: name) }
            if own.isEmpty { continue }
            if keys.isEmpty {
                keys = own
                continue
            }
            var known = seen.take() ?? Set(keys)
            keys += own.filter { known.insert($0).inserted }
            seen = known
        }
        return keys
    }
}
