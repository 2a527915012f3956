import Testing

@testable import AsyncDI

/// Leases of contributions that a factory takes: they last as long as what it makes.
@Suite(.timeLimit(.minutes(10))) struct ContributionLeaseFactoryTests {
    private typealias Handler = ContributedHandler

    private let handler = HandlerContributor()
    private var closed: Log<String> { handler.closed }

    @Test func `a factory's leases of many last as long as its instance`() async throws {
        let container = Container {
            handler("a", as: "a")
            handler("b", as: "b")
            handler("c")
            Registration(Thing.self, lifetime: .singleton) { r in
                let all = try await r.leaseMany(Handler.self)
                let byName = try await r.leaseMap(Handler.self, keyedBy: String.self)
                let one = try await r.lease(Handler.self, contributedAs: "a")
                #expect(all.map(\.name) == ["a", "b", "c"] && byName.keys.sorted() == ["a", "b"] && one === all[0])
                return Thing()
            }
            .onDispose { [closed] _ in closed.append("thing") }
        }
        _ = try await container.resolve(Thing.self)
        await container.unregisterMany(Handler.self)
        for _ in 0..<50 { await Task.yield() }
        #expect(closed.entries.isEmpty)
        try await container.reset(Thing.self)
        await until { closed.entries.count == 4 }
        #expect(closed.entries[0] == "thing")
        try await container.dispose()
    }

    @Test func `a factory that fails gives all of them back, and one without an owner is refused`() async throws {
        let container = Container {
            handler("a", as: "a")
            handler("b")
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.leaseMany(Handler.self)
                throw TestError()
            }
            Registration(Int.self, lifetime: .transient) { r in try await r.leaseMany(Handler.self).count }
            Registration(String.self, lifetime: .transient) { r in
                try await r.lease(Handler.self, contributedAs: "a").name
            }
        }
        await #expect(throws: TestError.self) { try await container.resolve(Thing.self) }
        await expect(.invalidOperation) { try await container.resolve(Int.self) }
        await expect(.invalidOperation) { try await container.resolve(String.self) }
        #expect(container.core.withState { $0.leases.isEmpty })
        try await container.dispose()
    }

    @Test func `leases that come after their factory has ended are given back`() async throws {
        let handlers = DrivenFactory<Handler>()
        let late = Locked<Task<Void, any Error>?>(nil)
        let container = Container {
            handler("ready")
            Registration(Handler.self, lifetime: .singleton) { _ in try await handlers.run() }.intoMany()
            Registration(Thing.self, lifetime: .singleton) { r in
                let task = Task { _ = try await r.leaseMany(Handler.self) }
                late.withLock { $0 = task }
                await handlers.began()
                return Thing()
            }
        }
        _ = try await container.resolve(Thing.self)
        handlers.answer(Handler("made"))
        let task = try #require(late.withLock { $0 })
        await expect(.invalidOperation) { try await task.value }
        // Would wait for the lease.
        try await container.dispose()
    }
}
