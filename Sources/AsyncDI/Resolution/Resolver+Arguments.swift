/// The same names, meaning and speed as those of ``Container``.
extension Resolver {
    /// Returns an instance of an unqualified service created with one argument.
    ///
    /// The same as ``resolve(_:qualifier:arguments:_:)``, and faster: when the instance exists, it costs no lock. An
    /// argument whose hash costs something is hashed for a multiton only.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - first: The argument.
    /// - Returns: The instance for this argument.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError` when the calling task is
    ///   cancelled while it waits.
    @inlinable @inline(__always)
    public nonisolated(nonsending) func resolve<Service: Sendable, First: Hashable & Sendable>(
        _ service: Service.Type = Service.self, arguments first: First
    ) async throws -> Service {
        let isOwn = isHashedByLibrary(First.self)
        let isHashed = !isOwn && (isCheaplyHashed(first) || isIndexed(service, Arguments<First>.self))
        let hash = isHashed ? hashOfArguments(first) : 0
        switch find(
            service, Arguments<First>.self, hash: { isOwn ? hashOfArguments(first) : hash },
            pack: { Arguments(first) })
        {
        case .indexed(let found):
            if let instance = found.instance(of: service, for: first) { return instance }
        case .run(let run):
            return try await run.makeHere(service)
        case .hit(let hit):
            hit.end()
        case .instance:
            break
        case .wait:
            break
        case .other:
            break
        }
        return try await resolve(service, qualifier: nil, arguments: first)
    }

    /// Returns an instance of an unqualified service created with two arguments.
    ///
    /// The same as ``resolve(_:qualifier:arguments:_:)``, and faster: when the instance exists, it costs no lock. An
    /// argument whose hash costs something is hashed for a multiton only.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - first: The first argument.
    ///   - second: The second argument.
    /// - Returns: The instance for these arguments.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError` when the calling task is
    ///   cancelled while it waits.
    @inlinable @inline(__always)
    public nonisolated(nonsending) func resolve<
        Service: Sendable, First: Hashable & Sendable, Second: Hashable & Sendable
    >(
        _ service: Service.Type = Service.self, arguments first: First, _ second: Second
    ) async throws -> Service {
        let isOwn = isHashedByLibrary(First.self) && isHashedByLibrary(Second.self)
        let isHashed =
            !isOwn
            && (isCheaplyHashed(first) && isCheaplyHashed(second)
                || isIndexed(service, Arguments<First, Second>.self))
        let hash = isHashed ? hashOfArguments(first, second) : 0
        switch find(
            service, Arguments<First, Second>.self, hash: { isOwn ? hashOfArguments(first, second) : hash },
            pack: { Arguments(first, second) })
        {
        case .indexed(let found):
            if let instance = found.instance(of: service, for: first, second) { return instance }
        case .run(let run):
            return try await run.makeHere(service)
        case .hit(let hit):
            hit.end()
        case .instance:
            break
        case .wait:
            break
        case .other:
            break
        }
        return try await resolve(service, qualifier: nil, arguments: first, second)
    }

    /// Returns an instance of a service whose qualifier's type is known, creating it if necessary.
    @_documentation(visibility: internal)
    @inlinable
    public nonisolated(nonsending) func resolve<Service: Sendable, Name: Qualifier>(
        _ service: Service.Type = Service.self, qualifier: Name
    ) async throws -> Service {
        if let hit = beginHit(service, qualifier) {
            // Until the read has ended: the resolver's references must not end during it.
            defer { withExtendedLifetime(self) {} }
            if let instance = hit.instance(of: service, qualifier: qualifier) { return instance }
        }
        return try await resolveUnready(service, qualifier)
    }

    @usableFromInline
    nonisolated(nonsending) func resolveUnready<Service: Sendable>(
        _ service: Service.Type, _ qualifier: any Qualifier
    ) async throws -> Service {
        try await request(ServiceKey(service, qualifier: qualifier), .none).resolve(service)
    }

    @inlinable
    func beginHit<Name: Qualifier>(_ service: any Any.Type, _ qualifier: Name) -> InstanceTable.QualifiedHit? {
        // An instance of a class may be one of a subclass: that goes the long way.
        if Name.self is AnyClass { return nil }
        return beginHit(
            QualifierProbe(service, QualifiedDetails<Name>.self, QualifiedDetails<Name>.hash(of: qualifier)))
    }

    @usableFromInline
    func beginHit(_ probe: QualifierProbe) -> InstanceTable.QualifiedHit? {
        runOfThisTask?.beginHit(probe)
    }

    /// Whether requests with these arguments find instances by their hash: others must not pay for it.
    @usableFromInline
    func isIndexed(_ service: any Any.Type, _ arguments: ArgumentPack.Type) -> Bool {
        runOfThisTask != nil && host.table.isIndexed(service, arguments)
    }

    @usableFromInline
    func find(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int, pack: () -> ArgumentPack
    ) -> Answer {
        runOfThisTask?.find(service, arguments, hash: hash, pack: pack) ?? .other(nil)
    }
}
