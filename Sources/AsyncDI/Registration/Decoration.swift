/// Wraps a service, for logging, caching or retries, without a change of the service or its registration.
///
/// ```swift
/// let container = Container {
///     Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
///     Decoration((any UserRepository).self) { resolver, inner in
///         CachingRepository(inner, cache: try await resolver.resolve())
///     }
/// }
/// ```
/// A decoration applies to the service's registrations in the container that it is given to, present and future.
/// Without such registrations it applies to inherited ones, as seen from that container and its scopes. Several
/// decorations stack: the last one is outermost. The registration keeps its lifetime, and its hooks, which receive the
/// inner instance. Contributions to `resolveMany` and `making:` registrations are not decorated.
public struct Decoration: Sendable {
    /// The decorated service, as messages show it.
    let key: ServiceKey
    /// The name of the registrations that it applies to.
    let name: ServiceName
    /// Returns the factory of a registration to which it applies, with the decorator around it.
    let decorate: @Sendable (Factory) -> Factory
    /// Returns a factory of the decorated service that returns an instance resolved elsewhere.
    let factory:
        @Sendable (
            _ base: nonisolated(nonsending) @escaping @Sendable (Resolver, ArgumentPack) async throws -> Cell
        ) -> Factory
    /// The source location of the decoration.
    let site: RegistrationSite

    /// Creates a decoration of a service.
    ///
    /// - Parameters:
    ///   - service: The type under which the service is registered.
    ///   - qualifier: The qualifier that it was registered with.
    ///   - fileID: The file that messages show for the decoration.
    ///   - line: The line that messages show for the decoration.
    ///   - decorator: Receives the instance of the factory, or of an earlier decorator, and returns the one to resolve.
    public init<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        fileID: String = #fileID, line: UInt = #line,
        _ decorator: nonisolated(nonsending) @escaping @Sendable (Resolver, Service) async throws -> Service
    ) {
        site = RegistrationSite(fileID: fileID, line: line)
        key = ServiceKey(Service.self, qualifier: qualifier)
        name = ServiceName(key)
        decorate = { factory in
            // Unchecked because the key of the registration has proved the type.
            unsafeDowncast(factory, to: ServiceFactory<Service>.self).decorated(by: decorator)
        }
        factory = { base in
            ServiceFactory<Service> { resolver, pack in
                while true {
                    // A weakly held instance may go between the look-up and the read.
                    if let instance = try await base(resolver, pack).load(as: Service.self) { return instance }
                }
            }
        }
    }

    /// Whether it applies to the registration of a key.
    func applies(to key: ServiceKey) -> Bool {
        key.role == .service && ServiceName(key) == name
    }
}

/// The decorations of a container.
///
/// A pure value.
struct Decorations {
    /// In the order of their registration.
    private(set) var inOrder: [Decoration] = []
    private var byName: [ServiceName: [Decoration]] = [:]

    var isEmpty: Bool { inOrder.isEmpty }

    mutating func add(_ decoration: Decoration) {
        inOrder.append(decoration)
        byName[decoration.name, default: []].append(decoration)
    }

    /// The decorations that apply to the registration of a key, the innermost first.
    func applying(to key: ServiceKey) -> [Decoration] {
        key.role == .service ? byName[ServiceName(key), default: []] : []
    }
}
