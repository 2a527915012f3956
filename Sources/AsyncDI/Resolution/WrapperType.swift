/// A type that wraps a service, such as `Optional`, and resolves itself when it is not registered.
protocol WrapperType {
    /// The needs of a registration that depends on the wrapper, for a validation without resolving.
    static var need: WrapperNeed { get }
    /// Whether the wrapper's service is registered.
    static func isAvailable(for request: Request) -> Bool
    /// The wrapper of the service, nil when that is not available.
    ///
    /// With `leasing`, each instance is leased for as long as the product of the requesting factory.
    static nonisolated(nonsending) func resolve(for request: Request, leasing: Bool) async throws -> Any?
    /// The same from existing instances, without waiting; nil when the wrapper cannot be resolved in that way.
    static func ready(for request: Request) throws -> Any?
}

extension WrapperType {
    /// A wrapper that resolves later, or wraps nothing, waits for nothing, and has no instance to lease.
    static nonisolated(nonsending) func resolve(for request: Request, leasing: Bool) async throws -> Any? {
        if !leasing { return try ready(for: request) }
        guard isAvailable(for: request) else { return nil }
        throw request.failure(
            .invalidOperation, "\(request.key) was leased, but holds no instance.",
            advice: "Resolve it instead, and use withInstance where its service is used.")
    }
}

/// The registrations that a wrapper needs in order to be resolved.
enum WrapperNeed {
    case nothing
    /// The service, unless it is not registered at all.
    case optional(any Any.Type)
    /// The service of a later request, with any arguments; `isHeld` when the wrapper's owner will hold the instance.
    case later(any Any.Type, isHeld: Bool)
    /// At least one contribution to the service, with a key of this type unless that is nil.
    case contributions(any Any.Type, keyedBy: (any Any.Type)?)
}

/// Whether a service can be leased: neither a wrapper that resolves later nor one that wraps nothing.
func isLeasable(_ service: any Any.Type) -> Bool {
    switch (service as? any WrapperType.Type)?.need {
    case .nothing?, .later?: false
    case .optional(let wrapped)?: isLeasable(wrapped)
    case .contributions?, nil: true
    }
}

extension ServiceKey {
    /// The same request for another service.
    func of(_ service: any Any.Type) -> ServiceKey {
        ServiceKey(service, qualifier: qualifier, arguments: arguments, role: role)
    }

    /// The key of the wrapped service, for messages: a missing `Lazy<S>` means a missing `S`.
    func unwrapped(_ service: any Any.Type) -> ServiceKey {
        switch (service as? any WrapperType.Type)?.need {
        case .optional(let inner)?, .later(let inner, _)?: of(inner).unwrapped(inner)
        case .nothing?, .contributions?, nil: self
        }
    }
}

extension Request {
    /// Whether a service can be requested with this request's qualifier, whatever its arguments.
    func knows<Service>(_ service: Service.Type) -> Bool {
        let inner = asking(for: service)
        if host.table.registration(of: inner.key) != nil || host.mismatch(inner.key, asker: nil) != nil { return true }
        return (service as? any WrapperType.Type)?.isAvailable(for: inner) ?? inner.wasKnown
    }
}

extension Optional: WrapperType {
    static var need: WrapperNeed { .optional(Wrapped.self) }
    static func isAvailable(for request: Request) -> Bool { true }

    /// Nil when the service is not registered; every other failure is thrown.
    static nonisolated(nonsending) func resolve(for request: Request, leasing: Bool) async throws -> Any? {
        let inner = request.asking(for: Wrapped.self)
        if let wrapper = inner.wrapper(Wrapped.self) {
            return try await wrapper.resolve(for: inner, leasing: leasing).flatMap { $0 as? Wrapped } as Any
        }
        let cell = try await leasing ? inner.optionalCellLeasedForCreation() : inner.optionalCell(isOptional: true)
        // Not constrained to `Sendable`, which a conformance cannot depend on; the request for the optional was.
        return cell?.load(unconstrained: Wrapped.self) as Any
    }

    /// Nil when the service is not registered; not being ready is an error.
    static func ready(for request: Request) throws -> Any? {
        let inner = request.asking(for: Wrapped.self)
        if let wrapper = inner.wrapper(Wrapped.self) {
            return try wrapper.ready(for: inner).flatMap { $0 as? Wrapped } as Any
        }
        return try inner.readyCell(isOptional: true)?.load(unconstrained: Wrapped.self) as Any
    }
}

extension Request {
    /// The wrapper that a type is, unless it was registered itself.
    fileprivate func wrapper(_ service: any Any.Type) -> (any WrapperType.Type)? {
        host.table.registration(of: key) == nil ? service as? any WrapperType.Type : nil
    }
}

/// A factory's own resolver, for initializers that take one.
extension Resolver: WrapperType {
    static var need: WrapperNeed { .nothing }
    static func isAvailable(for request: Request) -> Bool { true }

    static func ready(for request: Request) throws -> Any? {
        Resolver(host: request.host, run: request.asker, graph: request.graph)
    }
}
