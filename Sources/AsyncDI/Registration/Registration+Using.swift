extension Registration where Service: Sendable {
    /// A service made by an initializer whose parameters are resolved by their types.
    ///
    /// Missing dependencies are created concurrently; existing ones cost no task.
    /// ```swift
    /// Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
    /// Registration(using: Owner.init(pet:city:))
    /// ```
    /// An initializer with a closure among its parameters needs the form with a factory.
    ///
    /// - Parameters:
    ///   - initializer: The initializer, or any function that makes the service.
    ///   - service: The type under which the service is resolved.
    ///   - qualifier: Tells registrations of one type apart.
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
            let all: (repeat each Dependency)
            do throws(NotPublished) {
                all = (repeat try resolver.publishedOrThrow((each Dependency).self))
            } catch {
                all = try await resolver.all(repeat (each Dependency).self)
            }
            return try await initializer(repeat each all)
        }
        var services: [any Any.Type] = []
        for service in repeat (each Dependency).self { services.append(service) }
        dependsOn(services)
    }
}

/// A place for one dependency that is being resolved, perhaps in a child task.
private final class DependencySlot<Dependency: Sendable>: Sendable {
    private let state: Locked<Dependency?>

    init(_ ready: Dependency?) { state = Locked(ready) }

    var isEmpty: Bool { state.withLock { $0 == nil } }

    /// The dependency; only asked for once every slot was filled without an error.
    var instance: Dependency {
        guard let instance = state.withLock({ $0 }) else { preconditionFailure("the dependency was resolved") }
        return instance
    }

    nonisolated(nonsending) func fill(from resolver: Resolver) async throws {
        let instance = try await resolver.resolve(Dependency.self)
        state.withLock { $0 = instance }
    }
}

extension Resolver {
    /// The instances of several services; those that must be created are created concurrently.
    @usableFromInline
    nonisolated(nonsending) func all<each Dependency: Sendable>(
        _ types: repeat (each Dependency).Type
    ) async throws -> (repeat each Dependency) {
        let ready = (repeat try request(ServiceKey(each types), .none).readyInstance(each types))
        var missing = 0
        for dependency in repeat each ready {
            if dependency == nil { missing += 1 }
        }
        if missing == 0 { return (repeat (each ready)!) }
        let slots = (repeat DependencySlot<each Dependency>(each ready))
        try await fill(repeat each slots, concurrently: missing > 1)
        return (repeat (each slots).instance)
    }

    private nonisolated(nonsending) func fill<each Dependency: Sendable>(
        _ slots: repeat DependencySlot<each Dependency>, concurrently: Bool
    ) async throws {
        guard concurrently else {
            for slot in repeat each slots {
                if slot.isEmpty { try await slot.fill(from: self) }
            }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for slot in repeat each slots {
                if slot.isEmpty { group.addTask { try await slot.fill(from: self) } }
            }
            try await group.waitForAll()
        }
    }
}
