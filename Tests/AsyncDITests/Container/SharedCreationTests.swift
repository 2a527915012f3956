import Testing

@testable import AsyncDI

/// One creation at a time for each key.
@Suite(.timeLimit(.minutes(10))) struct SharedCreationTests {
    static let shared: [Lifetime] = [.singleton, .multiton, .weak, .scoped, Lifetime("custom")]

    @Test(arguments: shared)
    func `ten thousand tasks get one instance of one run`(lifetime: Lifetime) async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in try await factory.run() }
        }
        let askers = (0..<10_000).map { _ in Task { try await container.resolve(Thing.self) } }
        await container.core.waiters(of: Thing.self, reach: 10_000)
        let thing = Thing(1)
        factory.answer(thing)
        for asker in askers { #expect(try await asker.value === thing) }
        #expect(factory.count == 1)
    }

    @Test func `other services resolve while a factory runs`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() }
            Registration(Int.self, lifetime: .singleton) { _ in 7 }
            Registration(String.self) { _ in "quick" }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await factory.began()
        #expect(try await container.resolve(Int.self) == 7)
        #expect(try await container.resolve(String.self) == "quick")
        try await container.register(Double.self, instance: 0.5)
        #expect(try await container.resolve(Double.self) == 0.5)
        factory.answer(Thing())
        _ = try await asker.value
    }

    @Test func `instances for different arguments are created side by side`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { (_, _: Int) in try await factory.run() }
        }
        let one = Task { try await container.resolve(Thing.self, arguments: 1) }
        let two = Task { try await container.resolve(Thing.self, arguments: 2) }
        await factory.began(2)
        factory.answer(Thing(10), run: 0)
        factory.answer(Thing(20), run: 1)
        let (first, second) = (try await one.value, try await two.value)
        #expect(first !== second)
        #expect(try await container.resolve(Thing.self, arguments: 1) === first)
    }

    @Test func `an error reaches every waiter, unchanged, and is not cached`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let askers = (0..<5).map { _ in Task { try await container.resolve(Thing.self) } }
        await container.core.waiters(of: Thing.self, reach: 5)
        factory.fail(TestError(3))
        for asker in askers {
            await #expect(throws: TestError(3)) { try await asker.value }
        }
        let retry = Task { try await container.resolve(Thing.self) }
        await factory.began(2)
        factory.answer(Thing(1), run: 1)
        #expect(try await retry.value.number == 1)
    }

    @Test func `a waiter that retries in its catch meets a new creation`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                if runs.increment() == 1 { throw TestError() }
                return Thing(2)
            }
        }
        do {
            _ = try await container.resolve(Thing.self)
            Issue.record("the first creation fails")
        } catch {
            #expect(try await container.resolve(Thing.self).number == 2)
        }
    }

    @Test func `a dependency that a failed factory had resolved stays cached`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in runs.increment() }
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Int.self)
                throw TestError()
            }
        }
        for _ in 0..<2 {
            await #expect(throws: TestError.self) { try await container.resolve(Thing.self) }
        }
        #expect(runs.value == 1)
    }

    // MARK: Changes in flight

    @Test func `after a reset in flight the next asker gets a new creation, the waiters the old one`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let before = Task { try await container.resolve(Thing.self) }
        await factory.began()
        try await container.reset(Thing.self)
        let after = Task { try await container.resolve(Thing.self) }
        await factory.began(2)
        factory.answer(Thing(1), run: 0)
        #expect(try await before.value.number == 1)
        factory.answer(Thing(2), run: 1)
        #expect(try await after.value.number == 2)
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `after unregister in flight, only the waiters get the instance`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let before = Task { try await container.resolve(Thing.self) }
        await factory.began()
        #expect(await container.unregister(Thing.self))
        await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
        factory.answer(Thing(1))
        #expect(try await before.value.number == 1)
    }
}
