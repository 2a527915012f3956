import Testing

@testable import AsyncDI

/// Which lifetimes have an end that an onDispose can wait for.
@Suite(.timeLimit(.minutes(10))) struct OnDisposeLifetimeTests {
    static let unowned: [Lifetime] = [.transient, .graph, .weak, .multiton(weak: true)]

    @Test(arguments: unowned)
    func `register refuses an onDispose that would never run`(lifetime: Lifetime) async throws {
        let container = Container()
        let error = await expect(.invalidRegistration, path: ["Thing"]) {
            try await container.register(
                Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.onDispose { _ in })
        }
        #expect(error?.description.contains(lifetime.name) == true)
        await expect(.invalidRegistration) {
            try await container.register(
                Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing() }.onDispose { _, _ in })
        }
        #expect(await !container.isRegistered(Thing.self))
    }

    @Test(arguments: unowned)
    func `an onDispose that would never run is refused by every resolve`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.onDispose { _ in }
            Registration(Int.self) { _ in 1 }
        }
        for _ in 0..<2 {
            await expect(.invalidRegistration) { try await container.resolve(Thing.self) }
        }
        await expect(.invalidRegistration) { try await container.resolve(Thing?.self) }
        #expect(try await container.resolve(Int.self) == 1)
    }

    @Test func `an onDispose is refused by the lifetime that the container gives`() async throws {
        let registration = Registration(Thing.self) { _ in Thing() }.onDispose { _ in }
        await #expect(throws: ResolutionError.self) { try await Container().register(registration) }
        try await Container(defaultLifetime: .singleton).register(registration)
    }

    @Test(arguments: Lifetime.kept)
    func `an onDispose of every lifetime that is kept runs`(lifetime: Lifetime) async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) }
                .onDispose { disposed.append($0.number) }
                .onDispose { thing, reason in disposed.append(reason.error == nil ? thing.number + 1 : 0) }
        }
        _ = try await container.resolve(Thing.self)
        try await container.dispose()
        #expect(disposed.entries == [1, 2])
    }
}
