/// A type that wraps a service, such as `Optional`, and resolves itself when nobody registered it.
protocol WrapperType {
    static nonisolated(nonsending) func resolve(for request: Request) async throws -> Any
    /// The same from what is there, without waiting; nil when the wrapper cannot be had that way.
    static func ready(for request: Request) throws -> Any?
}

extension Optional: WrapperType {
    /// Nil when the service is not registered; every other failure is thrown.
    static nonisolated(nonsending) func resolve(for request: Request) async throws -> Any {
        let inner = request.asking(for: Wrapped.self)
        if let wrapper = Wrapped.self as? any WrapperType.Type, inner.host.table.registration(of: inner.key) == nil {
            return try await wrapper.resolve(for: inner) as? Wrapped as Any
        }
        // Not constrained to `Sendable`, which a conformance cannot depend on; the request for the optional was.
        return try await inner.optionalCell()?.anyValue as? Wrapped as Any
    }

    /// Nil when the service is not registered; not being ready is an error.
    static func ready(for request: Request) throws -> Any? {
        let inner = request.asking(for: Wrapped.self)
        if let wrapper = Wrapped.self as? any WrapperType.Type, inner.host.table.registration(of: inner.key) == nil {
            return try wrapper.ready(for: inner) as? Wrapped as Any
        }
        return try inner.readyCell()?.anyValue as? Wrapped as Any
    }
}

/// A factory's own resolver, for initialisers that take one.
extension Resolver: WrapperType {
    static nonisolated(nonsending) func resolve(for request: Request) async throws -> Any {
        Resolver(host: request.host, frame: request.asker)
    }

    static func ready(for request: Request) throws -> Any? { Resolver(host: request.host, frame: request.asker) }
}
