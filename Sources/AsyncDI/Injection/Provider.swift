/// Resolves a service anew at each call: for repeated use, or for arguments that are known later.
///
/// Every registered service can be resolved as `Provider` too: as a factory's dependency, as a parameter of a `using:`
/// initializer, or from the container.
/// ```swift
/// struct Dispatcher {
///     let handler: Provider<Handler>
///
///     func dispatch(_ message: Message) async throws { try await handler(message).run() }
/// }
///
/// Registration(Handler.self) { (_, message: Message) in Handler(message) }
/// Registration(using: Dispatcher.init)
/// ```
/// A call during the creation of its owner belongs to that resolution. A later call resolves like any other: inside
/// ``Container/withScope(_:registrations:operation:)`` from the current scope below its container, so that a singleton
/// uses the current request's instances without holding them. A factory or hook of a scope below receives the scope's
/// own instances of scoped, transient and graph services, too, except of one that it overrides or decorates.
public struct Provider<Service: Sendable>: Sendable {
    private let resolver: Resolver
    private let qualifier: (any Qualifier)?
    /// The arguments of the request for the provider.
    private let pack: ArgumentPack

    /// Resolves the service, with the arguments of the request for the provider, if it had any.
    ///
    /// Runs in the caller's isolation.
    ///
    /// - Returns: The service.
    /// - Throws: The error of resolving the service.
    public nonisolated(nonsending) func callAsFunction() async throws -> Service {
        try await carryOut(pack) { request in try await request.resolve(Service.self) }
    }

    /// Resolves the service with arguments.
    ///
    /// - Parameters:
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    /// - Returns: The service.
    /// - Throws: The error of resolving the service.
    public nonisolated(nonsending) func callAsFunction<First: Sendable, each Argument: Sendable>(
        _ first: First, _ rest: repeat each Argument
    ) async throws -> Service {
        let pack = Arguments(first, repeat each rest)
        return try await carryOut(pack) { request in try await request.resolveUnready(Service.self) }
    }

    /// Carries a request out; recordings count it for the run that the provider was created for, from any caller.
    private nonisolated(nonsending) func carryOut(
        _ pack: ArgumentPack, _ action: nonisolated(nonsending) (Request) async throws -> Service
    ) async throws -> Service {
        let key = ServiceKey(Service.self, qualifier: qualifier, with: pack)
        return try await _Requester.keeper(of: resolver).carryOut(key, pack) { request in
            // The request itself reports the requests of that run.
            guard let run = resolver.run, let recorded = run.recorded, request.asker?.recorded !== recorded else {
                return try await action(request)
            }
            recorded.asks(for: key, of: request.host, isDeferred: !run.isActive)
            var noted = request
            noted.isNoted = true
            return try await action(noted)
        }
    }
}

extension Provider: WrapperType {
    static var need: WrapperNeed { .later(Service.self, isHeld: false) }
    static func isAvailable(for request: Request) -> Bool { request.knows(Service.self) }

    static func ready(for request: Request) throws -> Any? { isAvailable(for: request) ? provider(for: request) : nil }

    private static func provider(for request: Request) -> Provider {
        Provider(
            resolver: Resolver(host: request.host, run: request.asker, graph: nil), qualifier: request.key.qualifier,
            pack: request.pack)
    }
}
