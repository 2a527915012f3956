extension Container {
    /// Forgets the instances of a lifetime, and disposes them, newest first.
    ///
    /// In-progress creations reach their waiters but are not cached. An `instance:` stays.
    ///
    /// - Parameters:
    ///   - lifetime: The lifetime whose instances are forgotten.
    ///   - throughAncestors: Whether every container above forgets its instances too.
    /// - Throws: ``DisposalError`` with everything that `onDispose` hooks threw; ``ResolutionError`` with the code `disposed`.
    public func reset(_ lifetime: Lifetime, throughAncestors: Bool = false) async throws {
        try await core.reset(.lifetime(lifetime), throughAncestors: throughAncestors)
    }

    /// Forgets the instances of a service, whatever their arguments, and disposes them, newest first.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - throughAncestors: Whether every container above forgets its instances too.
    /// - Throws: ``DisposalError`` with everything that `onDispose` hooks threw; ``ResolutionError`` with the code `disposed`.
    public func reset<Service>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil, throughAncestors: Bool = false
    ) async throws {
        try await core.reset(.service(service, qualifier), throughAncestors: throughAncestors)
    }

    /// Forgets the instance of a service for these arguments, or the key computed from them, and disposes it.
    ///
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    ///   - throughAncestors: Whether every container above forgets its instance for these arguments too.
    /// - Throws: ``DisposalError`` with what `onDispose` hooks threw; ``ResolutionError`` with the code `disposed`.
    public func reset<Service, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument, throughAncestors: Bool = false
    ) async throws {
        let pack = Arguments(first, repeat each rest)
        let key = ServiceKey(service, qualifier: qualifier, arguments: type(of: pack))
        try await core.reset(.arguments(key, pack), throughAncestors: throughAncestors)
    }

    /// Forgets every cached instance of this container, and disposes them, newest first.
    ///
    /// Registrations stay.
    ///
    /// - Parameter throughAncestors: Whether every container above forgets its instances too.
    /// - Throws: ``DisposalError`` with everything that `onDispose` hooks threw; ``ResolutionError`` with the code `disposed`.
    public func reset(throughAncestors: Bool = false) async throws {
        try await core.reset(.everything, throughAncestors: throughAncestors)
    }
}
