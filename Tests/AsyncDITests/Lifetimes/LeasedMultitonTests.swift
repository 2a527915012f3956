import Testing

@testable import AsyncDI

/// Leased instances are not evicted, so that there are never two instances of one key.
@Suite(.timeLimit(.minutes(10))) struct LeasedMultitonTests {
    private final class Pool: Sendable {
        let tenant: String
        init(_ tenant: String) { self.tenant = tenant }
    }

    /// A container of pools that notes which are opened and closed.
    private struct Pools: Sendable {
        let container: Container
        let log = Log<String>()

        init(_ lifetime: Lifetime, clock: any Clock<Duration> = ContinuousClock()) {
            let log = log
            container = Container(clock: clock) {
                Registration(Pool.self, lifetime: lifetime) { (_, tenant: String) in
                    log.append("open \(tenant)")
                    return Pool(tenant)
                }
                .onDispose { log.append("close \($0.tenant)") }
            }
        }

        var tenants: [String] {
            get async { await container.cachedArguments(of: Pool.self, String.self).sorted() }
        }

        func use(_ tenant: String) async throws { _ = try await container.resolve(Pool.self, arguments: tenant) }

        func closed(_ tenant: String) async { while !log.entries.contains("close \(tenant)") { await Task.yield() } }

        /// Holds a lease until it is released; returns once it is held.
        func lease(_ tenant: String) async -> HeldTenant {
            let held = HeldTenant()
            held.keep(
                Task {
                    try await container.withInstance(Pool.self, arguments: tenant) { _ in
                        held.inside.arrive()
                        await held.leave.pass()
                    }
                })
            await held.inside.arrived()
            return held
        }
    }

    private final class HeldTenant: Sendable {
        let inside = Gate()
        let leave = Gate()
        private let body = Locked<Task<Void, any Error>?>(nil)

        func keep(_ task: Task<Void, any Error>) { body.withLock { $0 = task } }

        /// Ends the lease, and returns once the body is over.
        func end() async throws {
            leave.open()
            try await body.withLock { $0 }?.value
        }
    }

    @Test func `a leased instance is not evicted, and no second one is made beside it`() async throws {
        let pools = Pools(.multiton(capacity: 1))
        let held = await pools.lease("a")
        try await pools.use("b")
        #expect(await pools.tenants == ["a", "b"])
        try await pools.use("a")
        #expect(pools.log.entries == ["open a", "open b"])
        try await held.end()
        await pools.closed("b")
        #expect(await pools.tenants == ["a"], "the end of a lease counts as use")
        #expect(pools.log.entries == ["open a", "open b", "close b"])
        try await pools.container.dispose()
    }

    @Test func `the bound is exceeded while everything is leased, and kept again when leases end`() async throws {
        let pools = Pools(.multiton(capacity: 2))
        var held: [HeldTenant] = []
        for tenant in ["a", "b", "c", "d", "e"] { held.append(await pools.lease(tenant)) }
        #expect(await pools.tenants == ["a", "b", "c", "d", "e"])
        try await held[3].end()
        await pools.closed("d")
        try await held[0].end()
        await pools.closed("a")
        try await held[4].end()
        await pools.closed("e")
        #expect(await pools.tenants == ["b", "c"])
        try await held[2].end()
        try await held[1].end()
        #expect(await pools.tenants == ["b", "c"], "as many as the bound allows stay")
        try await pools.use("f")
        await pools.closed("c")
        #expect(await pools.tenants == ["b", "f"], "c was given back before b")
        try await pools.container.dispose()
    }

    @Test func `the least recently used instance without a lease makes room`() async throws {
        let pools = Pools(.multiton(capacity: 3))
        for tenant in ["a", "b", "c"] { try await pools.use(tenant) }
        let held = await pools.lease("a")
        try await pools.use("b")
        try await pools.use("d")
        await pools.closed("c")
        try await pools.use("e")
        await pools.closed("b")
        #expect(await pools.tenants == ["a", "d", "e"])
        try await held.end()
        try await pools.container.dispose()
    }

    @Test func `an instance that is leased twice stays until both leases have ended`() async throws {
        let pools = Pools(.multiton(capacity: 1))
        let held = [await pools.lease("a"), await pools.lease("a")]
        try await pools.use("b")
        try await held[0].end()
        #expect(await pools.tenants == ["a", "b"])
        #expect(!pools.log.entries.contains("close a"))
        try await held[1].end()
        await pools.closed("b")
        #expect(await pools.tenants == ["a"])
        try await pools.container.dispose()
    }

    @Test func `the lease of a unit of work keeps its pool from being evicted`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 1)) { _, tenant in Pool(tenant) }
                .onDispose { log.append("close \($0.tenant)") }
            Registration(Thing.self, lifetime: .scoped) { r in
                Thing(try await r.lease(Pool.self, arguments: "a").tenant.count)
            }
        }
        try await container.withScope { _ in
            _ = try await container.resolve(Thing.self)
            _ = try await container.resolve(Pool.self, arguments: "b")
            #expect(await container.cachedArguments(of: Pool.self, String.self).sorted() == ["a", "b"])
        }
        while log.entries.isEmpty { await Task.yield() }
        #expect(log.entries == ["close b"])
        try await container.dispose()
    }

    @Test func `a leased instance that is reset leaves the cache, and its lease keeps nothing else`() async throws {
        let pools = Pools(.multiton(capacity: 2))
        let held = await pools.lease("a")
        try await pools.use("b")
        try await pools.container.reset(Pool.self, arguments: "a")
        #expect(await pools.tenants == ["b"])
        try await pools.use("c")
        #expect(await pools.tenants == ["b", "c"])
        #expect(!pools.log.entries.contains("close a"))
        try await held.end()
        await pools.closed("a")
        #expect(await pools.tenants == ["b", "c"])
        #expect(pools.log.entries == ["open a", "open b", "open c", "close a"])
        try await pools.container.dispose()
    }

    @Test func `an instance that idled while it was leased idles from the end of its lease`() async throws {
        let clock = ManualClock()
        let pools = Pools(.multiton(capacity: 1, idle: .seconds(10)), clock: clock)
        let held = await pools.lease("a")
        await clock.sleepers(reach: 1)
        for _ in 0..<5 {
            clock.advance(by: .seconds(11))
            await clock.sleepers(reach: 1)
        }
        #expect(await pools.tenants == ["a"])
        try await held.end()
        clock.advance(by: .seconds(9))
        #expect(await pools.tenants == ["a"])
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(10))
        await pools.closed("a")
        try await pools.container.dispose()
    }

    @Test func `an instance is delivered with its lease before another one makes room for itself`() async throws {
        let factory = DrivenFactory<Pool>()
        let closed = Log<String>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 1)) { (_, tenant: String) in
                tenant == "a" ? try await factory.run() : Pool(tenant)
            }
            .onDispose { closed.append($0.tenant) }
        }
        let leave = Gate()
        let body = Task {
            try await container.withInstance(Pool.self, arguments: "a") { _ in await leave.pass() }
        }
        await factory.began()
        factory.answer(Pool("a"))
        await leave.arrived()
        for tenant in ["b", "c", "d"] { _ = try await container.resolve(Pool.self, arguments: tenant) }
        // Each eviction disposes in a task of its own: their order is open.
        await until { closed.entries.sorted() == ["b", "c"] }
        leave.open()
        try await body.value
        await until { closed.entries.sorted() == ["b", "c", "d"] }
        try await container.dispose()
    }

    @Test func `instances that leases and their ends evict are disposed once, and the bound is kept`() async throws {
        let openNow = Locked<[String: Int]>([:])
        let most = Locked(0)
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 3)) { (_, tenant: String) in Pool(tenant) }
                .onCreate { _, pool in openNow.withLock { $0[pool.tenant, default: 0] += 1 } }
                .onDispose { pool in openNow.withLock { $0[pool.tenant, default: 0] -= 1 } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(worker))
                    for _ in 0..<200 {
                        let tenant = "\(random.below(8))"
                        try await container.withInstance(Pool.self, arguments: tenant) { _ in
                            if random.chance(0.3) { await Task.yield() }
                            let count = await container.cachedArguments(of: Pool.self, String.self).count
                            most.withLock { $0 = max($0, count) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.withLock { $0 } <= 7, "six leases at most, and one that came last")
        #expect(await container.cachedArguments(of: Pool.self, String.self).count <= 3)
        container.core.withState { state in state.multitons.values.forEach { $0.checkInvariants() } }
        try await container.dispose()
        #expect(openNow.withLock { $0.values.allSatisfy { $0 == 0 } })
    }
}
