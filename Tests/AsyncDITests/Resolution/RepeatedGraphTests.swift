import Testing

@testable import AsyncDI

/// A service that requests itself where its own creation is not found: in a new graph, or in a new container that
/// searches its own one.
@Suite(.timeLimit(.minutes(10))) struct RepeatedGraphTests {
    /// So that an unnoticed recursion ends too.
    private static let most = 1_500

    /// How the factory requests its own service.
    enum Way: CaseIterable, Sendable { case graph, graphOfHook, lazy, scope }

    @Test(arguments: Way.allCases) func `a graph service that requests itself in a new graph is refused`(
        way: Way
    ) async throws {
        let (container, runs) = (Container(), Counter())
        @Sendable func again() async throws {
            guard runs.increment() < Self.most else { return }
            switch way {
            case .graph, .graphOfHook: _ = try await container.withGraph { r in try await r.resolve(Nest.self) }
            case .lazy: _ = try await Lazy<Nest>(from: container)()
            case .scope:
                try await container.withScope { scope in
                    _ = try await scope.withGraph { r in try await r.resolve(Nest.self) }
                }
            }
        }
        try await container.register(
            way == .graphOfHook
                ? Registration(Nest.self, lifetime: .graph) { _ in Nest() }
                    .injectProperties { _, _ in try await again() }
                : Registration(Nest.self, lifetime: .graph) { _ in
                    try await again()
                    return Nest()
                })
        let error = await expect(.circularDependency) { _ = try await container.resolve(Nest.self) }
        #expect(error?.path.count == (way == .lazy ? 3 : 2))
        #expect(runs.value <= 1_026)
        try await container.dispose()
    }

    @Test func `a graph service that requests itself in a thousand graphs is created`() async throws {
        let (container, runs) = (Container(), Counter())
        try await container.register(Nest.self, lifetime: .graph) { _ in
            if runs.increment() < 1_000 {
                _ = try await container.withGraph { r in try await r.resolve(Nest.self) }
            }
            return Nest()
        }
        _ = try await container.resolve(Nest.self)
        #expect(runs.value == 1_000)
        try await container.dispose()
    }

    @Test(arguments: [.transient, .graph, .scoped] as [Lifetime])
    func `a service that requests itself in new containers that fall back on its own is refused`(
        lifetime: Lifetime
    ) async throws {
        let (container, runs) = (Container(), Counter())
        try await container.register(Nest.self, lifetime: lifetime) { _ in
            if runs.increment() < Self.most { _ = try await Container(fallbacks: [container]).resolve(Nest.self) }
            return Nest()
        }
        await expect(.circularDependency) { _ = try await container.resolve(Nest.self) }
        #expect(runs.value <= 2)
        try await container.dispose()
    }

    @Test func `a new container with a registration of its own is another source`() async throws {
        let (container, runs) = (Container(), Counter())
        try await container.register(Nest.self, lifetime: .transient) { r in
            runs.increment()
            let depth = try await r.optional(Int.self) ?? 0
            guard depth < 20 else { return Nest() }
            let next = Container(fallbacks: [container]) { Registration(instance: depth + 1) }
            return try await next.resolve(Nest.self)
        }
        _ = try await container.resolve(Nest.self)
        #expect(runs.value == 21)
        try await container.dispose()
    }
}
