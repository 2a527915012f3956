/// The short way to a service with one or two arguments.
@usableFromInline enum Shortcut: ~Copyable {
    /// An instance whose arguments have the same types and hash: whether they are equal is for the caller to compare.
    case instance(IndexEntry)
    /// A factory that is only called.
    case transient(PlainTransient)
}

extension InstanceTable.Shortcut {
    /// The answer to a request from outside every run.
    @inline(__always)
    consuming func answer(from host: @autoclosure () -> any ResolutionHost) -> Shortcut {
        switch consume self {
        case .instance(let found):
            found.noteUse()
            return .instance(found)
        case .plainTransient(let binding):
            return .transient(PlainTransient(binding, host: host()))
        }
    }
}

/// A transient service that is created by a mere call of its factory.
@usableFromInline struct PlainTransient: ~Copyable {
    private let binding: Binding
    /// The container of a request from outside every run.
    private let host: (any ResolutionHost)?
    private let asker: Run?

    init(_ binding: Binding, host: any ResolutionHost) {
        self.binding = binding
        self.host = host
        asker = nil
    }

    init(_ binding: Binding, inside asker: Run) {
        self.binding = binding
        host = nil
        self.asker = asker
    }

    /// The run of the factory.
    @usableFromInline consuming func run(_ pack: consuming ArgumentPack) -> Run {
        if let asker { return Run(of: binding, pack, inside: asker) }
        guard let host else { preconditionFailure("a request is made inside a run, or of a container") }
        return Run(outermost: binding, pack, host: host)
    }
}

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
        switch shortcut(service, Arguments<First>.self, hash: { isOwn ? hashOfArguments(first) : hash }) {
        case .instance(let found)?:
            if let instance = found.instance(of: service, for: first) { return instance }
        case .transient(let transient)?:
            return try await transient.run(Arguments(first)).makeHere(service)
        case nil:
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
        switch shortcut(
            service, Arguments<First, Second>.self, hash: { isOwn ? hashOfArguments(first, second) : hash })
        {
        case .instance(let found)?:
            if let instance = found.instance(of: service, for: first, second) { return instance }
        case .transient(let transient)?:
            return try await transient.run(Arguments(first, second)).makeHere(service)
        case nil:
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
    func shortcut(_ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int) -> Shortcut? {
        runOfThisTask?.shortcut(service, arguments, hash: hash)
    }
}
