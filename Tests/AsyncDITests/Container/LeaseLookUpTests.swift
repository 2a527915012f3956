import Testing

@testable import AsyncDI

/// Leases of cached instances, which are found by the hash of their argument.
@Suite(.timeLimit(.minutes(10))) struct LeaseLookUpTests {
    private final class Pool: Sendable {
        let tenant: String
        init(_ tenant: String) { self.tenant = tenant }
    }

    /// An argument whose hash is that of all others, and whose comparison runs an action.
    private struct Key: Hashable {
        let name: String
        var onComparison: Action?

        final class Action: Sendable {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }

        static func == (first: Key, second: Key) -> Bool {
            first.onComparison?.run()
            second.onComparison?.run()
            return first.name == second.name
        }
        func hash(into hasher: inout Hasher) { hasher.combine(0) }
    }

    private static func pools(closed: Log<String> = Log()) -> Registration<Pool> {
        Registration(Pool.self, lifetime: .multiton) { (_, key: Key) in Pool(key.name) }
            .onDispose { closed.append($0.tenant) }
    }

    @Test func `arguments with the same hash lease instances of their own`() async throws {
        let container = Container { Self.pools() }
        for name in ["a", "b", "a", "b"] {
            let leased = try await container.withInstance(Pool.self, arguments: Key(name: name)) { pool in
                #expect(
                    container.core.withState { $0.leases.all.map { ($0.cell.value(as: Pool.self)).tenant } } == [name])
                return pool.tenant
            }
            #expect(leased == name)
        }
        #expect(container.core.withState { $0.leases.isEmpty })
    }

    @Test func `an instance that is unregistered after its look-up is not leased`() async throws {
        let closed = Log<String>()
        let container = Container { Self.pools(closed: closed) }
        _ = try await container.resolve(Pool.self, arguments: Key(name: "a"))
        let core = container.core
        let removal = Key.Action { _ = core.unregister(Pool.self, qualifier: nil, arguments: nil) }
        await expect(.notRegistered) {
            try await container.withInstance(Pool.self, arguments: Key(name: "a", onComparison: removal)) { _ in }
        }
        try await container.dispose()
        #expect(closed.entries == ["a"])
    }

    @Test func `an instance that is replaced after its look-up gives way to its successor`() async throws {
        let closed = Log<String>()
        let container = Container { Self.pools(closed: closed) }
        _ = try await container.resolve(Pool.self, arguments: Key(name: "a"))
        let core = container.core
        let isDone = Counter()
        let replacement = Key.Action {
            isDone.increment()
            if isDone.value > 1 { return }
            try? core.register(
                Registration(Pool.self, lifetime: .multiton) { (_, key: Key) in Pool("new \(key.name)") }.draft)
        }
        let leased = try await container.withInstance(Pool.self, arguments: Key(name: "a", onComparison: replacement)) {
            $0.tenant
        }
        #expect(leased == "new a")
        try await container.dispose()
        #expect(closed.entries == ["a"])
    }

    @Test func `an instance that is created again after the look-up of the former one is leased by a new look-up`()
        async throws
    {
        let container = Container { Self.pools() }
        func find() -> IndexedInstance? {
            container.findIndexed(Pool.self, Arguments<Key>.self, hash: hashOfArguments(Key(name: "a")))
        }
        _ = try await container.resolve(Pool.self, arguments: Key(name: "a"))
        let former = try #require(find())
        try await container.reset(Pool.self)
        #expect(former.beginBody() == nil)
        _ = try await container.resolve(Pool.self, arguments: Key(name: "a"))
        #expect(former.beginBody() == nil)
        let body = try #require(find()?.beginBody())
        body.end()
        #expect(container.core.withState { $0.leases.isEmpty })
        try await container.dispose()
        #expect(find() == nil && former.beginBody() == nil)
    }

    @Test func `a container that is released between look-up and lease has its instance until the body ends`()
        async throws
    {
        final class Owner: Sendable {
            let container = Locked<Container?>(Container { LeaseLookUpTests.pools() })
        }
        let owner = Owner()
        _ = try await owner.container.withLock { $0 }?.resolve(Pool.self, arguments: Key(name: "a"))
        let release = Key.Action {
            let last = owner.container.withLock { $0.take() }
            withExtendedLifetime(last) {}
        }
        let key = Key(name: "a", onComparison: release)
        let leased = try await owner.container.withLock { $0 }?.withInstance(Pool.self, arguments: key) { $0.tenant }
        #expect(leased == "a")
        #expect(owner.container.withLock { $0 } == nil)
    }

    @Test func `the application's container leases the current scope's instance`() async throws {
        let container = Container { Self.pools() }
        try await container.withInstance(Pool.self, arguments: Key(name: "a")) { _ in }
        try await container.withScope {
            Registration(Pool.self, lifetime: .multiton) { (_, key: Key) in Pool("scope's \(key.name)") }
        } operation: { _ in
            for _ in 0..<2 {
                let leased = try await container.withInstance(Pool.self, arguments: Key(name: "a")) { $0.tenant }
                #expect(leased == "scope's a")
            }
        }
    }

    @Test func `a factory that leases for its run is in the graph of waits`() async throws {
        let container = Container {
            Self.pools()
            Registration(Int.self, lifetime: .singleton) { r in
                let container = try #require(r.container)
                return try await container.withInstance(Pool.self, arguments: Key(name: "a")) { _ in
                    try await container.resolve(Int.self)
                }
            }
        }
        try await container.withInstance(Pool.self, arguments: Key(name: "a")) { _ in }
        await expect(.circularDependency) { try await container.resolve(Int.self) }
    }
}
