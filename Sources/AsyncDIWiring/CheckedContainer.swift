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

    /// Creates a container to check.
    ///
    /// - Parameters:
    ///   - container: The container, with the registrations of the application.
    ///   - services: The services that the application resolves from it outside every factory. The check covers all
    ///     registrations; warnings about unused ones start from these services.
    public init(_ container: Container, resolving services: any Any.Type...) {
        self.container = container
        self.services = services
    }

    /// Adds a kind of scope that the application opens in this container.
    ///
    /// - Parameters:
    ///   - name: The name of the scope in messages.
    ///   - services: The services that the scope resolves: each expected value that they need must be among the
    ///     registrations.
    ///   - registrations: The registrations of the scope; `Registration(expected:)` stands for a value.
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
