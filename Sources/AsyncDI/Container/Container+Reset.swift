extension Container {
    /// Drops the instances of a lifetime, and disposes them, newest first.
    ///
    /// In-progress creations reach their waiters but are not cached. An `instance:` stays.
    ///
    /// - Parameters:
    ///   - lifetime: The lifetime whose instances are dropped.
    ///   - throughAncestors: Whether every container above drops its instances too.
    /// - Throws: ``DisposalError`` with every error that `onDispose` hooks threw; ``ResolutionError`` with the code
    ///   `disposed`.
    public func reset(_ lifetime: Lifetime, throughAncestors: Bool = false) async throws {
        try await core.reset(.lifetime(lifetime), throughAncestors: throughAncestors)
    }

    /// Drops the instances of a service, whatever their arguments, and disposes them, newest first.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - throughAncestors: Whether every container above drops its instances too.
    /// - Throws: ``DisposalError`` with every error that `onDispose` hooks threw; ``ResolutionError`` with the code
    ///   `disposed`.
    public func reset<Service>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil, throughAncestors: Bool = false
    ) async throws {
        try await core.reset(.service(Service.self, qualifier), throughAncestors: throughAncestors)
    }

    /// Drops the instance of a service for these arguments, or for the key computed from them, and disposes it.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    ///   - throughAncestors: Whether every container above drops its instance for these arguments too.
    /// - Throws: ``DisposalError`` with the errors that `onDispose` hooks threw; ``ResolutionError`` with the code
    ///   `disposed`.
    public func reset<Service, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument, throughAncestors: Bool = false
    ) async throws {
        let pack = Arguments(first, repeat each rest)
        let key = ServiceKey(Service.self, qualifier: qualifier, arguments: type(of: pack))
        try await core.reset(.arguments(key, pack), throughAncestors: throughAncestors)
    }

    /// Drops every cached instance of this container, and disposes them, newest first.
    ///
    /// Registrations stay.
    ///
    /// - Parameter throughAncestors: Whether every container above drops its instances too.
    /// - Throws: ``DisposalError`` with every error that `onDispose` hooks threw; ``ResolutionError`` with the code
    ///   `disposed`.
    public func reset(throughAncestors: Bool = false) async throws {
        try await core.reset(.everything, throughAncestors: throughAncestors)
    }
}
