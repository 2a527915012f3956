import Testing

@testable import AsyncDI

/// Leases of contributions: these are held like any other instance.
@Suite(.timeLimit(.minutes(10))) struct ContributionLeaseTests {
    private typealias Handler = ContributedHandler

    private let handler = HandlerContributor()
    private var closed: Log<String> { handler.closed }

    // MARK: Bodies

    @Test(arguments: [false, true])
    func `all of many are held until the body ends`(areMadeBefore: Bool) async throws {
        let container = Container {
            handler("a", as: "a")
            handler("b")
            handler("c", as: "c")
        }
        if areMadeBefore { _ = try await container.resolveMany(Handler.self) }
        let names = try await container.withInstances(Handler.self) { handlers in
            await container.unregisterMany(Handler.self)
            for _ in 0..<50 { await Task.yield() }
            #expect(closed.entries.isEmpty && !handlers.contains { $0.isClosed })
            return handlers.map(\.name)
        }
        #expect(names == ["a", "b", "c"])
        await until { closed.entries.count == 3 }
        try await container.dispose()
        #expect(closed.entries.sorted() == ["a", "b", "c"])
    }

    @Test func `a map is held until the body ends, and has the contributions with such keys only`() async throws {
        let container = Container {
            handler("a", as: "a")
            handler("b")
            Registration(Handler.self, lifetime: .singleton) { _ in Handler("c") }.intoMany(key: 1)
        }
        try await container.withInstanceMap(Handler.self, keyedBy: String.self) { handlers in
            #expect(handlers.mapValues(\.name) == ["a": "a"])
            try await container.register(handler("new", as: "a"))
            for _ in 0..<50 { await Task.yield() }
            #expect(handlers["a"]?.isClosed == false)
        }
        await until { closed.entries == ["a"] }
        #expect(try await container.resolveMap(Handler.self, keyedBy: String.self).mapValues(\.name) == ["a": "new"])
        #expect(container.core.withState { $0.instances.count } == 1, "nothing else was made")
        try await container.dispose()
    }

    @Test func `one of many is held alone, and nothing else is made for it`() async throws {
        let container = Container {
            handler("a", as: "a")
            handler("b", as: "b")
        }
        let name = try await container.withInstance(Handler.self, contributedAs: "b") { handler in
            await container.unregisterMany(Handler.self)
            for _ in 0..<50 { await Task.yield() }
            #expect(!handler.isClosed)
            return handler.name
        }
        #expect(name == "b")
        await until { closed.entries == ["b"] }
        await expect(.notRegistered) {
            try await container.withInstance(Handler.self, contributedAs: "b") { _ in }
        }
        try await container.dispose()
    }

    @Test func `the key's type and the qualifier count`() async throws {
        let container = Container {
            Registration(Handler.self, qualifier: "x", lifetime: .singleton) { _ in Handler("x1") }.intoMany(key: 1)
            Registration(Handler.self, lifetime: .singleton) { _ in Handler("1") }.intoMany(key: 1)
        }
        func name(_ key: some Hashable & Sendable, _ qualifier: String?) async throws -> String {
            try await container.withInstance(Handler.self, contributedAs: key, qualifier: qualifier) { $0.name }
        }
        #expect(try await name(1, "x") == "x1")
        #expect(try await name(1, nil) == "1")
        await expect(.notRegistered) { try await name(UInt8(1), nil) }
        #expect(try await container.withInstances(Handler.self, qualifier: "x") { $0.map(\.name) } == ["x1"])
        try await container.dispose()
    }

    @Test func `a scope's contribution is the one that is leased, and its parent's stays`() async throws {
        let root = Container {
            handler("a", as: "a")
            handler("b", as: "b")
        }
        try await root.withScope {
            handler("scope's a", as: "a")
        } operation: { _ in
            let all = try await root.withInstances(Handler.self) { $0.map(\.name) }
            let one = try await root.withInstance(Handler.self, contributedAs: "a") { $0.name }
            #expect(all == ["scope's a", "b"] && one == "scope's a")
        }
        #expect(closed.entries == ["scope's a"])
        #expect(try await root.withInstance(Handler.self, contributedAs: "a") { $0.name } == "a")
        try await root.dispose()
    }

    @Test func `a body that disposes a container that it leases from gets an error, whichever of them it is`()
        async throws
    {
        let parent = Container { handler("parent's") }
        let child = Container(parent: parent) { handler("child's") }
        for container in [parent, child] {
            await expect(.invalidOperation) {
                try await child.withInstances(Handler.self) { _ in try await container.dispose() }
            }
            await expect(.invalidOperation) {
                try await child.withInstanceMap(Handler.self, keyedBy: String.self) { _ in
                    try await child.withInstances(Handler.self) { _ in try await container.dispose() }
                }
            }
        }
        #expect(closed.entries.isEmpty)
        try await child.dispose()
        try await parent.dispose()
        #expect(closed.entries == ["child's", "parent's"])
    }

    @Test func `a lease of contributions is empty where none is contributed`() async throws {
        let container = Container()
        #expect(try await container.withInstances(Handler.self) { $0.count } == 0)
        #expect(try await container.withInstanceMap(Handler.self, keyedBy: String.self) { $0.count } == 0)
        try await container.dispose()
    }

    @Test func `transient and graph contributions belong to the body`() async throws {
        let container = Container {
            Registration(Handler.self, lifetime: .transient) { _ in Handler("transient") }.intoMany()
            Registration(Handler.self) { _ in Handler("graph") }.intoMany()
        }
        #expect(try await container.withInstances(Handler.self) { $0.map(\.name) } == ["transient", "graph"])
        #expect(container.core.withState { $0.leases.isEmpty })
        try await container.dispose()
    }

    // MARK: Every way out

    @Test func `the leases end when the body throws`() async throws {
        let container = Container {
            handler("a", as: "a")
            handler("b", as: "b")
        }
        await #expect(throws: TestError(1)) {
            try await container.withInstances(Handler.self) { _ in throw TestError(1) }
        }
        await #expect(throws: TestError(2)) {
            try await container.withInstanceMap(Handler.self, keyedBy: String.self) { _ in throw TestError(2) }
        }
        await #expect(throws: TestError(3)) {
            try await container.withInstance(Handler.self, contributedAs: "a") { _ in throw TestError(3) }
        }
        #expect(container.core.withState { $0.leases.isEmpty })
        try await container.dispose()
    }

    @Test(arguments: 0..<3)
    func `when one of several fails, none of the others stays leased`(failing: Int) async throws {
        let factories = (0..<3).map { _ in DrivenFactory<Handler>() }
        let container = Container {
            handler("ready")
            for factory in factories {
                Registration(Handler.self, lifetime: .singleton) { _ in try await factory.run() }.intoMany()
                    .whenAbandoned(.finish)
            }
        }
        let body = Task { try await container.withInstances(Handler.self) { _ in Issue.record("the body runs") } }
        for factory in factories { await factory.began() }
        // One comes before the failure, one after it.
        let others = (0..<3).filter { $0 != failing }
        factories[others[0]].answer(Handler("before"))
        factories[failing].fail(TestError(failing))
        await #expect(throws: TestError(failing)) { try await body.value }
        factories[others[1]].answer(Handler("after"))
        while container.core.withState({ !$0.flights.isEmpty }) { await Task.yield() }
        #expect(container.core.withState { $0.leases.isEmpty })
        try await container.dispose()
    }

    @Test func `whatever moment a body is cancelled at, no lease is lost`() async throws {
        for seed in 0..<60 {
            var random = SeededRandom(seed: UInt64(seed))
            let factories = (0..<3).map { _ in DrivenFactory<Handler>() }
            let container = Container {
                handler("ready", as: "ready")
                for (index, factory) in factories.enumerated() {
                    Registration(Handler.self, lifetime: .singleton) { _ in try await factory.run() }
                        .intoMany(key: "\(index)").whenAbandoned(.finish)
                }
            }
            _ = try await container.withInstance(Handler.self, contributedAs: "ready") { $0.name }
            let body = Task { try await container.withInstanceMap(Handler.self, keyedBy: String.self) { $0.count } }
            for factory in factories { await factory.began() }
            let answered = random.below(4)
            for factory in factories.prefix(answered) { factory.answer(Handler("made")) }
            if random.chance(0.5) { await Task.yield() }
            body.cancel()
            for factory in factories.dropFirst(answered) { factory.answer(Handler("late")) }
            _ = await body.result
            // Would wait for a lease.
            try await container.dispose()
            #expect(container.core.withState { $0.leases.isEmpty }, "seed \(seed)")
        }
    }
}
