import AsyncDI
import AsyncDITesting
import Testing

@Suite(.timeLimit(.minutes(10)), .container { ShopModule() })
struct ContainerEventsTests {
    @Test func `an event that has happened is found`() async throws {
        _ = try await Container.test.resolve(Ledger.self)
        let entry = try await Container.test.events.first(.created, of: Ledger.self)
        #expect(entry.kind == .created)
        #expect(entry.container == "test")
        try await Container.test.reset(Ledger.self)
        let kinds = try await Container.test.events.all().filter { $0.key?.service == Ledger.self }.map(\.kind)
        #expect(kinds == [.registered, .created, .evicted, .disposed])
    }

    @Test func `an event to come is waited for`() async throws {
        let events = try Container.test.events
        async let waited = events.first { $0.kind == .scopeClosed }
        try await Container.test.withScope("request") { _ in }
        #expect(try await "\(waited)".contains("request"))
    }

    @Test func `a waiter that is cancelled leaves`() async throws {
        let events = try Container.test.events
        let task = Task { try await events.first { _ in false } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `after the end, waiting for an event that never happened is an error`() async throws {
        let events = try await withTestContainer {
            ShopModule()
        } operation: { container in
            _ = try await container.resolve(Ledger.self)
            return try container.events
        }
        let error = await #expect(throws: TestContainerError.self) {
            try await events.first { $0.kind == .scopeOpened }
        }
        #expect(error?.description.contains("created Ledger") == true)
        #expect(try await events.first(.disposed, of: Ledger.self).kind == .disposed)
    }

    @Test func `when the test disposes its container, a wait for an event that never came ends`() async throws {
        let events = try Container.test.events
        _ = try await Container.test.resolve(Ledger.self)
        let (early, late) = (Task { try await events.first { $0.kind == .scopeOpened } }, Gate())
        let last = Task { try await events.first { $0.kind == .disposed } }
        let waiting = Task {
            await late.wait()
            try await events.first { $0.kind == .scopeOpened }
        }
        try await Container.test.dispose()
        late.open()
        await #expect(throws: TestContainerError.self) { try await early.value }
        await #expect(throws: TestContainerError.self) { try await waiting.value }
        // The last event comes before the end.
        #expect(try await last.value.key?.service == Ledger.self)
    }

    @Test func `a wait that is over leaves the container open`() async throws {
        let events = try Container.test.events
        let task = Task { try await events.first { _ in false } }
        async let found = events.first(.created, of: Ledger.self)
        let ledger = try await Container.test.resolve(Ledger.self)
        _ = try await found
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await Container.test.resolve(Ledger.self) === ledger)
    }

    @Test func `a scope has the events of its test, and another container is an error`() async throws {
        try await Container.test.withScope("request") { scope in
            _ = try await Container.test.resolve(Ledger.self)
            #expect(try await scope.events.first(.created, of: Ledger.self).container == "test")
        }
        for container in [Container(), Container(name: "other"), Container(name: "child", parent: try Container.test)] {
            let error = #expect(throws: TestContainerError.self) { try container.events }
            #expect(error?.description.contains("Container.test.events") == true)
        }
    }

    @Test func `without a test container there are no events`() async throws {
        await #expect(throws: TestContainerError.self) {
            try await Task.detached { try await Container().events.all() }.value
        }
    }
}
