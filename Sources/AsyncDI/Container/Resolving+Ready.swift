/// Synchronous requests, for existing instances.
extension _Resolving {
    /// Returns an existing instance of an unqualified service, synchronously.
    @_documentation(visibility: internal)
    @inlinable
    public func ready<Service: Sendable>(_ service: Service.Type = Service.self) throws -> Service {
        if let hit = _requester.beginHit(Service.self) {
            // Until the read has ended: the end of the container waits for it.
            defer { withExtendedLifetime(self) {} }
            return hit.instance(of: service)
        }
        return try _requester.ready(service, nil)
    }

    /// Returns an existing instance, synchronously.
    ///
    /// The instance exists after an earlier resolve or an eager start, or as an `instance:` registration.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    /// - Returns: The instance.
    /// - Throws: ``ResolutionError`` with the code `notReady` when it has not been created, `notRegistered` or
    ///   `disposed`; inside a factory, the errors of ``resolve(_:qualifier:)`` for an instance that the new one must
    ///   not hold.
    public func ready<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
    ) throws -> Service {
        try _requester.ready(service, qualifier)
    }

    /// Creates an object from existing instances, synchronously; registers and stores nothing.
    ///
    /// For objects that are bound to the main actor or not `Sendable`, such as view models and controllers.
    /// ```swift
    /// let model = try container.ready(using: ViewModel.init)
    /// ```
    /// Called on a container outside a factory, it makes the container that supplies the parameters the current one for
    /// the initializer: injection points in the object, such as ``Inject``, use it too. With a ``Resolver``, and inside
    /// a factory, injection points use the container that they would use without this call.
    ///
    /// - Parameter initializer: The initializer, or any function.
    /// - Returns: The initializer's result.
    /// - Throws: ``ResolutionError`` with the code `notReady`, which names the first missing dependency, and the
    ///   initializer's error.
    public func ready<Service, each Dependency: Sendable>(
        using initializer: (repeat each Dependency) throws -> Service
    ) throws -> Service {
        try _requester.whileCurrent { try initializer(repeat try ready((each Dependency).self)) }
    }

    /// Diagnoses a request whose type the compiler cannot infer.
    @available(*, unavailable, message: "name the service, ready(Service.self), or give the result a type")
    public func ready() throws -> Never { fatalError() }
}
