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
    /// What the module registers; may include other modules.
    @RegistrationBuilder var registrations: Registrations { get }

    /// Called once everything that was registered together with this module is in place, for set-up that needs
    /// instances.
    ///
    /// Modules given to a container's initializer, or to ``Container/openScope(_:registrations:)``, are loaded by
    /// ``Container/start()``, or else before the first resolution from outside returns; those registered later before
    /// `register` returns. Each is called once, the contained ones first. If one throws, the caller gets the error, and
    /// the next load calls the module again.
    ///
    /// - Parameter resolver: Resolves from the container, which answers in full while modules are told.
    /// - Throws: Whatever is wrong; it reaches the call that notified the modules.
    func loaded(_ resolver: Resolver) async throws
}

extension Module {
    /// Does nothing.
    public func loaded(_ resolver: Resolver) async throws {}
}
