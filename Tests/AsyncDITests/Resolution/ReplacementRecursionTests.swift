import Testing

@testable import AsyncDI

private final class Nest: Sendable {
    let inner: (any Sendable)?
    init(_ inner: (any Sendable)? = nil) { self.inner = inner }
}

private final class Closed: Sendable {}

/// A service that replaces its own registration and then requests itself, or requests itself in a hook that it makes
/// run, and whether that ends.
@Suite(.timeLimit(.minutes(10))) struct ReplacementRecursionTests {
    /// So that an unnoticed recursion ends too.
    private static let most = 1_200

    /// Where the service replaces its registration.
    enum Place: CaseIterable, Sendable { case factory, hook }

    /// A service that registers itself again, and then requests itself, while `runs` has counted few runs.
    @Sendable private static func replacing(
        _ lifetime: Lifetime, in place: Place, of container: Container, _ runs: Counter, last: Int
    ) -> Registration<Nest> {
        let again: @Sendable (Resolver) async throws -> Nest? = { r in
            guard runs.increment() < last else { return nil }
            try await container.register(replacing(lifetime, in: place, of: container, runs, last: last))
            return try await r.resolve(Nest.self)
        }
        let registration = Registration(Nest.self, lifetime: lifetime) { r in
            Nest(place == .factory ? try await again(r) : nil)
        }
        return place == .factory ? registration : registration.injectProperties { r, _ in _ = try await again(r) }
    }

    @Test(arguments: [.transient, .graph, .singleton] as [Lifetime], Place.allCases)
    func `a service that replaces itself is refused a thousand levels deep`(
        lifetime: Lifetime, place: Place
    ) async throws {
        let (container, runs) = (Container(), Counter())
        try await container.register(Self.replacing(lifetime, in: place, of: container, runs, last: Self.most))
        let error = await expect(.circularDependency) { _ = try await container.resolve(Nest.self) }
        #expect(error?.description.contains("depends on itself") == true)
        #expect(error?.path.count == 2)
        #expect((1_024...1_026).contains(runs.value))
        try await container.dispose()
    }

    @Test(arguments: [.transient, .graph, .singleton] as [Lifetime])
    func `one that stops after many replacements is created`(lifetime: Lifetime) async throws {
        let (container, runs) = (Container(), Counter())
        try await container.register(Self.replacing(lifetime, in: .factory, of: container, runs, last: 1_000))
        _ = try await container.resolve(Nest.self)
        #expect(runs.value == 1_000)
        try await container.dispose()
    }

    @Test(arguments: [.transient, .singleton] as [Lifetime])
    func `other arguments each time are no repetition`(lifetime: Lifetime) async throws {
        let (container, runs) = (Container(), Counter())
        @Sendable func register() async throws {
            try await container.register(Nest.self, lifetime: lifetime) { (r, number: Int) in
                runs.increment()
                guard number > 0 else { return Nest() }
                try await register()
                return Nest(try await r.resolve(Nest.self, arguments: number - 1))
            }
        }
        try await register()
        _ = try await container.resolve(Nest.self, arguments: 1_200)
        #expect(runs.value == 1_201)
        try await container.dispose()
    }

    @Test(arguments: [.graph, .multiton] as [Lifetime])
    func `equal arguments at every other level are a repetition`(lifetime: Lifetime) async throws {
        let (container, runs) = (Container(), Counter())
        @Sendable func register() async throws {
            try await container.register(Nest.self, lifetime: lifetime) { (r, number: Int) in
                let run = runs.increment()
                guard run < Self.most else { return Nest() }
                try await register()
                return Nest(try await r.resolve(Nest.self, arguments: number == 0 ? 10_000 + run : 0))
            }
        }
        try await register()
        await expect(.circularDependency) { _ = try await container.resolve(Nest.self, arguments: 0) }
        #expect((1_024...1_026).contains(runs.value))
        try await container.dispose()
    }

    /// How the service makes the hook run.
    enum Trigger: CaseIterable { case reset, disposal }

    @Test(arguments: Trigger.allCases)
    func `a service that is requested by a hook that it waits for is refused a thousand levels deep`(
        trigger: Trigger
    ) async throws {
        let (container, runs) = (Container(), Counter())
        let closed = Registration(Closed.self, lifetime: .singleton) { _ in Closed() }
            .onDispose { [weak container] _ in _ = try await container?.resolve(Nest.self) }
        try await container.register(closed)
        try await container.register(Nest.self, lifetime: .singleton) { r in
            guard runs.increment() < Self.most else { return Nest() }
            switch trigger {
            case .reset:
                _ = try await r.resolve(Closed.self)
                try await container.reset()
            case .disposal:
                try await container.reset(Nest.self)
                let other = Container { closed }
                _ = try await other.resolve(Closed.self)
                try await other.dispose()
            }
            return Nest()
        }
        var refusal: (any Error)?
        do { _ = try await container.resolve(Nest.self) } catch { refusal = error }
        #expect(refusal.map { "\($0)".contains("circularDependency") } == true)
        #expect((1_024...1_026).contains(runs.value))
        try? await container.dispose()
    }
}
