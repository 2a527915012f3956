import Testing

@testable import AsyncDI

/// Opens and closes, and remembers in which order.
private final class File: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}

private final class Reader: Sendable {
    let file: File
    init(_ file: File) { self.file = file }
}

private struct BrokenDisk: Error {}

/// There are never two instances of one key at once, also when a creation is dropped before it has ended.
@Suite(.timeLimit(.minutes(10))) struct EarlierCreationTests {
    private let log = Log<String>()
    private let opening = DrivenFactory<Bool>()

    /// Each creation notes its beginning and its end, and opens a file when the test says so.
    private func registration(_ lifetime: Lifetime = .multiton) -> Registration<File> {
        Registration(File.self, lifetime: lifetime) { [log, opening] (_, _: String) in
            let number = opening.count
            log.append("begin \(number)")
            do {
                _ = try await opening.run()
            } catch {
                log.append("fail \(number)")
                throw error
            }
            return File(number)
        }
        .onDispose { [log] file in log.append("close \(file.number)") }
    }

    private func request(_ container: Container, _ arguments: String = "a") -> Task<File, any Error> {
        Task { try await container.resolve(File.self, arguments: arguments) }
    }

    /// A request whose creation is reset before its end, and one that waits for that end.
    private func requestsAroundReset(
        of container: Container
    ) async throws -> (first: Task<File, any Error>, second: Task<File, any Error>) {
        let first = request(container)
        await opening.began()
        try await container.reset()
        let second = request(container)
        await container.core.waiters(of: File.self, reach: 2)
        return (first, second)
    }

    enum Change: CaseIterable { case reset, resetOfKey, resetOfLifetime, replacement, removal, decoration }

    private func make(_ change: Change, in container: Container) async throws {
        switch change {
        case .reset: try await container.reset()
        case .resetOfKey: try await container.reset(File.self, arguments: "a")
        case .resetOfLifetime: try await container.reset(.multiton)
        case .replacement: try await container.register(registration())
        case .removal:
            _ = await container.unregister(File.self)
            try await container.register(registration(.multiton(capacity: 9)))
        case .decoration: try await container.decorate(File.self) { _, inner in inner }
        }
    }

    @Test(arguments: Change.allCases)
    func `an instance in creation is closed before its successor is opened`(_ change: Change) async throws {
        let container = Container { registration() }
        let first = request(container)
        await opening.began()
        try await make(change, in: container)
        let second = request(container)
        await container.core.waiters(of: File.self, reach: 2)
        #expect(opening.count == 1)
        // Another key does not wait.
        let other = request(container, "b")
        await opening.began(2)
        opening.answer(true, run: 1)
        #expect(try await other.value.number == 1)
        opening.answer(true)
        #expect(try await first.value.number == 0)
        opening.answer(true, run: 2)
        #expect(try await second.value.number == 2)
        #expect(log.entries.filter { $0 != "begin 1" && $0 != "close 1" } == ["begin 0", "close 0", "begin 2"])
        #expect(try await request(container).value === second.value)
        try await container.dispose()
        #expect(log.entries.filter { $0 == "close 2" }.count == 1)
    }

    @Test func `the successor of a creation that fails begins after the failure`() async throws {
        let container = Container { registration() }
        let (first, second) = try await requestsAroundReset(of: container)
        opening.fail(BrokenDisk())
        await #expect(throws: BrokenDisk.self) { try await first.value }
        opening.answer(true, run: 1)
        _ = try await second.value
        #expect(log.entries == ["begin 0", "fail 0", "begin 1"])
    }

    @Test func `a creation that is dropped while it waits keeps no successor from waiting`() async throws {
        let container = Container { registration() }
        let (first, second) = try await requestsAroundReset(of: container)
        try await container.reset()
        let third = request(container)
        await container.core.waiters(of: File.self, reach: 3)
        // The second creation ends before the first one does.
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        await container.core.waiters(of: File.self, reach: 2)
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        while container.core.withState({ $0.flights.all.count }) != 1 { await Task.yield() }
        let fourth = request(container)
        await container.core.waiters(of: File.self, reach: 2)
        #expect(opening.count == 1)
        opening.answer(true)
        opening.answer(true, run: 1)
        _ = try await (first.value, fourth.value)
        #expect(log.entries == ["begin 0", "close 0", "begin 1"])
    }

    @Test func `a waiting successor can be abandoned, and is requested again`() async throws {
        let container = Container { registration() }
        let (first, second) = try await requestsAroundReset(of: container)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        opening.answer(true)
        _ = try await first.value
        opening.answer(true, run: 1)
        #expect(try await request(container).value.number == 1)
        #expect(log.entries == ["begin 0", "close 0", "begin 1"])
    }

    @Test func `a successor waits for a creation that was abandoned and goes on`() async throws {
        let container = Container { registration().whenAbandoned(.finish) }
        let first = request(container)
        await opening.began()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        try await container.reset()
        let second = request(container)
        await container.core.waiters(of: File.self, reach: 1)
        #expect(opening.count == 1)
        opening.answer(true)
        opening.answer(true, run: 1)
        _ = try await second.value
        #expect(log.entries == ["begin 0", "close 0", "begin 1"])
    }

    @Test func `a successor waits for the leases of an instance in creation`() async throws {
        let container = Container { registration() }
        let mayEnd = Gate()
        let body = Task { try await container.withInstance(File.self, arguments: "a") { _ in await mayEnd.pass() } }
        await opening.began()
        try await container.reset()
        let second = request(container)
        await container.core.waiters(of: File.self, reach: 2)
        opening.answer(true)
        await mayEnd.arrived()
        #expect(opening.count == 1)
        mayEnd.open()
        try await body.value
        opening.answer(true, run: 1)
        _ = try await second.value
        #expect(log.entries == ["begin 0", "close 0", "begin 1"])
    }

    @Test func `a container is disposed while a successor waits`() async throws {
        let container = Container { registration() }
        let (first, second) = try await requestsAroundReset(of: container)
        let disposal = Task { try await container.dispose() }
        await expect(.disposed) { _ = try await second.value }
        opening.answer(true)
        await expect(.disposed) { _ = try await first.value }
        try await disposal.value
        #expect(log.entries == ["begin 0", "close 0"])
    }

    @Test func `a drain of the key waits for the earlier creation and for its successor`() async throws {
        let container = Container { registration() }
        let (first, second) = try await requestsAroundReset(of: container)
        let drain = Task {
            try await container.drain(File.self, arguments: "a")
            log.append("drained")
        }
        while container.core.withState({ $0.flights.entries.values.count(where: \.isInvalidated) }) != 2 {
            await Task.yield()
        }
        opening.answer(true)
        _ = try await first.value
        try await drain.value
        #expect(log.entries.filter { $0 != "begin 1" } == ["begin 0", "close 0", "drained"])
        // Its creation was dropped before its factory ran.
        opening.answer(true, run: 1)
        #expect(try await second.value.number == 1)
    }

    @Test func `a drain of the container lets a waiting request end undisturbed`() async throws {
        let container = Container { registration() }
        let (first, second) = try await requestsAroundReset(of: container)
        let drain = Task { try await container.drain() }
        while !container.core.table.isDraining { await Task.yield() }
        opening.answer(true)
        opening.answer(true, run: 1)
        #expect(try await first.value.number == 0)
        #expect(try await second.value.number == 1)
        try await drain.value
        #expect(log.entries == ["begin 0", "close 0", "begin 1", "close 1"])
    }

    @Test func `a successor that is abandoned while it waits is finished if its registration says so`() async throws {
        let container = Container { registration().whenAbandoned(.finish) }
        let (first, second) = try await requestsAroundReset(of: container)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        opening.answer(true)
        _ = try await first.value
        await opening.began(2)
        opening.answer(true, run: 1)
        #expect(try await request(container).value.number == 1)
    }

    @Test func `an instance that another one received early is closed before its successor is opened`() async throws {
        let mayEnd = Gate()
        let container = Container {
            registration().injectProperties { r, _ in _ = try await r.resolve(Reader.self) }
            Registration(Reader.self, lifetime: .singleton) { r in
                let file = try await r.resolve(File.self, arguments: "a")
                await mayEnd.pass()
                return Reader(file)
            }
        }
        let first = request(container)
        opening.answer(true)
        await mayEnd.arrived()
        try await container.reset(File.self)
        let second = request(container)
        await container.core.waiters(of: File.self, reach: 2)
        mayEnd.open()
        opening.answer(true, run: 1)
        #expect(try await first.value.number == 0)
        #expect(try await second.value.number == 1)
        #expect(log.entries == ["begin 0", "close 0", "begin 1"])
    }

    @Test func `a reset inside a cycle of properties is an error that says so`() async throws {
        let mayResolve = Gate()
        let container = Container {
            registration().injectProperties { r, _ in _ = try await r.resolve(Reader.self) }
            Registration(Reader.self, lifetime: .singleton) { r in
                await mayResolve.pass()
                return Reader(try await r.resolve(File.self, arguments: "a"))
            }
        }
        let first = request(container)
        opening.answer(true)
        await mayResolve.arrived()
        try await container.reset(File.self)
        mayResolve.open()
        let error = await expect(.circularDependency) { _ = try await first.value }
        #expect(error?.message.contains("was reset or replaced during its creation") == true)
        // Another request begins again.
        opening.answer(true, run: 1)
        #expect(try await request(container).value.number == 1)
        #expect(log.entries == ["begin 0", "close 0", "begin 1"])
    }

    @Test func `an instance that a child container decorates is closed before its successor is opened`() async throws {
        let root = Container { registration() }
        let decorating = Gate()
        let child = Container(parent: root) {
            Decoration(File.self) { [log] _, file in
                log.append("decorate \(file.number)")
                await decorating.pass()
                return file
            }
        }
        let first = request(child)
        await opening.began()
        try await root.reset(File.self, arguments: "a")
        let second = request(child)
        await child.core.waiters(of: File.self, reach: 2)
        opening.answer(true)
        await decorating.arrived()
        #expect(log.entries == ["begin 0", "decorate 0"])
        decorating.open()
        opening.answer(true, run: 1)
        #expect(try await first.value.number == 0)
        #expect(try await second.value.number == 1)
        #expect(log.entries == ["begin 0", "decorate 0", "close 0", "begin 1", "decorate 1"])
        try await child.dispose()
    }

    @Test func `a factory that resets its own key and requests it is a cycle`() async throws {
        let container = Container()
        try await container.register(
            Registration(File.self, lifetime: .multiton) { [log] (r: Resolver, name: String) in
                log.append("begin")
                // Otherwise, it would go on without end.
                if log.entries.count > 9 { throw BrokenDisk() }
                try await container.reset(File.self, arguments: name)
                return try await r.resolve(File.self, arguments: name)
            }
            .onDispose { _ in })
        await expect(.circularDependency, path: ["File(String)", "File(String)"]) {
            _ = try await container.resolve(File.self, arguments: "a")
        }
        #expect(log.entries == ["begin"])
        try await container.dispose()
    }

    @Test func `the successor of a reset singleton begins beside the earlier creation`() async throws {
        let container = Container { registration(.singleton) }
        let first = request(container)
        await opening.began()
        try await container.reset()
        let second = request(container)
        await opening.began(2)
        opening.answer(true, run: 1)
        #expect(try await second.value.number == 1)
        opening.answer(true)
        #expect(try await first.value.number == 0)
    }

    @Test func `a kept resolver does not keep the leased instances of a reset creation`() async throws {
        let alive = Locked(0)
        let container = Container {
            Registration(Mortal.self, lifetime: .multiton) { (_, n: Int) in Mortal(n, counting: alive) }
            Registration(Keeper.self, lifetime: .multiton) { [opening] (r, n: Int) in
                _ = try await r.lease(Mortal.self, arguments: n)
                _ = try await opening.run()
                return Keeper(r)
            }
            .onDispose { [log] _ in log.append("close") }
        }
        let request = Task { try await container.resolve(Keeper.self, arguments: 1) }
        await opening.began()
        try await container.reset(Keeper.self, arguments: 1)
        #expect(alive.withLock { $0 } == 1)
        opening.answer(true)
        let keeper = try await request.value
        try await container.dispose()
        #expect(log.entries == ["close"])
        // The task of the disposal may release its last references a moment later.
        await until { alive.withLock { $0 } == 0 }
        withExtendedLifetime(keeper) {}
    }

    @Test func `a snapshot says that the successor waits for the earlier creation`() async throws {
        let container = Container { registration() }
        let (first, second) = try await requestsAroundReset(of: container)
        let targets = container.activity().creations.flatMap(\.waits).map(\.target)
        #expect(targets == [#"the earlier creation of File("a")"#])
        opening.answer(true)
        opening.answer(true, run: 1)
        _ = try await (first.value, second.value)
        #expect(container.activity().creations.isEmpty)
    }
}
