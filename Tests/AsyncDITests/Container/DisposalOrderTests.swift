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

    /// A body that leases a pool until the gate opens.
    private func lease(in container: Container, until mayEnd: Gate) async -> Task<Void, any Error> {
        let body = Task { try await container.withInstance(Pool.self, arguments: "a") { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        return body
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
        let mayEnd = Gate()
        let body = Task {
            try await container.withInstance(Pool.self, arguments: "a") { _ in
                await mayEnd.pass()
                log.append("body")
            }
        }
        await mayEnd.arrived()
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

    @Test func `an instance whose last lease ends during a later one's hook is closed before older ones`() async throws
    {
        let (mayClose, mayEnd) = (Gate(), Gate())
        let container = Container {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }.onDispose { _ in log.append("engine") }
            Registration(Pool.self, lifetime: .multiton) { (r, _: String) in Pool(engine: try await r.resolve()) }
                .onDispose { (_: Pool) in
                    await mayClose.pass()
                    log.append("pool")
                }
            Registration(Server.self, lifetime: .singleton) { r in Server(engine: try await r.resolve()) }
                .onDispose { _ in
                    mayEnd.open()
                    await mayClose.arrived()
                    log.append("server")
                }
        }
        let body = await lease(in: container, until: mayEnd)
        try await container.reset(Pool.self, arguments: "a")
        _ = try await container.resolve(Server.self)
        let disposal = Task { try await container.dispose() }
        try await body.value
        await until { log.entries == ["server"] }
        for _ in 0..<100 { await Task.yield() }
        #expect(log.entries == ["server"])
        mayClose.open()
        try await disposal.value
        #expect(log.entries == ["server", "pool", "engine"])
    }

    @Test func `an instance with registrations of several kinds is closed once for each, after its leases`()
        async throws
    {
        let given = Registration(instance: Engine()).onDispose { _ in log.append("engine") }
        let container = Container {
            given
            Registration(Server.self, lifetime: .singleton) { r in Server(engine: try await r.lease()) }
                .onDispose { _ in log.append("server") }
        }
        _ = try await container.resolve(Server.self)
        try await container.register(given.intoMany())
        try await container.register(given.intoMany(key: "key"))
        try await container.dispose()
        #expect(log.entries == ["engine", "engine", "server", "engine"])
    }

    /// Containers `p` with children, of which the last one leases from another one's part.
    @Test(arguments: ["scope", "grandchild", "inside a scope"])
    func `a container is disposed after those that fall back on it from below others`(_ kind: String) async throws {
        let app = Container(name: "app")
        @RegistrationBuilder func source() -> Registrations {
            Registration(Engine.self, lifetime: .singleton) { _ in Engine() }.onDispose { _ in log.append("engine") }
        }
        @RegistrationBuilder func user() -> Registrations {
            Registration(Server.self, lifetime: .singleton) { r in Server(engine: try await r.lease()) }
                .onDispose { _ in log.append("server") }
        }
        let first = Container(
            name: "first", parent: app, registrations: kind == "inside a scope" ? source() : Registrations())
        let scope = try await app.openScope("scope") { if kind == "scope" { source() } }
        let second = Container(name: "second", parent: app) { if kind == "grandchild" { source() } }
        let last =
            switch kind {
            case "scope": Container(name: "last", parent: first, fallbacks: [scope]) { user() }
            case "grandchild": Container(name: "last", parent: first, fallbacks: [second]) { user() }
            default: Container(name: "last", parent: scope, fallbacks: [first]) { user() }
            }
        let other = Container(name: "other", parent: app, fallbacks: [scope])
        _ = try await last.resolve(Server.self)
        try await app.dispose()
        #expect(log.entries == ["server", "engine"])
        withExtendedLifetime(other) {}
    }

    @Test func `groups end after their users, also in a cycle`() {
        func order(_ count: Int, _ uses: [(Int, Int)]) -> [Int] {
            var order = FallbackOrder<Int>()
            for group in 0..<count { order.note(group, in: group) }
            for (user, source) in uses {
                let isMember = order.noteUse(of: source, by: user)
                #expect(isMember)
            }
            let isMember = order.noteUse(of: -1, by: 0)
            #expect(!isMember)
            return order.usersFirst
        }
        #expect(order(0, []).isEmpty)
        #expect(order(3, []) == [0, 1, 2])
        #expect(order(3, [(0, 1), (1, 2)]) == [0, 1, 2])
        #expect(order(3, [(2, 1), (1, 0)]) == [2, 1, 0])
        #expect(order(4, [(3, 1), (0, 0)]) == [0, 3, 1, 2])
        #expect(Set(order(3, [(0, 1), (1, 2), (2, 0)])) == [0, 1, 2])
        let many = 100_000
        #expect(order(many, (1..<many).map { ($0, $0 - 1) }) == (0..<many).reversed())
    }

    @Test func `an older instance whose last lease ends during the disposal may wait for those that use it`()
        async throws
    {
        let (mayEnd, isReturned) = (Gate(), Gate())
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool(engine: Engine()) }
                .onDispose { (_: Pool) in
                    await isReturned.pass()
                    log.append("pool")
                }
            Registration(Server.self, lifetime: .singleton) { r in
                Server(engine: try await r.resolve(Pool.self, arguments: "a").engine)
            }
            .onDispose { _ in
                log.append("server")
                isReturned.open()
            }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
                .onDispose { _ in
                    mayEnd.open()
                    await isReturned.arrived()
                    log.append("thing")
                }
        }
        let body = await lease(in: container, until: mayEnd)
        _ = try await (container.resolve(Server.self), container.resolve(Thing.self))
        try await container.reset(Pool.self, arguments: "a")
        try await container.dispose()
        try await body.value
        #expect(log.entries == ["thing", "server", "pool"])
    }
}
