import Testing

@testable import AsyncDI

/// Notes when instances begin and end.
private final class Session: Sendable {
    let name: String
    private let log: Log<String>

    init(_ name: String, _ log: Log<String>) {
        self.name = name
        self.log = log
        log.append("open \(name)")
    }

    func close() { log.append("close \(name)") }
}

/// Successors of instances whose registration was replaced, or that another container decorates.
@Suite(.timeLimit(.minutes(10))) struct ReplacedSuccessorTests {
    private let log = Log<String>()

    private func registration(
        _ lifetime: Lifetime, _ prefix: String = "", closing: @escaping @Sendable () async -> Void = {}
    ) -> Registration<Session> {
        Registration(Session.self, lifetime: lifetime) { [log] (_, name: String) in Session(prefix + name, log) }
            .onDispose { session in
                await closing()
                session.close()
            }
    }

    enum Change: CaseIterable { case replacement, removal, decoration }

    @Test(arguments: Change.allCases)
    func `the instance of a former registration is closed before its successor is opened`(_ change: Change) async throws
    {
        let mayClose = Gate()
        let container = Container { registration(.multiton) { await mayClose.pass() } }
        _ = try await container.resolve(Session.self, arguments: "a")
        switch change {
        case .replacement:
            try await container.register(registration(.multiton))
        case .removal:
            _ = await container.unregister(Session.self)
            try await container.register(registration(.multiton))
        case .decoration:
            try await container.decorate(Session.self) { _, inner in inner }
        }
        await mayClose.arrived()
        let again = Task { try await container.resolve(Session.self, arguments: "a") }
        await container.core.waiters(of: Session.self, reach: 1)
        _ = try await container.resolve(Session.self, arguments: "b")
        mayClose.open()
        _ = try await again.value
        #expect(log.entries == ["open a", "open b", "close a", "open a"])
        try await container.dispose()
    }

    @Test func `the successor of a former registration waits for the lease of its predecessor`() async throws {
        let container = Container { registration(.multiton) }
        let again = try await container.withInstance(Session.self, arguments: "a") { _ in
            try await container.register(registration(.multiton, "new "))
            let again = Task.detached { try await container.resolve(Session.self, arguments: "a") }
            await container.core.waiters(of: Session.self, reach: 1)
            #expect(log.entries == ["open a"])
            return again
        }
        _ = try await again.value
        #expect(log.entries == ["open a", "close a", "open new a"])
    }

    @Test(arguments: [Lifetime.singleton, .multiton, Lifetime("login")], [1, 2])
    func `a reset reaches instances that other containers decorate`(_ lifetime: Lifetime, levels: Int) async throws {
        let root = Container { registration(lifetime) }
        var child = root
        var parents = [root]
        for level in 1...levels {
            child = Container(parent: child) {
                Decoration(Session.self) { [log] _, inner in Session("\(level) around \(inner.name)", log) }
            }
            parents.append(child)
        }
        let first = try await child.resolve(Session.self, arguments: "a")
        #expect(try await child.resolve(Session.self, arguments: "a") === first)
        try await root.reset(lifetime)
        let second = try await child.resolve(Session.self, arguments: "a")
        #expect(first !== second)
        try await root.reset(Session.self, arguments: "b")
        #expect(try await child.resolve(Session.self, arguments: "a") === second)
        try await root.reset(Session.self, arguments: "a")
        #expect(try await child.resolve(Session.self, arguments: "a") !== second)
        #expect(log.entries.filter { $0 == "open a" }.count == 3)
        try await root.drain(Session.self, arguments: "a")
        _ = try await child.resolve(Session.self, arguments: "a")
        #expect(log.entries.filter { $0 == "open a" }.count == 4)
        withExtendedLifetime(parents) {}
    }

    @Test(arguments: Change.allCases, [1, 2, 3])
    func `a wrapper that leases an instance does not hold up its successor`(_ change: Change, levels: Int)
        async throws
    {
        // Slow enough for a reset to return before them.
        @Sendable func closing() async { for _ in 0..<100 { await Task.yield() } }
        let root = Container { registration(.multiton(capacity: 8), closing: closing) }
        var containers = [root]
        for _ in 0..<levels {
            containers.append(
                Container(parent: containers.last) {
                    Decoration(Session.self) { [log] _, inner in Session("around \(inner.name)", log) }
                })
        }
        _ = try await containers[levels].resolve(Session.self, arguments: "a")
        switch change {
        case .replacement:
            try await root.register(registration(.multiton(capacity: 8), "new ", closing: closing))
        case .removal:
            _ = await root.unregister(Session.self)
            try await root.register(registration(.multiton(capacity: 8), "new ", closing: closing))
        case .decoration:
            try await root.decorate(Session.self) { [log] _, inner in Session("new \(inner.name)", log) }
        }
        #expect(try await root.resolve(Session.self, arguments: "a").name == "new a")
        #expect(try await containers[levels].resolve(Session.self, arguments: "a").name.hasSuffix("new a"))
        try await root.reset(Session.self, arguments: "a")
        // All of it is closed by now.
        let inner = change == .decoration ? "a" : "new a"
        #expect(log.entries.filter { $0 == "close \(inner)" }.count >= 1)
        #expect(log.entries.filter { $0.hasPrefix("close") }.count == 2)
    }

    @Test func `a reset reaches no wrapper of an instance that another container keeps`() async throws {
        let root = Container { Registration(Session.self, lifetime: .singleton) { [log] _ in Session("inner", log) } }
        let middle = Container(parent: root) {
            Registration(Int.self, lifetime: .scoped) { [log] _ in
                log.append("int")
                return 1
            }
        }
        let child = Container(parent: middle) {
            Decoration(Session.self) { [log] _, _ in Session("outer", log) }
            Decoration(Int.self) { _, number in number + 1 }
        }
        let first = try await child.resolve(Session.self)
        _ = try await child.resolve(Int.self)
        try await middle.reset()
        try await middle.reset(.scoped)
        try await middle.reset(Session.self)
        try await middle.reset(Int.self)
        #expect(try await child.resolve(Session.self) === first)
        #expect(try await child.resolve(Int.self) == 2)
        #expect(log.entries.filter { $0 == "int" }.count == 1)
        try await middle.reset(throughAncestors: true)
        #expect(try await child.resolve(Session.self) !== first)
    }

    @Test func `a reset of an instance renews its wrapper in another container`() async throws {
        let closed = Log<String>()
        let root = Container {
            Registration(Session.self, lifetime: .singleton) { [log] _ in Session("inner", log) }
                .onDispose { _ in closed.append("inner") }
        }
        let child = Container(parent: root) {
            Decoration(Session.self) { [log] _, inner in Session("outer", log) }
            Registration(String.self, lifetime: .singleton) { "\(try await $0.resolve(Session.self).name)" }
        }
        _ = try await child.resolve(String.self)
        try await root.reset(Session.self)
        #expect(closed.entries == ["inner"])
        #expect(try await child.resolve(Session.self).name == "outer")
        #expect(log.entries == ["open inner", "open outer", "open inner", "open outer"])
    }

    @Test func `a shared instance that a decoration asked for first is published`() async throws {
        let root = Container { Registration(Session.self, lifetime: .singleton) { [log] _ in Session("inner", log) } }
        let child = Container(parent: root) { Decoration(Session.self) { [log] _, _ in Session("outer", log) } }
        _ = try await child.resolve(Session.self)
        #expect(root.core.table.hit(ServiceKey(Session.self)) != nil)
        #expect(try await root.resolve(Session.self).name == "inner")
        #expect(try await child.resolve(Session.self).name == "outer")
    }

    @Test func `a drain inside a body that leases the instance is refused, and drops nothing`() async throws {
        let container = Container { registration(.multiton) }
        try await container.withInstance(Session.self, arguments: "a") { session in
            let error = await expect(.invalidOperation) { try await container.drain(Session.self, arguments: "a") }
            #expect(error?.message.contains("waits for its lease to end") == true)
            #expect(try await container.resolve(Session.self, arguments: "a") === session)
            try await container.drain(Session.self, arguments: "b")
        }
        #expect(log.entries == ["open a"])
    }
}
