import Testing

@testable import AsyncDI

private enum Env: String, Qualifier { case prod, test }

/// Taking a registration back.
@Suite(.timeLimit(.minutes(10))) struct UnregisterTests {
    @Test func `an unregistered service is no longer found`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        _ = try await container.resolve(Thing.self)
        #expect(await container.unregister(Thing.self))
        await expect(.notRegistered) { try await container.resolve(Thing.self) }
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        #expect(await !container.isRegistered(Thing.self))
        #expect(await !container.unregister(Thing.self))
    }

    @Test func `the instance of an unregistered service is disposed once`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in disposed.increment() }
        }
        _ = try await container.resolve(Thing.self)
        await container.unregister(Thing.self)
        try await container.dispose()
        #expect(disposed.value == 1)
    }

    @Test func `unregister takes the qualifier named and no other`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 0 }
            Registration(Int.self, qualifier: Env.prod) { _ in 1 }
            Registration(Int.self, qualifier: Env.test) { _ in 2 }
        }
        #expect(await container.unregister(Int.self, qualifier: Env.prod))
        #expect(try await container.resolve(Int.self) == 0)
        #expect(try await container.optional(Int.self, qualifier: Env.prod) == nil)
        #expect(try await container.resolve(Int.self, qualifier: Env.test) == 2)
    }

    @Test func `unregister takes the argument types named, or all when none are`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 0 }
            Registration(Int.self) { (_, number: Int) in number }
            Registration(Int.self) { (_, text: String) in text.count }
        }
        #expect(await container.unregister(Int.self, arguments: String.self))
        #expect(await !container.unregister(Int.self, arguments: Double.self))
        #expect(try await container.resolve(Int.self) == 0)
        #expect(try await container.resolve(Int.self, arguments: 7) == 7)
        #expect(await container.unregister(Int.self))
        #expect(await !container.isRegistered(Int.self, arguments: Int.self))
        #expect(await !container.isRegistered(Int.self))
    }

    @Test func `unregister leaves an ancestor's registration`() async throws {
        let parent = Container { Registration(Int.self) { _ in 1 } }
        let child = Container(parent: parent)
        #expect(await !child.unregister(Int.self))
        #expect(try await child.resolve(Int.self) == 1)
    }

    @Test func `a service that is registered again after unregister is created anew`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) } }
        _ = try await container.resolve(Thing.self)
        await container.unregister(Thing.self)
        try await container.register(Thing.self, lifetime: .singleton) { _ in Thing(2) }
        #expect(try await container.resolve(Thing.self).number == 2)
    }
}
