/// Requests with one or two arguments: the fast ways to existing instances, and to factories without hooks.
///
/// The part inlined into the caller knows the types of the arguments; the rest is not generic, and needs no metadata at
/// run time.
extension _Resolving {
    /// Returns an instance of an unqualified service created with one argument.
    ///
    /// The same as ``resolve(_:qualifier:arguments:_:)``, and faster: when the instance exists, it costs no lock. An
    /// argument whose hash costs something is hashed for a multiton only.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - first: The argument.
    /// - Returns: The instance for this argument.
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError`, at once, when the
    ///   calling task is cancelled while it waits for an instance that another task creates.
    @inlinable @inline(__always)
    public nonisolated(nonsending) func resolve<Service: Sendable, First: Hashable & Sendable>(
        _ service: Service.Type = Service.self, arguments first: First
    ) async throws -> Service {
        let isOwn = isHashedByLibrary(First.self)
        let isHashed = !isOwn && (isCheaplyHashed(first) || _requester.isIndexed(Service.self, Arguments<First>.self))
        let hash = isHashed ? hashOfArguments(first) : 0
        switch _requester.find(
            Service.self, Arguments<First>.self, hash: { isOwn ? hashOfArguments(first) : hash },
            pack: { Arguments(first) })
        {
        case .indexed(let found)?:
            if let instance = found.instance(of: service, for: first) { return instance }
        case .run(let run)?:
            return try await run.makeHere(service)
        case nil:
            break
        }
        return try await _requester.resolveUnready(service, nil, with: Arguments(first))
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
    /// - Throws: The factory's error, unchanged; ``ResolutionError``; `CancellationError`, at once, when the
    ///   calling task is cancelled while it waits for an instance that another task creates.
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
                || _requester.isIndexed(Service.self, Arguments<First, Second>.self))
        let hash = isHashed ? hashOfArguments(first, second) : 0
        switch _requester.find(
            Service.self, Arguments<First, Second>.self, hash: { isOwn ? hashOfArguments(first, second) : hash },
            pack: { Arguments(first, second) })
        {
        case .indexed(let found)?:
            if let instance = found.instance(of: service, for: first, second) { return instance }
        case .run(let run)?:
            return try await run.makeHere(service)
        case nil:
            break
        }
        return try await _requester.resolveUnready(service, nil, with: Arguments(first, second))
    }
}
