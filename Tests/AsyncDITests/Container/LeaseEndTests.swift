import Testing

@testable import AsyncDI

/// Leases end whatever happens around them.
@Suite(.timeLimit(.minutes(10))) struct LeaseEndTests {
    private final class Pool: Sendable {
        let tenant: String
        init(_ tenant: String) { self.tenant = tenant }
    }

    private final class Parent: Sendable {}
    private final class Child: Sendable {}

    @Test func `a lease that comes after its factory has ended is given back`() async throws {
        let pools = DrivenFactory<Pool>()
        let late = Locked<Task<Void, any Error>?>(nil)
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in try await pools.run() }
            Registration(Thing.self, lifetime: .singleton) { r in
                let task = Task { _ = try await r.lease(Pool.self, arguments: "a") }
                late.withLock { $0 = task }
                await pools.began()
                return Thing()
            }
        }
        _ = try await container.resolve(Thing.self)
        pools.answer(Pool("a"))
        let task = try #require(late.withLock { $0 })
        await expect(.invalidOperation) { try await task.value }
        // Would wait for the lease.
        try await container.dispose()
    }

    @Test func `a creation that outlives its container gives its lease back`() async throws {
        let app = Container { Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) } }
        let factory = DrivenFactory<Void>()
        var child: Container? = Container(parent: app) {
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                try await factory.run()
                return Thing()
            }
        }
        weak let core = child?.core
        let asker = Task { [child] in try await child!.resolve(Thing.self) }
        await factory.began()
        asker.cancel()
        _ = await asker.result
        child = nil
        await until { core?.table.isClosed != false }
        factory.answer(())
        // Would wait for the lease.
        try await app.dispose()
    }

    @Test func `a lease of an instance in a cycle of properties with the asker is refused`() async throws {
        let container = Container {
            Registration(Parent.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Child.self)
                return Parent()
            }
            Registration(Child.self, lifetime: .singleton) { _ in Child() }
                .injectProperties { r, _ in _ = try await r.lease(Parent.self) }
        }
        for _ in 0..<2 {
            let error = await expect(.invalidOperation) { try await container.resolve(Parent.self) }
            #expect(error?.path.map(\.description) == ["Parent", "Child", "Parent"])
        }
        try await container.dispose()
    }

    @Test func `a task that outlives the body of a withInstance may dispose the container`() async throws {
        let container = Container { Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) } }
        let gate = Gate()
        let task = try await container.withInstance(Pool.self, arguments: "a") { _ in
            Task {
                await gate.pass()
                try await container.dispose()
            }
        }
        gate.open()
        try await task.value
    }

    @Test func `an instance whose disposal waits for another one's lease is disposed by the same reset`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
                .onDispose { _ in
                    for _ in 0..<100 { await Task.yield() }
                    log.append("pool")
                    throw TestError()
                }
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                return Thing()
            }
            .onDispose { _ in log.append("thing") }
        }
        _ = try await container.resolve(Thing.self)
        let error = await #expect(throws: DisposalError.self) { try await container.reset() }
        #expect(log.entries == ["thing", "pool"])
        #expect(error?.errors as? [TestError] == [TestError()])
        try await container.dispose()
    }

    @Test func `dispose throws the error that the disposal of a reset instance throws meanwhile`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
                .onDispose { if $0.tenant == "a" { throw TestError() } }
        }
        let leave = Gate()
        let body = Task { try await container.withInstance(Pool.self, arguments: "a") { _ in await leave.pass() } }
        await leave.arrived()
        try await container.reset(Pool.self, arguments: "a")
        let disposal = Task { try await container.dispose() }
        await until {
            container.core.disposal.subject?.facts(in: container.core).text == "the last lease of Pool(\"a\")"
        }
        leave.open()
        try await body.value
        let error = await #expect(throws: DisposalError.self) { try await disposal.value }
        #expect(error?.errors as? [TestError] == [TestError()])
    }

    @Test func `an instance that is replaced twice under one lease has the hooks of both registrations run`()
        async throws
    {
        let closed = Log<String>()
        let registration = Registration(Pool.self, instance: Pool("a")).onDispose { closed.append($0.tenant) }
        let container = Container { registration }
        try await container.withInstance(Pool.self) { _ in
            try await container.register(registration)
            try await container.register(Registration(Pool.self, instance: Pool("b")))
            #expect(closed.entries.isEmpty)
        }
        try await container.dispose()
        #expect(closed.entries == ["a", "a"])
    }

    /// As when a task that outlives a factory passes a lease to the instance whose creation has just failed.
    @Test(arguments: [Lifetime.singleton, .scoped])
    func `a lease that has ended leaves no holder behind when it is passed on late`(lifetime: Lifetime) async throws {
        let holder = Locked<Creation?>(nil)
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant) }
            Registration(Thing.self, lifetime: lifetime) { r in
                holder.withLock { $0 = r.asker?.holder }
                return Thing()
            }
        }
        let scope = try await container.openScope("request")
        _ = try await scope.resolve(Thing.self)
        let creation = try #require(holder.withLock { $0 })
        try await container.withInstance(Pool.self, arguments: "a") { _ in
            let lease = try #require(LeaseContext.activeBody?.held.first as? Lease)
            lease.endLongHolds()
            lease.passToInstance(of: creation, decorating: false)
            #expect(!lease.leased.isLeasedForLong)
            #expect(lease.leased.container(leasingAround: scope.core, below: container.core) == nil)
            #expect(scope.core.leaseHolder?.held.isEmpty == true)
        }
        try await container.dispose()
    }
}
