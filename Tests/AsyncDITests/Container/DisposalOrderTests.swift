import Testing

@testable import AsyncDI

/// The order in which a disposal closes what may be in use: nothing is closed under its users.
@Suite(.timeLimit(.minutes(10))) struct DisposalOrderTests {
    private struct Engine: Sendable {}
    private struct Pool: Sendable { let engine: Engine }
    private struct Server: Sendable { let engine: Engine }

    private let log = Log<String>()

    @RegistrationBuilder private var pools: Registrations {
        Registration(Engine.self, lifetime: .singleton) { _ in Engine() }.onDispose { _ in log.append("engine") }
        Registration(Pool.self, lifetime: .multiton) { (r, _: String) in Pool(engine: try await r.resolve()) }
            .onDispose { (_: Pool) in log.append("pool") }
    }

    /// The changes after which an instance is closed with its last lease.
    enum Change: CaseIterable, Sendable {
        case none, reset, registration, drainOfKey
    }

    @Test(arguments: Change.allCases)
    func `what a leased instance uses is closed after it, also when it was dropped before`(
        _ change: Change
    ) async throws {
        let container = Container { pools }
        let (isLeased, mayEnd) = (Gate(), Gate())
        let body = Task {
            try await container.withInstance(Pool.self, arguments: "a") { _ in
                isLeased.arrive()
                await mayEnd.pass()
                log.append("body")
            }
        }
        await isLeased.arrived()
        switch change {
        case .none: break
        case .reset: try await container.reset(Pool.self, arguments: "a")
        case .registration:
            try await container.register(Pool.self, lifetime: .multiton) { (r, _: String) in
                Pool(engine: try await r.resolve())
            }
        case .drainOfKey:
            await #expect(throws: DisposalError.self) {
                try await container.drain(Pool.self, arguments: "a", deadline: .zero)
            }
        }
        let disposal = Task { try await container.dispose() }
        await until { container.core.table.isClosed }
        for _ in 0..<100 { await Task.yield() }
        #expect(log.entries.isEmpty)
        mayEnd.open()
        try await body.value
        try await disposal.value
        #expect(log.entries == ["body", "pool", "engine"])
    }

    @Test func `an instance that was dropped while another leases it is closed after that one, before older ones`()
        async throws
    {
        let container = Container {
            pools
            Registration(Server.self, lifetime: .singleton) { r in
                Server(engine: try await r.lease(Pool.self, arguments: "a").engine)
            }
            .onDispose { _ in log.append("server") }
        }
        _ = try await container.resolve(Server.self)
        try await container.reset(Pool.self, arguments: "a")
        try await container.dispose()
        #expect(log.entries == ["server", "pool", "engine"])
    }

    @Test(arguments: [false, true])
    func `children are disposed the latest first, so that fallbacks outlive their users`(leases: Bool) async throws {
        for _ in 0..<20 {
            let log = Log<String>()
            let app = Container(name: "app")
            let data = Container(name: "data", parent: app) {
                Registration(Engine.self, lifetime: .singleton) { _ in Engine() }.onDispose { _ in log.append("data") }
            }
            let children = (0..<4).map { number in
                Container(name: "web", parent: app, fallbacks: [data]) {
                    Registration(Server.self, lifetime: .singleton) { r in
                        Server(engine: leases ? try await r.lease() : try await r.resolve())
                    }
                    .onDispose { _ in log.append("\(number)") }
                }
            }
            for child in children { _ = try await child.resolve(Server.self) }
            try await app.dispose()
            #expect(log.entries == ["3", "2", "1", "0", "data"])
        }
    }

    @Test func `a scope that children fall back on is disposed after them`() async throws {
        let app = Container(name: "app")
        let session = try await app.openScope("session") {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }.onDispose { _ in log.append("session") }
        }
        let inner = try await session.openScope("inner")
        let other = try await app.openScope("other") {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in log.append("other") }
        }
        _ = try await other.resolve(Thing.self)
        let first = Container(name: "first", fallbacks: [inner])
        let web = Container(name: "web", parent: app, fallbacks: [first]) {
            Registration(Server.self, lifetime: .singleton) { r in Server(engine: try await r.lease()) }
                .onDispose { _ in log.append("web") }
        }
        _ = try await web.resolve(Server.self)
        try await app.dispose()
        #expect(log.entries == ["other", "web", "session"])
    }

    @Test(arguments: [false, true])
    func `an instance that is registered twice is closed twice, and its leases end first`(atOnce: Bool) async throws {
        let given = Registration(instance: Engine()).onDispose { _ in log.append("engine") }
        let container = Container {
            given
            Registration(Server.self, lifetime: .singleton) { r in Server(engine: try await r.lease()) }
                .onDispose { _ in log.append("server") }
        }
        _ = try await container.resolve(Server.self)
        if atOnce { try await container.register(Registrations { given }) } else { try await container.register(given) }
        try await container.dispose()
        // The new one is the latest, and nothing leases it.
        #expect(log.entries == ["engine", "server", "engine"])
    }
}
