import Testing

@testable import AsyncDI

/// Opens and closes, and remembers in which order.
private final class File: Sendable {
    let name: String
    private let log: Log<String>
    init(_ name: String, _ log: Log<String>) {
        self.name = name
        self.log = log
        log.append("open \(name)")
    }
    func close() { log.append("close \(name)") }
}

/// There are never two instances of one key at once.
@Suite(.timeLimit(.minutes(10))) struct SuccessorTests {
    private let log = Log<String>()

    private func container(
        _ lifetime: Lifetime, closing: @escaping @Sendable (String) async throws -> Void = { _ in }
    ) -> Container {
        Container {
            Registration(File.self, lifetime: lifetime) { [log] _, name in File(name, log) }
                .onDispose { file in
                    try await closing(file.name)
                    file.close()
                }
        }
    }

    @Test(arguments: [Lifetime.multiton(capacity: 1), .multiton(capacity: 1, idle: .seconds(3600))])
    func `an evicted instance is closed before its successor is opened`(lifetime: Lifetime) async throws {
        let mayClose = Gate()
        let container = container(lifetime) { _ in await mayClose.pass() }
        _ = try await container.resolve(File.self, arguments: "a")
        _ = try await container.resolve(File.self, arguments: "b")
        await mayClose.arrived()
        let again = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        #expect(log.entries == ["open a", "open b"])
        mayClose.open()
        _ = try await again.value
        #expect(log.entries.prefix(4) == ["open a", "open b", "close a", "open a"])
    }

    @Test(arguments: [Lifetime.multiton, .singleton, .scoped, Lifetime("custom")])
    func `a reset instance is closed before its successor is opened`(lifetime: Lifetime) async throws {
        let mayClose = Gate()
        let container = container(lifetime) { _ in await mayClose.pass() }
        _ = try await container.resolve(File.self, arguments: "a")
        let reset = Task { try await container.reset(File.self, arguments: "a") }
        await mayClose.arrived()
        let again = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        _ = try await container.resolve(File.self, arguments: "another key does not wait")
        mayClose.open()
        _ = try await (again.value, reset.value)
        #expect(log.entries == ["open a", "open another key does not wait", "close a", "open a"])
    }

    @Test func `a successor waits for the last lease of its predecessor`() async throws {
        let container = container(.multiton)
        let mayEnd = Gate()
        let body = Task { try await container.withInstance(File.self, arguments: "a") { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        try await container.reset(File.self, arguments: "a")
        let again = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        #expect(log.entries == ["open a"])
        mayEnd.open()
        try await body.value
        _ = try await again.value
        #expect(log.entries == ["open a", "close a", "open a"])
    }

    @Test func `a waiting successor can be abandoned, and is asked for again`() async throws {
        let mayClose = Gate()
        let container = container(.multiton) { _ in await mayClose.pass() }
        _ = try await container.resolve(File.self, arguments: "a")
        let reset = Task { try await container.reset(File.self, arguments: "a") }
        await mayClose.arrived()
        let again = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        again.cancel()
        await #expect(throws: CancellationError.self) { try await again.value }
        mayClose.open()
        try await reset.value
        _ = try await container.resolve(File.self, arguments: "a")
        #expect(log.entries == ["open a", "close a", "open a"])
    }

    @Test func `a successor that is reset while it waits is never opened, and its requests share the next one`()
        async throws
    {
        let mayClose = Gate()
        let container = container(.multiton) { _ in await mayClose.pass() }
        _ = try await container.resolve(File.self, arguments: "a")
        let reset = Task { try await container.reset(File.self, arguments: "a") }
        await mayClose.arrived()
        let second = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        try await container.reset(File.self, arguments: "a")
        let third = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 2)
        mayClose.open()
        try await reset.value
        #expect(try await second.value === third.value)
        #expect(log.entries == ["open a", "close a", "open a"])
    }

    @Test func `a container is disposed while a successor waits`() async throws {
        let mayClose = Gate()
        let container = container(.multiton) { _ in await mayClose.pass() }
        _ = try await container.resolve(File.self, arguments: "a")
        let reset = Task { try await container.reset(File.self, arguments: "a") }
        await mayClose.arrived()
        let again = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        let disposal = Task { try await container.dispose() }
        await expect(.disposed) { _ = try await again.value }
        mayClose.open()
        _ = try await (reset.value, disposal.value)
        #expect(log.entries == ["open a", "close a"])
    }

    @Test func `an instance whose creation failed after its factory is closed before the next attempt`() async throws {
        let failures = Counter()
        let mayClose = Gate()
        let container = Container {
            Registration(File.self, lifetime: .multiton) { [log] _, name in File(name, log) }
                .onCreate { _, _ in if failures.increment() == 1 { throw TestError(1) } }
                .onDispose { file in
                    await mayClose.pass()
                    file.close()
                }
        }
        await #expect(throws: TestError(1)) { _ = try await container.resolve(File.self, arguments: "a") }
        let again = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        mayClose.open()
        _ = try await again.value
        #expect(log.entries == ["open a", "close a", "open a"])
    }

    @Test func `an instance that keeps its resolver does not keep its predecessors`() async throws {
        let mayClose = Gate()
        let container = Container {
            Registration(Keeper.self, lifetime: .singleton) { r in Keeper(r) }.onDispose { _ in await mayClose.pass() }
        }
        weak var first: Keeper?
        do { first = try await container.resolve(Keeper.self) }
        let reset = Task { try await container.reset(Keeper.self) }
        await mayClose.arrived()
        let successor = Task { try await container.resolve(Keeper.self) }
        await container.core.waiters(of: Keeper.self, reach: 1)
        mayClose.open()
        let second = try await successor.value
        try await reset.value
        await until { first == nil }
        withExtendedLifetime(second) {}
        try await container.dispose()
    }

    // MARK: Waits that would never end

    @Test func `a hook that needs the successor of its own instance gets an error`() async throws {
        let boxes = Log<Container>()
        let container = container(.multiton) { name in
            await expect(.circularDependency) { _ = try await boxes.entries[0].resolve(File.self, arguments: name) }
        }
        boxes.append(container)
        _ = try await container.resolve(File.self, arguments: "a")
        try await finishes { try await container.reset(File.self, arguments: "a") }
        #expect(log.entries == ["open a", "close a"])
    }

    @Test func `a hook of another lifetime may ask for the new instance`() async throws {
        let boxes = Log<Container>()
        let container = container(.singleton) { name in
            guard boxes.entries.count == 1 else { return }
            boxes.append(boxes.entries[0])
            _ = try await boxes.entries[0].resolve(File.self, arguments: name)
        }
        boxes.append(container)
        _ = try await container.resolve(File.self, arguments: "a")
        try await finishes { try await container.reset(File.self, arguments: "a") }
        #expect(log.entries == ["open a", "open a", "close a"])
    }

    @Test func `a body that resets its leased instance and requests it again gets an error`() async throws {
        let container = container(.multiton)
        try await finishes {
            try await container.withInstance(File.self, arguments: "a") { _ in
                try await container.reset(File.self, arguments: "a")
                await expect(.circularDependency) { _ = try await container.resolve(File.self, arguments: "a") }
            }
            _ = try await container.resolve(File.self, arguments: "a")
        }
        #expect(log.entries == ["open a", "close a", "open a"])
    }

    /// A container with a file that a singleton leases.
    private func containerWithLongLease() async throws -> Container {
        let container = Container {
            Registration(File.self, lifetime: .multiton) { [log] (_, name: String) in File(name, log) }
                .onDispose { $0.close() }
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.lease(File.self, arguments: "a")
                return Thing()
            }
        }
        _ = try await container.resolve(Thing.self)
        return container
    }

    @Test func `a successor whose predecessor is leased for as long as the container lives gets an error`() async throws
    {
        let container = try await containerWithLongLease()
        try await container.reset(File.self, arguments: "a")
        await expect(.invalidOperation) { _ = try await container.resolve(File.self, arguments: "a") }
        try await container.reset(Thing.self)
        _ = try await container.resolve(File.self, arguments: "a")
        #expect(log.entries == ["open a", "close a", "open a"])
        try await container.dispose()
    }

    @Test func `a drain that an instance outside of scopes would hold up changes nothing`() async throws {
        let container = try await containerWithLongLease()
        await expect(.invalidOperation) { try await container.drain(File.self, arguments: "a") }
        #expect(try await container.withInstance(File.self, arguments: "a") { _ in 7 } == 7)
        #expect(log.entries == ["open a"])
        try await container.dispose()
    }

    @Test(arguments: [Lifetime.singleton, .scoped], [true, false])
    func `a successor whose predecessor is leased outside of scopes gets an error`(_ lifetime: Lifetime, isChild: Bool)
        async throws
    {
        let container = Container {
            Registration(File.self, lifetime: .multiton) { [log] (_, name: String) in File(name, log) }
                .onDispose { $0.close() }
        }
        let holder = Registration(Thing.self, lifetime: lifetime) { r in
            _ = try await r.lease(File.self, arguments: "a")
            return Thing()
        }
        let other =
            isChild ? Container(parent: container) { holder } : Container(fallbacks: [container]) { holder }
        _ = try await other.resolve(Thing.self)
        try await container.reset(File.self, arguments: "a")
        await expect(.invalidOperation) {
            _ = try await finishes { try await container.resolve(File.self, arguments: "a") }
        }
        try await container.withScope { scope in
            _ = await expect(.invalidOperation) {
                _ = try await finishes { try await scope.resolve(File.self, arguments: "a") }
            }
        }
        await expect(.invalidOperation) {
            try await finishes { try await container.drain(File.self, arguments: "a") }
        }
        try await other.dispose()
        _ = try await container.resolve(File.self, arguments: "a")
        #expect(log.entries == ["open a", "close a", "open a"])
        try await container.dispose()
    }

    @Test func `a hook that needs a property cycle with the successor of its own instance does not hang`() async throws
    {
        let boxes = Log<Container>()
        let container = Container {
            Registration(File.self, lifetime: .singleton) { [log] _ in File("a", log) }
                .injectProperties { r, _ in _ = try await r.resolve(Thing.self) }
                .onDispose { file in
                    if boxes.entries.count == 1 { _ = try await boxes.entries[0].resolve(Thing.self) }
                    file.close()
                }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
                .injectProperties { r, _ in _ = try await r.resolve(File.self) }
        }
        boxes.append(container)
        _ = try await container.resolve(File.self)
        try await finishes { try await container.reset(.singleton) }
        boxes.append(container)
        try await container.dispose()
        #expect(log.entries == ["open a", "close a", "open a", "close a"])
    }

    @Test(arguments: [false, true])
    func `a successor waits for a scope whose instance holds the lease`(isOfChild: Bool) async throws {
        let container = Container {
            Registration(File.self, lifetime: .multiton) { [log] (_, name: String) in File(name, log) }
                .onDispose { $0.close() }
            Registration(Thing.self, lifetime: .scoped) { r in
                _ = try await r.lease(File.self, arguments: "a")
                return Thing()
            }
        }
        let parent = isOfChild ? Container(parent: container) : container
        let scope = try await parent.openScope()
        _ = try await scope.resolve(Thing.self)
        try await container.reset(File.self, arguments: "a")
        let again = Task { try await container.resolve(File.self, arguments: "a") }
        await container.core.waiters(of: File.self, reach: 1)
        try await scope.dispose()
        _ = try await again.value
        #expect(log.entries == ["open a", "close a", "open a"])
        try await parent.dispose()
        try await container.dispose()
    }

    @Test func `a hook that needs the successor of an instance later in its reset gets an error`() async throws {
        let boxes = Log<Container>()
        let container = container(.multiton) { name in
            guard name == "b" else { return }
            await expect(.circularDependency) { _ = try await boxes.entries[0].resolve(File.self, arguments: "a") }
        }
        boxes.append(container)
        // One after the other, because an instance that outlives both holds one of them.
        try await container.register(Thing.self, lifetime: .singleton) { r in
            _ = try await r.resolve(File.self, arguments: "a")
            return Thing()
        }
        _ = try await container.resolve(Thing.self)
        _ = try await container.resolve(File.self, arguments: "b")
        try await finishes { try await container.reset(File.self) }
        #expect(log.entries == ["open a", "open b", "close b", "close a"])
    }

    @Test func `a hook can have the successor of an instance that is disposed beside its own`() async throws {
        let boxes = Log<Container>()
        let container = container(.multiton) { name in
            guard name == "b", boxes.entries.count == 1 else { return }
            _ = try? await boxes.entries[0].resolve(File.self, arguments: "a")
        }
        boxes.append(container)
        _ = try await container.resolve(File.self, arguments: "a")
        _ = try await container.resolve(File.self, arguments: "b")
        try await finishes { try await container.reset(File.self) }
        #expect(log.entries == ["open a", "open b", "close a", "open a", "close b"])
    }

    @Test func `hooks that need the successors of each other's instances get errors`() async throws {
        let (boxes, errors) = (Log<Container>(), Log<ResolutionError.Code>())
        let container = container(.multiton) { name in
            guard boxes.entries.count == 1 else { return }
            do {
                _ = try await boxes.entries[0].resolve(File.self, arguments: name == "a" ? "b" : "a")
            } catch let error as ResolutionError {
                errors.append(error.code)
            } catch {}
        }
        boxes.append(container)
        _ = try await container.resolve(File.self, arguments: "a")
        _ = try await container.resolve(File.self, arguments: "b")
        try await finishes { try await container.reset(File.self) }
        #expect(errors.entries.contains(.circularDependency))
        #expect(log.entries.count { $0.hasPrefix("close") } == 2)
        boxes.append(container)
        try await container.dispose()
    }
}
