import Testing

@testable import AsyncDI

/// How long a call waits for a disposal.
@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
    @Test(arguments: [Duration.seconds(Int64.max), .nanoseconds(Int64.max), .seconds(86_400 * 365)])
    func `a deadline that no clock reaches does no harm`(deadline: Duration) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in await Task.yield() }
        }
        _ = try await container.resolve(Thing.self)
        try await container.dispose(deadline: deadline)
        let other = Container { Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.onDispose { _ in } }
        _ = try await other.resolve(Thing.self)
        try await other.drain(deadline: deadline)
    }

    @Test func `a clock that refuses to sleep does not lose the deadline`() async throws {
        let mayClose = Gate()
        let container = Container(clock: SleeplessClock()) {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in
                await mayClose.pass()
            }
        }
        _ = try await container.resolve(Thing.self)
        let error = await #expect(throws: DisposalError.self) {
            try await finishes { try await container.dispose(deadline: .milliseconds(1)) }
        }
        #expect(error.map { ResolutionError.Code.disposalTimedOut ~= $0.errors[0] } == true)
        #expect(error?.description.contains("all the same") == false, "it has not been disposed yet")
        mayClose.open()
        try await container.dispose()
    }

    @Test func `the error of a deadline names the leased instance, with its arguments`() async throws {
        let container = Container(name: "app") {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
            Registration(String.self, lifetime: .multiton) { (_, name: String) in name }.onDispose { _ in }
        }
        let mayEnd = Gate()
        let body = Task { try await container.withInstance(Thing.self, arguments: 7) { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        #expect(await late { try await container.dispose(deadline: .zero) } == "the last lease of Thing(7)")
        mayEnd.open()
        try await body.value
        try await container.dispose()
    }

    @Test func `the error of a deadline names every instance that a body leases`() async throws {
        let factory = DrivenFactory<String>()
        let container = Container(name: "app") {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
            Registration(String.self, lifetime: .singleton) { _ in try await factory.run() }
        }
        let mayEnd = Gate()
        let bodies = Task {
            try await container.withInstance(Thing.self, arguments: 7) { _ in
                try await container.withInstance(Thing.self, arguments: 8) { _ in
                    await mayEnd.pass()
                }
            }
        }
        await mayEnd.arrived()
        let request = Task { try await container.resolve(String.self) }
        await factory.began()
        #expect(
            await late { try await container.dispose(deadline: .zero) }
                == "the creation of String, and then for the last lease of Thing(7), Thing(8)")
        factory.answer("")
        await until {
            container.core.disposal.subject?.facts(in: container.core).text.hasPrefix("the last lease") == true
        }
        let second = try #require(await late { try await container.dispose(deadline: .zero) })
        #expect(second.contains("Thing(7)") && second.contains("Thing(8)"))
        mayEnd.open()
        try await bodies.value
        try await container.dispose()
        _ = await request.result
    }

    @Test(arguments: [false, true])
    func `the error of a deadline names the hook in a scope below, or in one below that`(isDeep: Bool) async throws {
        let mayClose = Gate()
        let container = Container(name: "app") {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
            Registration(String.self, lifetime: .scoped) { _ in "" }.onDispose { _ in
                await mayClose.pass()
            }
        }
        let outer = try await container.openScope("request-42")
        let scope = isDeep ? try await outer.openScope("part") : outer
        _ = try await scope.resolve(String.self)
        let disposal = Task { try await container.dispose() }
        await mayClose.arrived()
        #expect(
            await late { try await container.dispose(deadline: .zero) }
                == "the onDispose of String in \(scope.core.displayName)")
        mayClose.open()
        try await disposal.value
    }

    @Test func `the error of a deadline names the first of many creations`() async throws {
        let mayEnd = Gate()
        let container = Container(name: "app") {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in
                await mayEnd.pass()
                return Thing(n)
            }
        }
        let requests = (1...9).map { number in Task { _ = try await container.resolve(Thing.self, arguments: number) } }
        await mayEnd.arrived(9)
        let things = (1...5).map { "Thing(\($0))" }.joined(separator: ", ")
        #expect(
            await late { try await container.dispose(deadline: .zero) } == "the creation of \(things) and 4 more")
        mayEnd.open()
        for request in requests { await #expect(throws: ResolutionError.self) { try await request.value } }
        try await container.dispose()
    }

    @Test func `the error of a deadline names all instances that are being closed`() async throws {
        let (mayClose, container) = (Gate(), Container(name: "app"))
        try await container.register(
            Registration(Thing.self, lifetime: .multiton(capacity: 1)) { (_, n: Int) in Thing(n) }
                .onDispose { _ in await mayClose.pass() })
        for number in 1...3 { _ = try await container.resolve(Thing.self, arguments: number) }
        await mayClose.arrived(2)
        let text = await late { try await container.dispose(deadline: .zero) } ?? ""
        #expect(["Thing(1)", "Thing(2)"].allSatisfy(text.contains), "\(text)")
        mayClose.open()
        try await container.dispose()
    }

    /// The work that the error of a deadline names.
    private func late(_ disposal: () async throws -> Void) async -> String? {
        do { try await disposal() } catch let error as DisposalError {
            // A single instance has the place of its registration.
            return error.description
                .firstMatch(of: /it waits for (.*?)\.( Registered at .*\/DeadlineTests\.swift:[0-9]+\.)? It continues/)
                .map { String($0.1) }
        } catch {}
        return nil
    }

    @Test func `a key is drained when its last lease ends, and its successor comes after it`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in
                log.append("open \(n)")
                return Thing(n)
            }
            .onDispose { thing in log.append("close \(thing.number)") }
        }
        let mayEnd = Gate()
        let body = Task { try await container.withInstance(Thing.self, arguments: 1) { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        let drain = Task { try await container.drain(Thing.self, arguments: 1) }
        while container.core.withState({ !$0.instances.isEmpty }) { await Task.yield() }
        let successor = Task { try await container.withInstance(Thing.self, arguments: 1) { $0.number } }
        await container.core.waiters(of: Thing.self, reach: 1)
        #expect(log.entries == ["open 1"])
        mayEnd.open()
        try await body.value
        try await drain.value
        #expect(try await successor.value == 1)
        #expect(log.entries == ["open 1", "close 1", "open 1"])
    }

    @Test func `a body that drains its leased instance gets an error`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }.onDispose { _ in }
        }
        try await finishes {
            try await container.withInstance(Thing.self, arguments: 1) { _ in
                await expect(.invalidOperation) { try await container.drain(Thing.self, arguments: 1) }
                try await container.drain(Thing.self, arguments: 2)
            }
        }
    }

    @Test func `the drain of a key ends at its deadline, and throws the errors of its hooks`() async throws {
        let clock = ManualClock()
        let container = Container(clock: clock) {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
                .onDispose { _ in throw TestError(4) }
        }
        let mayEnd = Gate()
        let body = Task { try await container.withInstance(Thing.self, arguments: 1) { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        let drain = Task { try await container.drain(Thing.self, arguments: 1, deadline: .seconds(3)) }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(3))
        let late = await #expect(throws: DisposalError.self) { try await drain.value }
        #expect(late.map { ResolutionError.Code.disposalTimedOut ~= $0.errors[0] } == true)
        #expect(late?.description.contains("the end of its leases, which are held by 1 body") == true)
        mayEnd.open()
        _ = try? await body.value
        _ = try await container.resolve(Thing.self, arguments: 3)
        let failed = await #expect(throws: DisposalError.self) { try await container.drain(Thing.self, arguments: 3) }
        #expect(failed?.errors as? [TestError] == [TestError(4)])
    }
}
