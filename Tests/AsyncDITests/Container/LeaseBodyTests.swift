import Testing

@testable import AsyncDI

private final class Pool: Sendable {}
private final class Session: Sendable {
    let pool: Pool
    init(_ pool: Pool) { self.pool = pool }
}
private final class Consumer: Sendable {}
private final class Inner: Sendable {}
private final class Owner: Sendable {}
private final class Half: Sendable {}
private final class OtherHalf: Sendable {
    let half: Half
    init(_ half: Half) { self.half = half }
}

/// Bodies that hold leases, tasks that outlive them, and the disposals that wait for them.
@Suite(.timeLimit(.minutes(10))) struct LeaseBodyTests {
    private let log = Log<String>()

    // MARK: Tasks that outlive a body

    @Test(arguments: [Lifetime.transient, .graph])
    func `a resolution that outlives the body in which it began is in the graph of waits`(
        lifetime: Lifetime
    ) async throws {
        try await finishes {
            let mayResolve = Gate()
            let box = Locked<Container?>(nil)
            let container = Container {
                Registration(Pool.self, lifetime: .singleton) { _ in Pool() }
                    .onDispose { _ in }
                Registration(Inner.self, lifetime: lifetime) { r in
                    await mayResolve.pass()
                    _ = try await r.resolve(Consumer.self)
                    return Inner()
                }
                Registration(Consumer.self, lifetime: .singleton) { r in
                    _ = try await r.resolve(Owner.self)
                    return Consumer()
                }
                Registration(Owner.self, lifetime: .singleton) { r in
                    let task = try await box.value!.withInstance(Pool.self) { _ in
                        let task = Task { try await r.resolve(Inner.self) }
                        await mayResolve.arrived()
                        return task
                    }
                    mayResolve.open()
                    _ = try await task.value
                    return Owner()
                }
            }
            box.value = container
            await expect(.circularDependency) { try await container.resolve(Owner.self) }
            try await container.dispose()
        }
    }

    @Test(arguments: [false, true])
    func `an unfinished instance that a factory gets in a body belongs to the factory`(isInBody: Bool) async throws {
        try await finishes {
            let mayFail = Gate()
            let box = Locked<Container?>(nil)
            let container = Container {
                Registration(Pool.self, lifetime: .singleton) { _ in Pool() }
                    .onDispose { _ in }
                Registration(Half.self, lifetime: .singleton) { _ in Half() }
                    .injectProperties { r, _ in
                        _ = try await r.resolve(OtherHalf.self)
                        await mayFail.pass()
                        throw TestError()
                    }
                Registration(OtherHalf.self, lifetime: .singleton) { r in
                    guard isInBody else { return OtherHalf(try await r.resolve(Half.self)) }
                    return try await box.value!.withInstance(Pool.self) { _ in
                        OtherHalf(try await r.resolve(Half.self))
                    }
                }
            }
            box.value = container
            let half = Task { try await container.resolve(Half.self) }
            await mayFail.arrived()
            let other = Task { try await container.resolve(OtherHalf.self) }
            await until { container.core.waiterCount(of: OtherHalf.self) == 1 }
            mayFail.open()
            await #expect(throws: TestError.self) { try await half.value }
            await #expect(throws: TestError.self) { try await other.value }
            #expect(throws: ResolutionError.self) { try container.ready(OtherHalf.self) }
            try await container.dispose()
        }
    }

    // MARK: The end of a scope in a body

    @Test func `work is rolled back when its scope cannot be awaited`() async throws {
        try await finishes { [log] in
            let container = Container {
                Registration(Pool.self, lifetime: .multiton) { (_, _: Int) in Pool() }
                    .onDispose { _ in }
                Registration(Owner.self, lifetime: .scoped) { _ in Owner() }
                    .onDispose { _, reason in log.append(reason.error == nil ? "committed" : "rolled back") }
            }
            try await container.withInstance(Pool.self, arguments: 1) { _ in
                try await container.reset(Pool.self, arguments: 1)
                await expect(.invalidOperation) {
                    try await container.withScope(registrations: {
                        Registration(Session.self, instance: Session(Pool())).onDispose { _ in
                            // The successor of the pool waits for the body's lease.
                            _ = try? await container.resolve(Pool.self, arguments: 1)
                        }
                    }) { scope in
                        _ = try await scope.resolve(Owner.self)
                        _ = await scope.unregister(Session.self)
                        await until { container.core.waiterCount(of: Pool.self) == 1 }
                    }
                }
            }
            // By the end of the scope's own disposal, and not by that of the container.
            await until { log.entries == ["rolled back"] }
            try await container.dispose()
        }
    }

    /// The body waits for the end of its scope, which waits for its hook: the graph of waits learns of both when the
    /// hook waits.
    @Test(arguments: [(1, false), (1, true), (3, false), (3, true)])
    func `a hook that waits for the body around its scope gets an error`(depth: Int, suspendsFirst: Bool) async throws {
        try await finishes { [log] in
            let box = Locked<Container?>(nil)
            let container = Container {
                Registration(Pool.self, lifetime: .multiton) { (_, _: Int) in Pool() }.onDispose { _ in }
                Registration(Owner.self, lifetime: .scoped) { _ in Owner() }
                    .onDispose { _ in
                        if suspendsFirst { await Task.yield() }
                        await expect(.invalidOperation) {
                            try await box.value!.drain(Pool.self, arguments: 1)
                        }
                        log.append("refused")
                    }
            }
            box.value = container
            /// Ends each scope in a hook of the one around it.
            @Sendable func endScope(at level: Int) async throws {
                try await container.withScope(registrations: {
                    if level > 1 {
                        Registration(Session.self, instance: Session(Pool())).onDispose { _ in
                            try await endScope(at: level - 1)
                        }
                    }
                }) { scope in
                    if level == 1 { _ = try await scope.resolve(Owner.self) }
                }
            }
            try await container.withInstance(Pool.self, arguments: 1) { _ in try await endScope(at: depth) }
            #expect(log.entries == ["refused"])
            try await container.dispose()
        }
    }

    // MARK: Leases of lasting instances

    /// A pool that a singleton leases, and whose end takes as long as the gates say.
    private func container(poolMayClose: Gate, sessionMayClose: Gate) -> Container {
        Container { [log] in
            Registration(Pool.self, lifetime: .multiton) { (_, _: Int) in Pool() }
                .onDispose { _ in
                    await poolMayClose.pass()
                    log.append("pool is closed")
                }
            Registration(Session.self, lifetime: .singleton) { r in
                Session(try await r.lease(Pool.self, arguments: 1))
            }
            .onDispose { _ in await sessionMayClose.pass() }
        }
    }

    @Test func `a successor waits for the disposal of an instance that a lasting one leased until its own end`()
        async throws
    {
        try await finishes { [log] in
            let (poolMayClose, sessionMayClose) = (Gate(), Gate())
            sessionMayClose.open()
            let container = container(poolMayClose: poolMayClose, sessionMayClose: sessionMayClose)
            _ = try await container.resolve(Session.self)
            try await container.reset(Pool.self, arguments: 1)
            let reset = Task { try await container.reset(Session.self) }
            await poolMayClose.arrived()
            let successor = Task {
                _ = try await container.resolve(Pool.self, arguments: 1)
                log.append("successor")
            }
            await until { container.core.waiterCount(of: Pool.self) == 1 }
            poolMayClose.open()
            try await successor.value
            try await reset.value
            #expect(log.entries == ["pool is closed", "successor"])
            try await container.dispose()
        }
    }

    @Test func `a drain waits while the lasting instance that holds the lease is being disposed`() async throws {
        try await finishes { [log] in
            let (poolMayClose, sessionMayClose) = (Gate(), Gate())
            poolMayClose.open()
            let container = container(poolMayClose: poolMayClose, sessionMayClose: sessionMayClose)
            _ = try await container.resolve(Session.self)
            let reset = Task { try await container.reset(Session.self) }
            await sessionMayClose.arrived()
            let drain = Task { try await container.drain(Pool.self, arguments: 1) }
            await until { container.core.withState { !$0.leases.pending(where: { _ in true }).isEmpty } }
            sessionMayClose.open()
            try await drain.value
            try await reset.value
            #expect(log.entries == ["pool is closed"])
            try await container.dispose()
        }
    }

    @Test func `every drain of an instance waits for its end, also after another drain or a reset`() async throws {
        try await finishes { [log] in
            let mayEnd = Gate()
            let container = Container {
                Registration(Pool.self, lifetime: .multiton) { (_, _: Int) in Pool() }
                    .onDispose { _ in log.append("pool is closed") }
            }
            let body = Task { try await container.withInstance(Pool.self, arguments: 1) { _ in await mayEnd.pass() } }
            await mayEnd.arrived()
            try await container.reset(Pool.self, arguments: 1)
            let drains = (0..<2).map { _ in
                Task {
                    try await container.drain(Pool.self, arguments: 1)
                    log.append("drained")
                }
            }
            for _ in 0..<1_000 { await Task.yield() }
            #expect(log.entries == [])
            mayEnd.open()
            for drain in drains { try await drain.value }
            try await body.value
            #expect(log.entries == ["pool is closed", "drained", "drained"])
            try await container.dispose()
        }
    }
}
