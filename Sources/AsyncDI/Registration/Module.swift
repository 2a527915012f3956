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

    /// Called once everything that was registered together with this module is there: for what needs instances to be set up.
    ///
    /// Modules given to a container's initialiser, or to ``Container/openScope(_:registrations:)``, are told by
    /// ``Container/start()``, or else before the first resolution from outside returns; those registered later before `register`
    /// returns. Each is told once, the contained ones first. If one throws, whoever caused it gets the error, and the module is
    /// told again next time.
    ///
    /// - Parameter resolver: Resolves from the container, which answers in full while modules are told.
    /// - Throws: Whatever is wrong; it reaches whoever caused the modules to be told.
    func loaded(_ resolver: Resolver) async throws
}

extension Module {
    /// Does nothing.
    public func loaded(_ resolver: Resolver) async throws {}
}
