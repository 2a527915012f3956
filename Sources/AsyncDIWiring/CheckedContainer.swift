public import AsyncDI

/// A container to check, with the services that the application itself resolves and the scopes that it opens.
public struct CheckedContainer: Sendable {
    /// A kind of scope.
    struct Scope: Sendable {
        let name: String
        let services: [any Any.Type]
        let registrations: Registrations
    }

    let container: Container
    let services: [any Any.Type]
    private(set) var scopes: [Scope] = []

    /// A container.
    ///
    /// - Parameters:
    ///   - container: The container, filled as the application fills it.
    ///   - services: The services that the application resolves from it outside every factory. All that is registered
    ///     is checked whether named here or not; warnings about what is unused begin at these.
    public init(_ container: Container, resolving services: any Any.Type...) {
        self.container = container
        self.services = services
    }

    /// The same with a kind of scope that the application opens in this container.
    ///
    /// - Parameters:
    ///   - name: What messages call the scope.
    ///   - services: The services that are resolved in it: each value that they need and that is expected of scopes must
    ///     be among the registrations.
    ///   - registrations: What the scope supplies; `Registration(expected:)` stands for a value.
    /// - Returns: The container with one more scope.
    public func scope(
        _ name: String, resolving services: any Any.Type...,
        @RegistrationBuilder registrations: () -> Registrations = { Registrations() }
    ) -> CheckedContainer {
        var copy = self
        copy.scopes.append(Scope(name: name, services: services, registrations: registrations()))
        return copy
    }
}
