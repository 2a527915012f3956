import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LazyTests {
    @Test func `a lazy service is made at its first call, once`() async throws {
        let made = Counter()
        let container = Container { Registration(Thing.self, lifetime: .transient) { _ in Thing(made.increment()) } }
        let lazy = try await container.resolve(Lazy<Thing>.self)
        #expect(made.value == 0 && lazy.isEmpty)
        let first = try await lazy()
        #expect(try await lazy() === first)
        #expect(made.value == 1 && !lazy.isEmpty)
        lazy.release()
        #expect(lazy.isEmpty)
        #expect(try await lazy() !== first)
    }

    @Test func `a thousand tasks that call at once get one instance`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .transient) { _ in try await factory.run() } }
        let lazy = try await container.resolve(Lazy<Thing>.self)
        try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<1000 { group.addTask { ObjectIdentifier(try await lazy()) } }
            await factory.began()
            factory.answer(Thing())
            var seen: Set<ObjectIdentifier> = []
            for try await id in group { seen.insert(id) }
            #expect(seen.count == 1)
        }
        #expect(factory.count == 1)
    }

    @Test func `an error is not kept, and a cancelled caller leaves the others`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .transient) { _ in try await factory.run() } }
        let lazy = try await container.resolve(Lazy<Thing>.self)
        let failing = Task { try await lazy() }
        await factory.began()
        factory.fail(TestError(1))
        await #expect(throws: TestError(1)) { try await failing.value }
        let first = Task { try await lazy() }
        await factory.began(2)
        let second = Task { try await lazy() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        factory.answer(Thing(5), run: 1)
        #expect(try await first.value.number == 5)
        #expect(try await lazy().number == 5)
    }

    @Test func `names and arguments are part of the question`() async throws {
        let container = Container {
            Registration(Thing.self, qualifier: "one") { _ in Thing(1) }
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
        }
        #expect(try await container.resolve(Lazy<Thing>.self, qualifier: "one")().number == 1)
        let seven = try await container.resolve(Lazy<Thing>.self, arguments: 7)
        #expect(try await seven().number == 7)
        #expect(try await container.resolve(Thing.self, arguments: 7) === seven())
    }

    @Test func `a lazy dependency restores the graph it came from`() async throws {
        final class Owner: Sendable {
            let part: Thing
            let later: Lazy<Thing>
            init(_ part: Thing, _ later: Lazy<Thing>) {
                self.part = part
                self.later = later
            }
        }
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(using: Owner.init)
        }
        let owner = try await container.resolve(Owner.self)
        #expect(try await owner.later() === owner.part)
        let other = try await container.resolve(Owner.self)
        #expect(try await other.later() !== owner.part)
    }

    @Test func `a lazy dependency lets two services have each other`() async throws {
        final class Hen: Sendable {
            let egg: Lazy<Egg>
            init(egg: Lazy<Egg>) { self.egg = egg }
        }
        final class Egg: Sendable {
            weak let hen: Hen?
            init(hen: Hen) { self.hen = hen }
        }
        let container = Container {
            Registration(using: Hen.init, lifetime: .singleton)
            Registration(using: Egg.init, lifetime: .singleton)
        }
        let hen = try await container.resolve(Hen.self)
        #expect(try await hen.egg().hen === hen)
    }

    @Test func `a lazy that is called while its owner is made is a cycle like any other`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { r in
                let lazy = try await r.resolve(Lazy<Thing>.self)
                return try await lazy()
            }
        }
        await expect(.circularDependency) { try await container.resolve(Thing.self) }
    }

    @Test func `two lazies that call each other are refused, also from two tasks`() async throws {
        let gate = Gate()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { r in
                gate.arrive()
                await gate.arrived(2)
                return Int(try await r.resolve(Lazy<Double>.self)())
            }
            Registration(Double.self, lifetime: .singleton) { r in
                gate.arrive()
                await gate.arrived(2)
                return Double(try await r.resolve(Lazy<Int>.self)())
            }
        }
        let int = Task { _ = try await container.resolve(Int.self) }
        let double = Task { _ = try await container.resolve(Double.self) }
        await expect(.circularDependency) { try await int.value }
        await expect(.circularDependency) { try await double.value }
    }

    @Test func `a singleton cannot get at a scoped instance through a lazy`() async throws {
        final class Holder: Sendable {
            let lazy: Lazy<Thing>
            init(_ lazy: Lazy<Thing>) { self.lazy = lazy }
        }
        let root = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(using: Holder.init, lifetime: .singleton)
        }
        let holder = try await root.resolve(Holder.self)
        await expect(.captiveDependency) { try await holder.lazy() }
        // Nor when it is called in a request, which is not the singleton's.
        await expect(.captiveDependency) {
            try await root.withScope { _ in try await holder.lazy() }
        }
    }

    @Test func `a lazy of an unregistered service fails at once, and an optional one is nil`() async throws {
        let container = Container()
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Lazy<Thing>.self) }
        #expect(error?.code == .notRegistered && error?.description.contains("Thing is not registered") == true)
        #expect(try await container.optional(Lazy<Thing>.self) == nil)
        let nested: Lazy<Thing>? = try await container.resolve()
        #expect(nested == nil)
        // An optional inside can always be had.
        #expect(try await container.resolve(Lazy<Thing?>.self)() == nil)
    }

    @Test func `wrappers nest`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing(3) } }
        #expect(try await container.resolve(Lazy<Lazy<Thing>>.self)()().number == 3)
        #expect(try await container.resolve(Provider<Lazy<Thing?>>.self)()()?.number == 3)
        #expect(try await container.resolve(Lazy<Provider<Thing>>.self)()().number == 3)
        #expect(try container.ready(Lazy<Thing>.self).isEmpty)
    }

    @Test func `an existing wrapper of a missing service is a miss of the service`() async throws {
        let error = await expect(.notRegistered) { try Container().ready(Lazy<Thing>.self) }
        #expect(error?.description.hasPrefix("notRegistered: Thing is not registered") == true)
    }

    @Test func `a lazy that outlives its container says so`() async throws {
        let container = Container { Registration(Thing.self) { _ in Thing() } }
        let lazy = try await container.resolve(Lazy<Thing>.self)
        try await container.dispose()
        await expect(.disposed) { try await lazy() }
    }

    @Test func `a lazy of one's own may be given its arguments, qualifier and container later`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
            Registration(Thing.self, qualifier: "q") { _ in Thing(9) }
        }
        let lazy = Lazy(Thing.self)
        lazy.use(container)
        await expect(.argumentMismatch) { try await lazy() }
        lazy.use(arguments: 4)
        #expect(try await lazy().number == 4)
        #expect(try await Lazy(Thing.self, qualifier: "q", from: container)().number == 9)
        #expect(try await Lazy(Thing.self, from: container, arguments: 6)().number == 6)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct ProviderTests {
    @Test func `a provider resolves at each call, with arguments`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { _ in Thing() }
            Registration(String.self) { (_, number: Int, text: String) in "\(number)\(text)" }
        }
        let provider = try await container.resolve(Provider<Thing>.self)
        #expect(try await provider() !== provider())
        #expect(try await container.resolve(Provider<String>.self)(1, "x") == "1x")
        await expect(.argumentMismatch) {
            try await container.resolve(Provider<String>.self)()
        }
        await expect(.notRegistered) { try await container.resolve(Provider<Double>.self) }
    }

    @Test func `a provider requests its service with the qualifier`() async throws {
        let container = Container { Registration(Int.self, qualifier: "q") { _ in 4 } }
        #expect(try await container.resolve(Provider<Int>.self, qualifier: "q")() == 4)
        await expect(.notRegistered) { try await container.resolve(Provider<Int>.self) }
    }

    @Test func `a singleton reaches the current request's instance through a provider, without holding it`()
        async throws
    {
        struct Handler: Sendable {
            let user: Provider<Thing>
        }
        let root = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(using: Handler.init, lifetime: .singleton)
        }
        let handler = try await root.resolve(Handler.self)
        try await root.withScope { scope in
            let (user, own) = (try await handler.user(), try await scope.resolve(Thing.self))
            #expect(user === own)
        }
        // If it were called during the singleton's creation, it would be held.
        try await root.register(Handler.self, lifetime: .singleton) { r in
            let user = try await r.resolve(Provider<Thing>.self)
            _ = try await user()
            return Handler(user: user)
        }
        await expect(.captiveDependency) { try await root.resolve(Handler.self) }
    }

    @Test func `a provider that is called in its owner's factory shares the graph, and closes cycles`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration([Thing].self) { r in
                let provider = try await r.resolve(Provider<Thing>.self)
                return [try await provider(), try await r.resolve(Thing.self)]
            }
            Registration(Int.self) { r in try await r.resolve(Provider<Int>.self)() }
        }
        let things = try await container.resolve([Thing].self)
        #expect(things[0] === things[1])
        await expect(.circularDependency) { try await container.resolve(Int.self) }
    }

    @Test func `a singleton's lazy called by a scoped factory cannot get at a scoped instance either`() async throws {
        final class Holder: Sendable {
            let lazy: Lazy<String>
            init(lazy: Lazy<String>) { self.lazy = lazy }
        }
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(String.self, lifetime: .transient) { r in "\(try await r.resolve(Thing.self).number)" }
            Registration(using: Holder.init, lifetime: .singleton)
            Registration(Int.self, lifetime: .scoped) { r in
                _ = try await r.resolve(Holder.self).lazy()
                return 1
            }
        }
        let holder = try await container.resolve(Holder.self)
        _ = try await container.withScope { scope in
            await expect(.captiveDependency) { try await scope.resolve(Int.self) }
        }
        await expect(.captiveDependency) { try await container.resolve(Int.self) }
        #expect(holder.lazy.isEmpty)
    }
}
