import Testing

@testable import AsyncDI

private final class Pool: Sendable {}
private final class Part: Sendable {}
private final class Job: Sendable {}
private final class Session: Sendable {
    let pool: Pool
    init(_ pool: Pool) { self.pool = pool }
}

extension Lifetime {
    fileprivate static let renewable = Lifetime("renewable", ownedBy: .registeringContainer)
}

/// Waits for leases, which no task makes by itself.
@Suite(.timeLimit(.minutes(10))) struct LeaseWaitTests {
    private let log = Log<String>()

    @Test func `a hook of a leased instance may need the successor of the instance that leased it`() async throws {
        try await finishes { [log] in
            let box = Locked<Container?>(nil)
            let container = Container {
                Registration(Pool.self, lifetime: .renewable) { _ in Pool() }
                    .onDispose { _ in
                        log.append("pool closes")
                        _ = try await box.value!.resolve(Session.self)
                        log.append("pool is closed")
                    }
                Registration(Session.self, lifetime: .renewable) { r in Session(try await r.lease(Pool.self)) }
                    .onDispose { _ in log.append("session is closed") }
            }
            box.value = container
            _ = try await container.resolve(Session.self)
            // Leased by the session: it is disposed after it.
            try await container.reset(Pool.self)
            #expect(log.entries == [])
            try await container.reset(Session.self)
            #expect(log.entries == ["session is closed", "pool closes", "pool is closed"])
            try? await container.dispose()
        }
    }

    @Test func `a resolver used in a detached task belongs to the body in which its factory runs`() async throws {
        try await finishes {
            let box = Locked<Container?>(nil)
            let container = Container {
                Registration(Pool.self, lifetime: .renewable) { _ in Pool() }
                    .onDispose { _ in }
                Registration(Part.self, lifetime: .renewable) { _ in Part() }
                    .onDispose { _ in _ = try? await box.value!.resolve(Pool.self) }
                Registration(Job.self, lifetime: .transient) { resolver in
                    _ = try? await Task.detached { try await resolver.resolve(Part.self) }.value
                    return Job()
                }
            }
            box.value = container
            _ = try await container.resolve(Part.self)
            try await container.withInstance(Pool.self) { _ in
                try await container.reset(Pool.self)
                // The part's hook waits for the successor of the pool, and so for the end of this body.
                let reset = Task.detached { try await container.reset(Part.self) }
                while container.core.waiterCount(of: Pool.self) == 0 { await Task.yield() }
                _ = try await container.resolve(Job.self)
                _ = reset
            }
            try await container.dispose()
        }
    }

    @Test func `an instance that a lasting instance leases cannot be drained without a deadline`() async throws {
        try await finishes { [log] in
            let container = Container {
                Registration(Pool.self, lifetime: .renewable) { (_, _: Int) in Pool() }
                    .onDispose { _ in log.append("pool is closed") }
                Registration(Session.self, lifetime: .renewable) { r in
                    Session(try await r.lease(Pool.self, arguments: 1))
                }
            }
            _ = try await container.resolve(Session.self)
            await expect(.invalidOperation) {
                try await container.drain(Pool.self, arguments: 1)
            }
            #expect(log.entries == [])
            // With a deadline, another task may reset the session meanwhile.
            _ = try await container.resolve(Session.self)
            let drain = Task { try await container.drain(Pool.self, arguments: 1, deadline: .seconds(1_000)) }
            try await container.reset(Session.self)
            try await drain.value
            #expect(log.entries == ["pool is closed"])
            try await container.dispose()
        }
    }
}
