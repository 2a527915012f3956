import Testing

@testable import AsyncDI

/// The hooks that run between a factory and the caller.
@Suite(.timeLimit(.minutes(10))) struct HookTests {
    static let lifetimes: [Lifetime] = [.transient, .graph, .singleton, .multiton, .scoped, .weak, Lifetime("custom")]

    @Test(arguments: lifetimes)
    func `properties are injected first, then onCreate hooks run, each in the order given`(lifetime: Lifetime)
        async throws
    {
        let log = Log<String>()
        let container = Container {
            Registration(instance: "value")
            Registration(Thing.self, lifetime: lifetime) { _ in
                log.append("factory")
                return Thing(1)
            }
            .onCreate { _, thing in log.append("create 1 \(thing.number)") }
            .injectProperties { r, thing in log.append("inject 1 \(try await r.resolve(String.self))") }
            .onCreate { r, _ in log.append("create 2 \(try await r.resolve(String.self))") }
            .injectProperties { _, thing in log.append("inject 2 \(thing.number)") }
        }
        _ = try await container.resolve(Thing.self)
        #expect(log.entries == ["factory", "inject 1 value", "inject 2 1", "create 1 1", "create 2 value"])
    }

    @Test func `hooks run once for each instance, and not for a hit`() async throws {
        let created = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { (_, number: Int) in Thing(number) }
                .onCreate { _, thing in created.append(thing.number) }
        }
        for number in [1, 2, 1, 2] { _ = try await container.resolve(Thing.self, arguments: number) }
        #expect(created.entries == [1, 2])
    }

    @Test func `no caller gets an instance before its hooks have run`() async throws {
        let gate = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onCreate { _, _ in await gate.pass() }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await gate.arrived()
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        gate.open()
        #expect(try await container.resolve(Thing.self) === asker.value)
    }

    @Test(arguments: lifetimes, [true, false])
    func `a hook that throws fails the creation`(lifetime: Lifetime, isPropertyHook: Bool) async throws {
        let runs = Counter()
        let hooks = Counter()
        @Sendable func hook() throws {
            if hooks.increment() == 1 { throw TestError(1) }
        }
        let plain = Registration(Thing.self, lifetime: lifetime) { _ in Thing(runs.increment()) }
        let container = Container {
            isPropertyHook ? plain.injectProperties { _, _ in try hook() } : plain.onCreate { _, _ in try hook() }
        }
        await #expect(throws: TestError(1)) { try await container.resolve(Thing.self) }
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `an instance that was created before a hook threw is disposed`() async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
                .onCreate { _, _ in throw TestError() }
                .onDispose { disposed.append($0.number) }
        }
        await #expect(throws: TestError.self) { try await container.resolve(Thing.self) }
        try await container.dispose()
        #expect(disposed.entries == [1])
    }

    @Test func `hooks receive the arguments of the request`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int, _: String) in Thing(number) }
                .onCreate { (_: Resolver, thing: Thing, number: Int, name: String) in
                    log.append("create \(thing.number) \(number) \(name)")
                }
                .injectProperties { (_: Resolver, thing: Thing, number: Int, name: String) in
                    log.append("inject \(thing.number) \(number) \(name)")
                }
        }
        for name in ["a", "b", "a"] { _ = try await container.resolve(Thing.self, arguments: 7, name) }
        #expect(log.entries == ["inject 7 7 a", "create 7 7 a", "inject 7 7 b", "create 7 7 b"])
    }

    @Test func `hooks with other arguments than the factory's are refused`() async {
        let withNumber = Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
        let without = Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
        for registration in [
            withNumber.onCreate { (_: Resolver, _: Thing, _: String) in },
            withNumber.injectProperties { (_: Resolver, _: Thing, _: String) in },
            without.onCreate { (_: Resolver, _: Thing, _: String) in },
        ] {
            let error = await expect(.invalidRegistration) { try await Container().register(registration) }
            #expect(error?.message.contains("has a hook that takes the arguments (String)") == true)
        }
    }

    @Test func `creation hooks of a given instance are refused`() async {
        let given = Registration(instance: Thing())
        for registration in [given.onCreate { _, _ in }, given.injectProperties { _, _ in }] {
            let error = await expect(.invalidRegistration) { try await Container().register(registration) }
            #expect(error?.message.contains("has creation hooks") == true)
        }
    }

    @Test func `a cancelled request waits for the hook of an instance inside its own`() async throws {
        final class Database: Sendable { let isClosed = Locked(false) }
        final class Repository: Sendable {}
        final class Handler: Sendable {}
        let gate = Gate()
        let found = Log<Bool>()
        let container = Container {
            Registration(Database.self, lifetime: .scoped) { _ in Database() }
                .onDispose { database in database.isClosed.withLock { $0 = true } }
            Registration(Repository.self) { _ in Repository() }
                .injectProperties { r, _ in
                    let database = try await r.resolve(Database.self)
                    gate.arrive()
                    while !Task.isCancelled { await Task.yield() }
                    // Time enough for a scope to end.
                    for _ in 0..<1000 { await Task.yield() }
                    found.append(database.isClosed.withLock { $0 })
                }
            Registration(Handler.self) { r in
                _ = try await r.resolve(Repository.self)
                return Handler()
            }
        }
        let request = Task { try await container.withScope { scope in _ = try await scope.resolve(Handler.self) } }
        await gate.arrived()
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(found.entries == [false])
        try await container.dispose()
    }
}
