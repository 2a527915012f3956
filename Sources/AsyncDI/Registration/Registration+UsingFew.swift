/// Initializers with few parameters of known types: when all instances exist, no generic code runs.
///
/// Measured with Swift 6.3, the general form with a pack takes one and a half times as long, for three existing
/// instances and for a tree of transient ones.
extension Registration where Service: Sendable {
    /// Registers a service created by an initializer whose one parameter is resolved by its type.
    @_documentation(visibility: internal)
    @inlinable
    public init<First: Sendable>(
        using initializer: @escaping @Sendable (First) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            try await initializer(resolver.resolve(First.self))
        }
        dependsOn([First.self])
    }

    /// Registers a service created by an initializer whose two parameters are resolved by their types.
    @_documentation(visibility: internal)
    @inlinable
    public init<First: Sendable, Second: Sendable>(
        using initializer: @escaping @Sendable (First, Second) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            if let first = resolver.published(First.self),
                let second = resolver.published(Second.self)
            {
                return try await initializer(first, second)
            }
            if resolver.mayWait(for: First.self, Second.self) {
                let all = try await resolver.all(First.self, Second.self)
                return try await initializer(all.0, all.1)
            }
            return try await initializer(
                resolver.resolve(First.self), resolver.resolve(Second.self))
        }
        dependsOn([First.self, Second.self])
    }

    /// Registers a service created by an initializer whose three parameters are resolved by their types.
    @_documentation(visibility: internal)
    @inlinable
    public init<First: Sendable, Second: Sendable, Third: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            if let first = resolver.published(First.self),
                let second = resolver.published(Second.self),
                let third = resolver.published(Third.self)
            {
                return try await initializer(first, second, third)
            }
            if resolver.mayWait(for: First.self, Second.self, Third.self) {
                let all = try await resolver.all(First.self, Second.self, Third.self)
                return try await initializer(all.0, all.1, all.2)
            }
            return try await initializer(
                resolver.resolve(First.self), resolver.resolve(Second.self), resolver.resolve(Third.self))
        }
        dependsOn([First.self, Second.self, Third.self])
    }

    /// Registers a service created by an initializer whose four parameters are resolved by their types.
    @_documentation(visibility: internal)
    @inlinable
    public init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        using initializer: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            if let first = resolver.published(First.self),
                let second = resolver.published(Second.self),
                let third = resolver.published(Third.self),
                let fourth = resolver.published(Fourth.self)
            {
                return try await initializer(first, second, third, fourth)
            }
            if resolver.mayWait(for: First.self, Second.self, Third.self, Fourth.self) {
                let all = try await resolver.all(First.self, Second.self, Third.self, Fourth.self)
                return try await initializer(all.0, all.1, all.2, all.3)
            }
            return try await initializer(
                resolver.resolve(First.self), resolver.resolve(Second.self), resolver.resolve(Third.self),
                resolver.resolve(Fourth.self))
        }
        dependsOn([First.self, Second.self, Third.self, Fourth.self])
    }

    /// Declares the known dependencies of the factory.
    @usableFromInline mutating func dependsOn(_ services: [any Any.Type]) {
        blueprint.change { $0.dependencies = services.map { ServiceKey($0, nil) } }
    }
}

extension Resolver {
    /// An existing instance, where no rule about its holder applies, and nothing is recorded.
    @inlinable
    func published<Service: Sendable>(_ service: Service.Type) -> Service? {
        guard let hit = beginHit(Service.self) else { return nil }
        // Until the read has ended: the resolver's references must not end during it.
        defer { withExtendedLifetime(self) {} }
        return hit.instance(of: service)
    }
}
