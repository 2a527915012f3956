/// A group of registrations that belong together.
///
/// ```swift
/// struct NetworkModule: Module {
///     var registrations: Registrations {
///         Registration(HTTPClient.self, lifetime: .singleton) { _ in HTTPClient() }
///         CacheModule()
///     }
/// }
///
/// let container = Container { NetworkModule() }
/// ```
public protocol Module: Sendable {
    /// The registrations of the module, which may include other modules.
    @RegistrationBuilder var registrations: Registrations { get }

    /// Sets up instances, once all registrations made together with this module are in place.
    ///
    /// Modules given to a container's initializer, or to ``Container/openScope(_:registrations:)``, are loaded by
    /// ``Container/start()``, or else before the first resolution from outside returns; those registered later, before
    /// `register` returns. Each is called once, the contained ones first. If one throws, the caller gets the error, and
    /// the next load calls the module again.
    ///
    /// - Parameter resolver: Resolves from the container, which resolves everything while modules load.
    /// - Throws: Any error; the call that loads the modules throws it.
    func loaded(_ resolver: Resolver) async throws
}

extension Module {
    /// Does nothing.
    public func loaded(_ resolver: Resolver) async throws {}
}
