extension Registration where Service: Sendable {
    /// Registers a service created by an initializer whose parameters are resolved by their types.
    ///
    /// Shared dependencies that must be created are created concurrently; transient and graph ones are created one
    /// after another in the caller's task. Existing ones cost no task.
    /// ```swift
    /// Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
    /// Registration(using: Owner.init(pet:city:))
    /// ```
    /// For an initializer with a closure among its parameters, use a factory.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that returns the service.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Distinguishes registrations of one type.
    ///   - lifetime: How long an instance is shared; the container's default lifetime when nil.
    ///   - fileID: The file that messages show for the registration.
    ///   - line: The line that messages show for the registration.
    @inlinable
    public init<each Dependency: Sendable>(
        using initializer: @escaping @Sendable (repeat each Dependency) async throws -> Service,
        as service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, lifetime: Lifetime? = nil,
        fileID: String = #fileID, line: UInt = #line
    ) {
        self.init(service, qualifier: qualifier, lifetime: lifetime, fileID: fileID, line: line) { resolver in
            var waits = 0
            for service in repeat (each Dependency).self {
                if resolver.mayWait(for: service) { waits += 1 }
            }
            if waits > 1 {
                let all = try await resolver.all(repeat (each Dependency).self)
                return try await initializer(repeat each all)
            }
            return try await initializer(repeat resolver.resolve((each Dependency).self))
        }
        var services: [any Any.Type] = []
        for service in repeat (each Dependency).self { services.append(service) }
        dependsOn(services)
    }
}

/// A place for one dependency that is being resolved, perhaps in a child task.
final class DependencySlot<Dependency: Sendable>: Sendable {
    /// Whether the dependency is open, and resolving it may wait for another task's work.
    let mayWait: Bool
    private let state: Locked<Dependency?>
    private let resolve: nonisolated(nonsending) @Sendable (Resolver) async throws -> Dependency

    init(_ instance: Dependency) {
        mayWait = false
        state = Locked(instance)
        resolve = { _ in instance }
    }

    init(
        mayWait: Bool, resolve: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Dependency
    ) {
        self.mayWait = mayWait
        state = Locked(nil)
        self.resolve = resolve
    }

    var isEmpty: Bool { state.withLock { $0 == nil } }

    /// The dependency; read only after every slot was filled without an error.
    var instance: Dependency {
        guard let instance = state.withLock({ $0 }) else { preconditionFailure("the dependency was resolved") }
        return instance
    }

    nonisolated(nonsending) func fill(from resolver: Resolver) async throws {
        let instance = try await resolve(resolver)
        state.withLock { $0 = instance }
    }
}

extension Resolver {
    /// Whether resolving a dependency may wait for a creation with its own task, while others proceed.
    ///
    /// The dependencies of a long-lived instance are created once: there, every dependency that must be created counts,
    /// because the factories of transient ones may wait. In a request, only shared ones count.
    @usableFromInline
    func mayWait(for service: any Any.Type) -> Bool {
        let countsAll = run?.holder?.binding.lifetime.sharing == .registeringContainer
        return host.table.mayBeCreated(service, countingAll: countsAll)
            ?? (countsAll || mayWait(inside: ServiceKey(service)))
    }

    /// Whether resolving the services of a wrapper, such as an optional, may wait.
    func mayWait(inside wrapper: ServiceKey) -> Bool {
        switch (wrapper.service as? any WrapperType.Type)?.need {
        case .optional(let service)?: mayWait(for: wrapper.of(service))
        case .contributions(let service, _)?:
            host.contributions(to: wrapper.of(service)).contains { mayWait(for: $0) }
        case .later?, .nothing?, nil: false
        }
    }

    /// Whether resolving more than one of these dependencies may wait: see ``mayWait(for:)``.
    @usableFromInline
    func mayWait(
        for first: any Any.Type, _ second: any Any.Type, _ third: (any Any.Type)? = nil, _ fourth: (any Any.Type)? = nil
    ) -> Bool {
        var waits = mayWait(for: first) ? 1 : 0
        if mayWait(for: second) { waits += 1 }
        if let third, mayWait(for: third) { waits += 1 }
        if let fourth, mayWait(for: fourth) { waits += 1 }
        return waits > 1
    }

    /// The instances of several services; missing ones are created concurrently.
    @usableFromInline
    nonisolated(nonsending) func all<each Dependency: Sendable>(
        _ types: repeat (each Dependency).Type
    ) async throws -> (repeat each Dependency) {
        try await all(.none, repeat ParameterSource<each Dependency>.resolved)
    }
}
