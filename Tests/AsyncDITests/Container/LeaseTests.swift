import Testing

@testable import AsyncDI

/// Leases, and how they begin; ``LeaseEndTests`` has how they end.
@Suite(.timeLimit(.minutes(10))) struct LeaseTests {
    private final class Pool: Sendable {
        let tenant: String
        init(_ tenant: String) { self.tenant = tenant }
    }

    private func makeContainer(
        _ lifetime: Lifetime, closed: Log<String>, clock: any Clock<Duration> = ContinuousClock()
    ) -> Container {
        Container(clock: clock) {
            Registration(Pool.self, lifetime: lifetime) { _, tenant in Pool(tenant) }
                .onDispose { closed.append($0.tenant) }
        }
    }

    @Test func `a lease holds disposal off until the last one ends, even when the instance is reset`() async throws {
        let closed = Log<String>()
        let container = makeContainer(.multiton(capacity: 1), closed: closed)
        let leave = Gate()
        let bodies = (0..<2).map { _ in
            Task {
                try await container.withInstance(Pool.self, arguments: "a") { pool in
                    await leave.pass()
                    #expect(!closed.entries.contains("a"))
                    return pool.tenant
                }
            }
        }
        await leave.arrived(2)
        _ = try await container.resolve(Pool.self, arguments: "b")
        #expect(await container.cachedArguments(of: Pool.self, String.self).sorted() == ["a", "b"])
        try await container.reset(Pool.self)
        #expect(closed.entries == ["b"])
        leave.open()
        for body in bodies { #expect(try await body.value == "a") }
        await until { closed.entries == ["b", "a"] }
        try await container.dispose()
        #expect(closed.entries == ["b", "a"])
    }

    @Test func `dispose waits for leases, and names them at a deadline`() async throws {
        let closed = Log<String>()
        let clock = ManualClock()
        let container = makeContainer(.multiton, closed: closed, clock: clock)
        let leave = Gate()
        let body = Task { try await container.withInstance(Pool.self, arguments: "a") { _ in await leave.pass() } }
        await leave.arrived()
        let disposal = Task { try await container.dispose(deadline: .seconds(1)) }
        await clock.sleepers(reach: 1)
        await until {
            container.core.disposal.subject?.facts(in: container.core).text.contains("lease of Pool") == true
        }
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: DisposalError.self) { try await disposal.value }
        #expect("\(error!)".contains("Pool"))
        #expect(closed.entries.isEmpty)
        leave.open()
        try await body.value
        try await container.dispose()
        #expect(closed.entries == ["a"])
    }

    @Test func `a lease after the end of the creation is refused, with the reason`() async throws {
        let (gate, late) = (Gate(), Locked<Task<Void, any Error>?>(nil))
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }
            Registration(Thing.self, lifetime: .scoped) { r in
                late.withLock {
                    $0 = Task.detached {
                        await gate.pass()
                        _ = try await r.lease(Int.self)
                    }
                }
                return Thing()
            }
        }
        _ = try await container.resolve(Thing.self)
        gate.open()
        let error = await expect(.invalidOperation) { try await late.withLock { $0 }?.value }
        #expect(error?.description.contains("before it returns") == true)
        try await container.dispose()
    }

    @Test func `a body that disposes the container it leases from gets an error`() async throws {
        let container = makeContainer(.multiton, closed: Log())
        await expect(.invalidOperation) {
            try await container.withInstance(Pool.self, arguments: "a") { _ in try await container.dispose() }
        }
        try await container.dispose()
    }

    @Test func `the lease of a factory lasts as long as the instance being made`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 1)) { _, tenant in Pool(tenant) }
                .onDispose { log.append("close \($0.tenant)") }
            Registration(Thing.self, lifetime: .scoped) { r in
                Thing(try await r.lease(Pool.self, arguments: "a").tenant.count)
            }
            .onDispose { _ in log.append("commit") }
        }
        try await container.withScope { _ in
            _ = try await container.resolve(Thing.self)
            try await container.reset(Pool.self, arguments: "a")
            for _ in 0..<50 { await Task.yield() }
            #expect(log.entries.isEmpty)
        }
        await until { log.entries == ["commit", "close a"] }
        try await container.dispose()
        #expect(log.entries == ["commit", "close a"])
    }

    @Test func `a factory that fails gives its lease back`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }.onDispose { _ in }
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                throw TestError()
            }
        }
        await #expect(throws: TestError.self) { try await container.resolve(Thing.self) }
        try await container.dispose()
    }

    @Test func `a lease whose end no caller owns is refused`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
            Registration(Thing.self, lifetime: .transient) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                return Thing()
            }
        }
        await expect(.invalidOperation) { try await container.resolve(Thing.self) }
    }

    @Test func `a leased instance does not idle`() async throws {
        let clock = ManualClock()
        let closed = Log<String>()
        let container = makeContainer(.multiton(idle: .seconds(10)), closed: closed, clock: clock)
        let leave = Gate()
        let body = Task { try await container.withInstance(Pool.self, arguments: "a") { _ in await leave.pass() } }
        await leave.arrived()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(15))
        await clock.sleepers(reach: 1)
        #expect(await container.cachedArguments(of: Pool.self, String.self) == ["a"])
        leave.open()
        try await body.value
        // The end of the lease counts as use.
        clock.advance(by: .seconds(9))
        #expect(closed.entries.isEmpty)
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(10))
        await until { closed.entries == ["a"] }
    }

    // MARK: Leased in the step that delivers

    @Test(arguments: [Lifetime.multiton(idle: .zero), .multiton(capacity: 1, idle: .zero)])
    func `no call makes more than one instance, however soon it is evicted`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let closed = Counter()
        let container = Container {
            Registration(Pool.self, lifetime: lifetime) { (_, tenant: String) in
                runs.increment()
                return Pool(tenant)
            }
            .onDispose { _ in closed.increment() }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tenant in ["a", "b", "a", "b"] {
                group.addTask {
                    for _ in 0..<50 { try await container.withInstance(Pool.self, arguments: tenant) { _ in } }
                }
            }
            try await group.waitForAll()
        }
        #expect(runs.value <= 200)
        try await container.dispose()
        #expect(closed.value == runs.value)
    }

    @Test func `a waiter of a creation has its lease before it runs again`() async throws {
        let closed = Log<String>()
        let factory = DrivenFactory<Pool>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 1)) { (_, tenant: String) in
                tenant == "a" ? try await factory.run() : Pool(tenant)
            }
            .onDispose { closed.append($0.tenant) }
        }
        let held = HeldActor()
        let body = Task {
            try await held.run {
                try await container.withInstance(Pool.self, arguments: "a") { pool in
                    #expect(closed.entries.isEmpty)
                    return pool.tenant
                }
            }
        }
        await until {
            held.executor.runJobs()
            return container.core.waiterCount(of: Pool.self) == 1
        }
        factory.answer(Pool("a"))
        // The instance is delivered; the body has not begun.
        await until { held.executor.hasJobs }
        try await container.reset(Pool.self, arguments: "a")
        #expect(await container.cachedArguments(of: Pool.self, String.self) == [])
        await until {
            held.executor.runJobs()
            return closed.entries == ["a"]
        }
        #expect(try await body.value == "a")
        #expect(factory.count == 1)
        try await container.dispose()
    }

    @Test func `an instance in flight at a reset is leased by its waiters`() async throws {
        let factory = DrivenFactory<Pool>()
        let closed = Log<String>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in try await factory.run() }
                .onDispose { closed.append($0.tenant) }
        }
        let body = Task {
            try await container.withInstance(Pool.self, arguments: "a") { pool in
                #expect(closed.entries.isEmpty)
                return pool.tenant
            }
        }
        await factory.began()
        try await container.reset()
        factory.answer(Pool("old"))
        #expect(try await body.value == "old")
        #expect(factory.count == 1)
        // No other reference exists.
        await until { closed.entries == ["old"] }
        try await container.dispose()
        #expect(closed.entries == ["old"])
    }

    @Test func `an instance in flight at a reset is disposed at once when it has no waiter left`() async throws {
        let factory = DrivenFactory<Pool>()
        let closed = Log<String>()
        let container = Container {
            Registration(Pool.self, lifetime: .singleton) { _ in try await factory.run() }
                .onDispose { closed.append($0.tenant) }
                .whenAbandoned(.finish)
        }
        let asker = Task { try await container.resolve(Pool.self) }
        await factory.began()
        asker.cancel()
        _ = await asker.result
        try await container.reset()
        factory.answer(Pool("old"))
        await until { closed.entries == ["old"] }
        #expect(container.core.withState { $0.ledger.isEmpty })
        try await container.dispose()
    }

    @Test func `a cancellation at the end of a creation leaves no lease behind`() async throws {
        for _ in 0..<100 {
            let factory = DrivenFactory<Pool>()
            let container = Container {
                Registration(Pool.self, lifetime: .multiton) { (_, _: String) in try await factory.run() }
                    .whenAbandoned(.finish)
            }
            let bodies = (0..<4).map { _ in
                Task { try await container.withInstance(Pool.self, arguments: "a") { _ in } }
            }
            await container.core.waiters(of: Pool.self, reach: 4)
            async let answer: Void = factory.answer(Pool("a"))
            for body in bodies { body.cancel() }
            await answer
            for body in bodies { _ = await body.result }
            // Would wait for the lease.
            try await container.dispose()
            #expect(container.core.withState { $0.leases.isEmpty })
        }
    }
}
