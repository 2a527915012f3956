import Testing

@testable import AsyncDI

/// Multitons with bounds.
@Suite(.timeLimit(.minutes(10))) struct MultitonTests {
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

    // MARK: Capacity

    @Test func `the least recently used instance goes, is disposed once, and a hit counts as use`() async throws {
        let closed = Log<String>()
        let container = makeContainer(.multiton(capacity: 2), closed: closed)
        let a = try await container.resolve(Pool.self, arguments: "a")
        _ = try await container.resolve(Pool.self, arguments: "b")
        #expect(try await container.resolve(Pool.self, arguments: "a") === a)
        _ = try await container.resolve(Pool.self, arguments: "c")
        await until { closed.entries == ["b"] }
        #expect(await Set(container.cachedArguments(of: Pool.self, String.self)) == ["a", "c"])
        #expect(try await container.resolve(Pool.self, arguments: "a") === a)
        try await container.dispose()
        #expect(closed.entries.sorted() == ["a", "b", "c"])
    }

    @Test func `dispose waits for evicted instances, and an evicted reference stays valid`() async throws {
        let gate = Gate()
        let closed = Log<String>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 1)) { _, tenant in Pool(tenant) }
                .onDispose {
                    if $0.tenant == "a" { await gate.pass() }
                    closed.append($0.tenant)
                }
        }
        let a = try await container.resolve(Pool.self, arguments: "a")
        _ = try await container.resolve(Pool.self, arguments: "b")
        await gate.arrived()
        #expect(a.tenant == "a")
        let disposal = Task { try await container.dispose() }
        gate.open()
        try await disposal.value
        #expect(closed.entries.sorted() == ["a", "b"])
    }

    @Test func `a creation in flight is never evicted`() async throws {
        let factory = DrivenFactory<Void>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 1)) { (_, tenant: String) in
                if tenant == "slow" { try await factory.run() }
                return Pool(tenant)
            }
        }
        let slow = Task { try await container.resolve(Pool.self, arguments: "slow") }
        await factory.began()
        for tenant in ["a", "b", "c"] { _ = try await container.resolve(Pool.self, arguments: tenant) }
        factory.answer(())
        let pool = try await slow.value
        #expect(try await container.resolve(Pool.self, arguments: "slow") === pool)
        #expect(await container.cachedArguments(of: Pool.self, String.self) == ["slow"])
    }

    // MARK: Idle

    @Test func `an idle instance goes without traffic, a used one stays`() async throws {
        let clock = ManualClock()
        let closed = Log<String>()
        let container = makeContainer(.multiton(idle: .seconds(60)), closed: closed, clock: clock)
        _ = try await container.resolve(Pool.self, arguments: "a")
        let b = try await container.resolve(Pool.self, arguments: "b")
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(40))
        #expect(try await container.resolve(Pool.self, arguments: "b") === b)
        clock.advance(by: .seconds(20))
        await until { closed.entries == ["a"] }
        await clock.sleepers(reach: 1)
        #expect(await container.cachedArguments(of: Pool.self, String.self) == ["b"])
        clock.advance(by: .seconds(40))
        await until { closed.entries == ["a", "b"] }
        // No instance is cached: no task sleeps.
        await clock.sleepers(reach: 0)
        _ = try await container.resolve(Pool.self, arguments: "c")
        await clock.sleepers(reach: 1)
        try await container.dispose()
        await clock.sleepers(reach: 0)
        #expect(closed.entries == ["a", "b", "c"])
    }

    @Test func `no task is held while the cache is empty, and none by a container that is gone`() async throws {
        let clock = ManualClock()
        var container: Container? = makeContainer(.multiton(idle: .seconds(60)), closed: Log(), clock: clock)
        _ = try await container!.resolve(Pool.self, arguments: "a")
        await clock.sleepers(reach: 1)
        try await container!.reset(.multiton)
        await clock.sleepers(reach: 0)
        _ = try await container!.resolve(Pool.self, arguments: "b")
        await clock.sleepers(reach: 1)
        weak let core = container!.core
        container = nil
        await clock.sleepers(reach: 0)
        await until { core == nil }
    }

    // MARK: Weak

    @Test func `a weak multiton shares an instance while a reference holds it`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 10, weak: true)) { (_, tenant: String) in
                runs.increment()
                return Pool(tenant)
            }
        }
        var pool: Pool? = try await container.resolve(Pool.self, arguments: "a")
        #expect(try await container.resolve(Pool.self, arguments: "a") === pool)
        #expect(await container.cachedArguments(of: Pool.self, String.self) == ["a"])
        pool = nil
        #expect(await container.cachedArguments(of: Pool.self, String.self) == [])
        _ = try await container.resolve(Pool.self, arguments: "a")
        #expect(runs.value == 2)
    }

    // MARK: Keys

    private struct SameHash: Hashable {
        let value: Int
        func hash(into hasher: inout Hasher) {}
    }

    @Test func `equality decides, never the bare hash; type, order and value all count`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, key: SameHash) in Thing(key.value) }
            Registration(Thing.self, lifetime: .multiton) { (_, a: Int, b: Int) in Thing(a * 10 + b) }
            Registration(Thing.self, lifetime: .multiton) { (_, a: Int?) in Thing(a ?? -1) }
            Registration(Thing.self, lifetime: .multiton) { (_, a: [String: Set<Int>]) in Thing(a.count) }
        }
        // Created, and then found.
        for value in [0..<50, 0..<50].joined() {
            #expect(try await container.resolve(Thing.self, arguments: SameHash(value: value)).number == value)
        }
        #expect(try await container.resolve(Thing.self, arguments: 1, 2).number == 12)
        #expect(try await container.resolve(Thing.self, arguments: 2, 1).number == 21)
        #expect(try await container.resolve(Thing.self, arguments: Int?.none).number == -1)
        let nested = try await container.resolve(Thing.self, arguments: ["a": Set([1])])
        #expect(try await container.resolve(Thing.self, arguments: ["a": Set([1])]) === nested)
        #expect(await container.cachedArguments(of: Thing.self, Int.self, Int.self).count == 2)
        #expect(await container.cachedArguments(of: Thing.self, SameHash.self).count == 50)
    }

    @Test func `cachedArguments of a keyedBy registration gives its keys`() async throws {
        let container = Container {
            Registration(Thing.self, keyedBy: { (name: String, _: @escaping @Sendable () -> Void) in name.count }) {
                _, name, _ in
                Thing(name.count)
            }
        }
        let thing = try await container.resolve(Thing.self, arguments: "abc", { @Sendable in })
        #expect(try await container.resolve(Thing.self, arguments: "xyz", { @Sendable in }) === thing)
        #expect(await container.cachedArguments(of: Thing.self, Int.self) == [3])
        try await container.reset(Thing.self, arguments: "uvw", { @Sendable in })
        #expect(await container.cachedArguments(of: Thing.self, Int.self) == [])
    }

    @Test func `an argument that is not equal to itself is refused and fills no cache`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .multiton) { (_, _: Double) in Thing() } }
        for _ in 0..<3 {
            await expect(.invalidArgument) {
                try await container.resolve(Thing.self, arguments: Double.nan)
            }
        }
        #expect(await container.cachedArguments(of: Thing.self, Double.self).isEmpty)
        #expect(container.core.withState { $0.flights.isEmpty })
        try await container.dispose()
    }

    @Test func `a scope that registers a multiton has its own cache, disposed with it`() async throws {
        let closed = Log<String>()
        let app = makeContainer(.multiton, closed: closed)
        let scope = try await app.openScope("s") {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool("scope " + tenant) }
                .onDispose { closed.append($0.tenant) }
        }
        #expect(try await scope.resolve(Pool.self, arguments: "a") !== app.resolve(Pool.self, arguments: "a"))
        try await scope.dispose()
        #expect(closed.entries == ["scope a"])
        try await app.dispose()
        #expect(closed.entries == ["scope a", "a"])
    }

    @Test func `an instance that is reset in flight reaches its waiters only, and is not cached`() async throws {
        let factory = DrivenFactory<Pool>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 5)) { (_, _: String) in try await factory.run() }
        }
        let before = Task { try await container.resolve(Pool.self, arguments: "a") }
        await factory.began()
        try await container.reset(Pool.self, arguments: "a")
        #expect(await container.cachedArguments(of: Pool.self, String.self).isEmpty)
        let old = Pool("old")
        factory.answer(old)
        #expect(try await before.value === old)
        #expect(await container.cachedArguments(of: Pool.self, String.self).isEmpty)
        factory.answer(Pool("new"), run: 1)
        #expect(try await container.resolve(Pool.self, arguments: "a").tenant == "new")
    }

    @Test func `an idle time beyond the range of a clock is no time limit`() async throws {
        await #expect(processExitsWith: .success) {
            let container = Container {
                Registration(Thing.self, lifetime: .multiton(idle: .seconds(Int64.max))) { (_, n: Int) in Thing(n) }
            }
            let thing = try await container.resolve(Thing.self, arguments: 1)
            // Time for the watcher to sleep: its clock's overflow ends the process.
            for _ in 0..<1000 { await Task.yield() }
            let again = try await container.resolve(Thing.self, arguments: 1)
            precondition(again === thing)
            try await container.dispose()
        }
    }

    @Test func `nothing idles out of the order of a disposal`() async throws {
        let clock = ManualClock()
        let log = Log<String>()
        let gate = Gate()
        let container = Container(clock: clock) {
            Registration(Pool.self, lifetime: .multiton(idle: .seconds(10))) { _, tenant in Pool(tenant) }
                .onDispose { log.append("pool \($0.tenant)") }
            Registration(Thing.self, lifetime: .singleton) { r in
                Thing(try await r.resolve(Pool.self, arguments: "a").tenant.count)
            }
            .onDispose { _ in
                await gate.pass()
                log.append("thing")
            }
        }
        _ = try await container.resolve(Thing.self)
        await clock.sleepers(reach: 1)
        let disposal = Task { try await container.dispose() }
        await gate.arrived()
        clock.advance(by: .seconds(20))
        await clock.sleepers(reach: 0)
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        try await disposal.value
        #expect(log.entries == ["thing", "pool a"])
    }

    private final class Tenant: Hashable, Sendable {
        let name: String
        init(_ name: String) { self.name = name }
        static func == (first: Tenant, second: Tenant) -> Bool { first.name == second.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    @Test func `a hit does not keep the arguments that it was asked with`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton(capacity: 3)) { (_, tenant: Tenant) in Pool(tenant.name) }
        }
        for name in ["a", "b"] { _ = try await container.resolve(Pool.self, arguments: Tenant(name)) }
        var tenant: Tenant? = Tenant("a")
        weak let reference = tenant
        _ = try await container.resolve(Pool.self, arguments: tenant!)
        tenant = nil
        #expect(reference == nil)
    }

    private protocol Connections: Sendable {}
    private final class TenantConnections: Connections {}

    @Test func `the cached arguments of a forwarded type are those of the service behind it`() async throws {
        let container = Container {
            Registration(TenantConnections.self, lifetime: .multiton) { (_, _: String) in TenantConnections() }
                .implements((any Connections).self)
        }
        _ = try await container.resolve((any Connections).self, arguments: "a")
        #expect(await container.cachedArguments(of: (any Connections).self, String.self) == ["a"])
        #expect(await container.cachedArguments(of: TenantConnections.self, String.self) == ["a"])
    }

    @Test func `asking synchronously counts as use`() async throws {
        let clock = ManualClock()
        let container = Container(clock: clock) {
            Registration(Thing.self, lifetime: .multiton(idle: .seconds(60))) { _ in Thing() }
        }
        let thing = try await container.resolve(Thing.self)
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(40))
        #expect(try container.ready(Thing.self) === thing)
        clock.advance(by: .seconds(20))
        await clock.sleepers(reach: 1)
        #expect(try container.ready(Thing.self) === thing)
        try await container.dispose()
    }

    /// Stands still like a manual one, and fails at the first sleep.
    private final class FaultyClock: Clock {
        let manual = ManualClock()
        private let sleeps = Counter()
        var now: ManualClock.Instant { manual.now }
        var minimumResolution: Duration { .zero }
        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            if sleeps.increment() == 1 { throw TestError() }
            try await manual.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test func `a clock that fails once does not end idling for good`() async throws {
        let clock = FaultyClock()
        let closed = Log<String>()
        let container = makeContainer(.multiton(idle: .seconds(60)), closed: closed, clock: clock)
        _ = try await container.resolve(Pool.self, arguments: "a")
        await until { container.core.withState { $0.idleWatchers.isEmpty } }
        _ = try await container.resolve(Pool.self, arguments: "b")
        await clock.manual.sleepers(reach: 1)
        clock.manual.advance(by: .seconds(60))
        await until { closed.entries.sorted() == ["a", "b"] }
        try await container.dispose()
    }

    @Test func `only instances with arguments of the type are listed, not with one that could be cast to it`()
        async throws
    {
        let container = Container {
            Registration(Pool.self, qualifier: "int", lifetime: .multiton) { (_, _: Int) in Pool("") }
            Registration(Pool.self, qualifier: "optional", lifetime: .multiton) { (_, _: Int?) in Pool("") }
            Registration(Pool.self, qualifier: "key", lifetime: .multiton, keyedBy: { (text: String) in text.count }) {
                (_, _: String) in Pool("")
            }
        }
        _ = try await container.resolve(Pool.self, qualifier: "int", arguments: 1)
        _ = try await container.resolve(Pool.self, qualifier: "optional", arguments: Int?.none)
        _ = try await container.resolve(Pool.self, qualifier: "key", arguments: "four")
        let (int, optional, key) = (
            await container.cachedArguments(of: Pool.self, qualifier: "int", Int.self),
            await container.cachedArguments(of: Pool.self, qualifier: "optional", Int?.self),
            await container.cachedArguments(of: Pool.self, qualifier: "key", Int.self)
        )
        #expect(int == [1] && optional == [nil] && key == [4])
        let others = (
            await container.cachedArguments(of: Pool.self, qualifier: "int", Int?.self).count,
            await container.cachedArguments(of: Pool.self, qualifier: "int", String?.self).count,
            await container.cachedArguments(of: Pool.self, qualifier: "optional", Int.self).count,
            await container.cachedArguments(of: Pool.self, qualifier: "key", Int?.self).count
        )
        #expect(others == (0, 0, 0, 0))
    }
}
