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
}
