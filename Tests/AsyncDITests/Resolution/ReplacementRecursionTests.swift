import Testing

@testable import AsyncDI

private final class Closed: Sendable {}

private final class Between: Sendable {
    let nest: Nest
    init(_ nest: Nest) { self.nest = nest }
}

private final class Holder: Sendable {
    let closed: Closed
    init(_ closed: Closed) { self.closed = closed }
}

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

    @Test func `two graph services that replace each other in turn are refused`() async throws {
        let (container, runs) = (Container(), Counter())
        @Sendable func register() async throws {
            try await container.register(Nest.self, lifetime: .graph) { r in Nest(try await r.resolve(Closed.self)) }
            try await container.register(
                Registration(Closed.self, lifetime: .graph) { _ in Closed() }
                    .injectProperties { r, _ in
                        guard runs.increment() < Self.most else { return }
                        try await register()
                        _ = try await r.resolve(Nest.self)
                    })
        }
        try await register()
        await expect(.circularDependency) { _ = try await container.resolve(Nest.self) }
        #expect((512...514).contains(runs.value))
        try await container.dispose()
    }

    @Test func `functions as arguments are a repetition`() async throws {
        let (container, runs) = (Container(), Counter())
        @Sendable func register() async throws {
            try await container.register(Nest.self, lifetime: .transient) { (r, work: @escaping @Sendable () -> Void) in
                let run = runs.increment()
                guard run < Self.most else { return Nest() }
                try await register()
                let next: @Sendable () -> Void = { if run < 0 { work() } }
                return Nest(try await r.resolve(Nest.self, arguments: next))
            }
        }
        try await register()
        let first: @Sendable () -> Void = {}
        await expect(.circularDependency) { _ = try await container.resolve(Nest.self, arguments: first) }
        #expect((1_024...1_026).contains(runs.value))
        try await container.dispose()
    }

    /// The instance whose reset runs the hook.
    enum Way: CaseIterable { case itself, holder }

    @Test(arguments: Way.allCases)
    func `a service that a hook of its own reset requests is refused`(way: Way) async throws {
        let (container, runs) = (Container(), Counter())
        try await container.register(
            Registration(Closed.self, lifetime: .multiton) { (_, _: Int) in Closed() }
                .onDispose { [weak container] _ in _ = try await container?.resolve(Between.self) })
        try await container.register(
            Registration(Holder.self, lifetime: .multiton) { (r, number: Int) in
                Holder(try await r.lease(Closed.self, arguments: number))
            }
            .onDispose { _, _ in })
        try await container.register(Between.self, lifetime: .graph) { r in Between(try await r.resolve(Nest.self)) }
        try await container.register(Nest.self, lifetime: .singleton) { r in
            let run = runs.increment()
            guard run < Self.most else { return Nest() }
            // A successor of the same key would wait for the hook.
            if way == .holder {
                _ = try await r.resolve(Holder.self, arguments: run)
            } else {
                _ = try await r.resolve(Closed.self, arguments: run)
            }
            try await container.reset()
            return Nest()
        }
        var refusal: (any Error)?
        do { _ = try await container.resolve(Nest.self) } catch { refusal = error }
        #expect(refusal.map { "\($0)".contains("circularDependency") } == true)
        // The graph service counts as a level.
        #expect((510...514).contains(runs.value))
        try? await container.dispose()
    }
}
