import AsyncDI
import Testing

/// One at a time: the default container is the process's.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct InjectionDefaultTests {
    @Test func `free functions ask the current container, or else the default`() async throws {
        defer { Injection.default = nil }
        await expect(.noCurrentContainer) { try await resolve(Int.self) }
        await expect(.noCurrentContainer) { try await optional(Int.self) }
        await expect(.noCurrentContainer) { try await resolveMany(Int.self) }
        await expect(.noCurrentContainer) { try await Lazy(Int.self)() }
        Injection.default = Container {
            Registration(Int.self, instance: 1)
            Registration(Int.self, instance: 10).intoMany()
            Registration(String.self) { (_, number: Int) in "\(number)" }
        }
        #expect(try await resolve(Int.self) == 1)
        let inferred: Int = try await resolve()
        #expect(inferred == 1)
        #expect(try await optional(Double.self) == nil)
        #expect(try await resolveMany(Int.self) == [10])
        #expect(try await resolve(String.self, arguments: 5) == "5")
        #expect(try await optional(String.self, arguments: 5) == "5")
        #expect(try await optional(Double.self, arguments: 5) == nil)
        let mock = Container { Registration(Int.self, instance: 2) }
        #expect(try await Injection.with(mock) { try await resolve(Int.self) } == 2)
        #expect(try await resolve(Int.self) == 1)
    }

    @Test func `the default container is created once, on first use, for all callers`() async throws {
        defer { Injection.default = nil }
        let made = Counter()
        Injection.setDefault {
            #expect(Injection.default == nil, "asking inside gives nil, not a hang")
            let number = made.increment()
            return Container { Registration(Int.self, instance: number) }
        }
        #expect(made.value == 0)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await resolve(Int.self) } }
            for try await number in group { #expect(number == 1) }
        }
        #expect(made.value == 1)
        Injection.default = Container { Registration(Int.self, instance: 5) }
        #expect(try await resolve(Int.self) == 5)
    }

    @Test func `the closure of the default container sees nothing of its first user`() async throws {
        defer { Injection.default = nil }
        let app = Container {
            Registration(Int.self, instance: 7)
            Registration(String.self) { _ in "\(Injection.default == nil)" }
        }
        let calls = Counter()
        let maker = { @Sendable in
            calls.increment()
            #expect(Container.current == nil && Injection.container == nil)
            return Container { Registration(Int.self, instance: 1) }
        }
        Injection.setDefault(maker)
        try await app.withScope { _ in _ = Injection.default }
        Injection.setDefault(maker)
        _ = try await app.resolve(String.self)
        #expect(calls.value == 2)
    }

    @Test func `a closure that is replaced while it runs gives way to the later one`() async throws {
        defer { Injection.default = nil }
        Injection.setDefault {
            Injection.setDefault { Container { Registration(Int.self, instance: 2) } }
            return Container { Registration(Int.self, instance: 1) }
        }
        #expect(try await resolve(Int.self) == 2)
        let given = Container { Registration(Int.self, instance: 3) }
        Injection.setDefault {
            Injection.default = given
            return Container { Registration(Int.self, instance: 1) }
        }
        #expect(Injection.default === given)
    }

    /// Its deinitializer reads the default container.
    private final class Reader: Sendable {
        let ends: Counter
        init(_ ends: Counter) { self.ends = ends }
        deinit {
            _ = Injection.default
            ends.increment()
        }
    }

    @Test func `a container that is replaced while it is made is released outside the lock`() {
        defer { Injection.default = nil }
        let ends = Counter()
        Injection.setDefault {
            Injection.setDefault { Container() }
            return Container { Registration(instance: Reader(ends)) }
        }
        #expect(Injection.default != nil)
        #expect(ends.value == 1)
    }

    @Test func `a wrapper that was made before the default container finds it later`() async throws {
        defer { Injection.default = nil }
        let injected = Injected<Int>()
        await expect(.noCurrentContainer) { try injected() }
        Injection.default = Container { Registration(Int.self, instance: 3) }
        #expect(try injected() == 3)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct InjectionTests {
    @Test func `the innermost container wins: scopes and with alike`() async throws {
        let outer = Container { Registration(Int.self, instance: 1) }
        let inner = Container { Registration(Int.self, instance: 2) }
        try await Injection.with(outer) { () async throws in
            let outermost = try await resolve(Int.self)
            #expect(outermost == 1)
            let innermost = try await Injection.with(inner) { try await resolve(Int.self) }
            #expect(innermost == 2)
            try await outer.withScope {
                Registration(Int.self, instance: 3)
            } operation: { _ in
                async let child = resolve(Int.self)
                let numbers = [try await resolve(Int.self), try await child]
                #expect(numbers == [3, 3])
            }
            #expect(try await resolve(Int.self) == 1)
        }
    }

    @Test func `a task that outlives scopes in scopes asks the nearest open container around them`() async throws {
        let application = Container { Registration(Int.self, instance: 1) }
        let session = try await application.openScope("session")
        let mayAsk = Gate()
        let late = try await session.withScope("request") { _ in
            Task {
                await mayAsk.pass()
                let number = try await resolve(Int.self)
                return (Injection.container === application, number)
            }
        }
        try await session.dispose()
        mayAsk.open()
        let (isApplication, number) = try await late.value
        #expect(isApplication)
        #expect(number == 1)
        withExtendedLifetime(session) {}
    }

    private func fail(_ number: Int) throws(TestError) { throw TestError(number) }
    private func failLater(_ number: Int) async throws(TestError) { throw TestError(number) }

    @Test func `with keeps typed errors, async and synchronous`() async {
        let container = Container()
        do {
            try await Injection.with(container) { () async throws(TestError) in try await failLater(1) }
            Issue.record("it threw")
        } catch {
            #expect(error == TestError(1))
        }
        do {
            try Injection.with(container) { () throws(TestError) in try fail(2) }
            Issue.record("it threw")
        } catch {
            #expect(error == TestError(2))
        }
        #expect(Injection.with(container) { Container.current } === container)
    }

    @Test @MainActor func `with stays on the caller's actor`() async throws {
        let text = NonSendable()
        let result = await Injection.with(Container()) { () async in
            MainActor.assertIsolated()
            text.value += 1
            return text.value
        }
        #expect(result == 1)
    }

    private final class NonSendable {
        var value = 0
    }

    // MARK: Wrappers

    private protocol API: AnyObject, Sendable {}
    private final class Real: API {}

    @Test func `eager start-up makes an injected service ready`() async throws {
        struct Holder {
            @Inject(qualifier: "q") var number: Int
        }
        let container = Container {
            Registration(Int.self, qualifier: "q", lifetime: .singleton) { _ in 5 }.eager()
        }
        try await container.start()
        #expect(Injection.with(container) { Holder() }.number == 5)
    }

    @Test func `a weak wrapper does not keep its object alive`() async throws {
        struct Holder {
            @WeakInject var api: (any API)?
        }
        let container = Container { Registration((any API).self, lifetime: .weak) { _ in Real() } }
        let holder = Injection.with(container) { Holder() }
        #expect(holder.api == nil)
        do {
            let api = try await container.resolve((any API).self)
            #expect(holder.api === api)
        }
        #expect(holder.api == nil)
        let again = try await container.resolve((any API).self)
        #expect(holder.api === again)
    }

    #if os(macOS) || os(Linux)
        @Test func `reading a service that is not ready ends the process with advice to make it eager`() async throws {
            struct Holder {
                @Inject var number: Int
            }
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let container = Container { Registration(Int.self, lifetime: .singleton) { _ in 5 } }
                _ = Injection.with(container) { Holder() }.number
            }
            let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(message.contains("notReady") && message.contains(".eager()"))
        }
    #endif

    @Test func `a wrapper of a singleton asks its container, whichever container is current, and does not keep it`()
        async throws
    {
        final class Client: Sendable {
            let number = Injected<Int>()
            let lazy = Lazy(Int.self)
        }
        weak var client: Client?
        do {
            let container = Container {
                Registration(Int.self, instance: 1)
                Registration(Client.self, lifetime: .singleton) { _ in Client() }
                Registration(String.self, lifetime: .singleton) { _ in "\(try await resolve(Int.self))" }
            }
            let made = try await Injection.with(container) { try await resolve(Client.self) }
            #expect(try made.number() == 1)
            #expect(try await made.lazy() == 1)
            #expect(try await Injection.with(Container()) { try await container.resolve(String.self) } == "1")
            client = made
        }
        #expect(client == nil)
    }

    @Test func `a lazy that a singleton makes for itself cannot get at a request's instance`() async throws {
        final class Holder: Sendable {
            let thing = Lazy(Thing.self)
        }
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(Holder.self, lifetime: .singleton) { _ in Holder() }
        }
        try await container.withScope { _ in
            let holder = try await container.resolve(Holder.self)
            await expect(.captiveDependency) { try await holder.thing() }
        }
    }
}
