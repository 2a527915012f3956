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

    @Test func `without a test container there are no events`() async throws {
        await #expect(throws: TestContainerError.self) {
            try await Task.detached { try await Container().events.all() }.value
        }
    }
}
