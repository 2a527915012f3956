import Testing

@testable import AsyncDI

private final class Work: Sendable {}

/// The drain of a scope whose own work is under way.
@Suite(.timeLimit(.minutes(10))) struct ScopeDrainTests {
    private let log = Log<String>()

    private var container: Container {
        Container(name: "app") {
            Registration(Work.self, lifetime: .scoped) { _ in Work() }
                .onDispose { [log] _, reason in log.append(reason.error == nil ? "committed" : "rolled back") }
            Registration(Int.self, lifetime: .scoped) { _ in 7 }
        }
    }

    /// Work in a scope of its own, which waits for the gate and then creates another instance.
    private func work(_ isOwned: Bool, in container: Container, _ scopes: Log<Container>, until mayEnd: Gate) -> Task<
        Int, any Error
    > {
        Task {
            let body = { @Sendable (scope: Container) in
                _ = try await scope.resolve(Work.self)
                scopes.append(scope)
                await mayEnd.pass()
                return try await container.resolve(Int.self)
            }
            if !isOwned { return try await container.withScope("stream") { try await body($0) } }
            return try await OwnedScope(in: container, name: "stream", isDrained: true).finish { try await body($0) }
        }
    }

    @Test(arguments: [true, false], [Duration.seconds(3600), nil])
    func `a drain of the scope itself lets its work end undisturbed`(isOwned: Bool, deadline: Duration?) async throws {
        let (scopes, mayEnd) = (Log<Container>(), Gate())
        let container = container
        let task = work(isOwned, in: container, scopes, until: mayEnd)
        await mayEnd.arrived()
        let scope = scopes.entries[0]
        let drain = Task { try await scope.drain(deadline: deadline) }
        await until { scope.table.isDraining }
        // New work from outside is refused.
        await expect(.disposed) { try await scope.withScope { _ in } }
        #expect(log.entries.isEmpty)
        mayEnd.open()
        #expect(try await task.value == 7)
        try await drain.value
        #expect(log.entries == ["committed"])
        // The container around it goes on.
        _ = try await container.withScope { try await $0.resolve(Int.self) }
    }

    @Test func `no further part of an owned scope's work begins while the scope is drained`() async throws {
        let owner = try OwnedScope(in: container, isDrained: true)
        let mayEnd = Gate()
        let part = Task { try await owner.finish { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        let drain = Task { try await owner.container.drain() }
        await until { owner.container.table.isDraining }
        await expect(.disposed) { try await owner.run { _ in Issue.record("it runs") } }
        mayEnd.open()
        try await part.value
        try await drain.value
    }

    @Test(arguments: [true, false])
    func `at the deadline, the work of the scope is rolled back`(isOwned: Bool) async throws {
        let (scopes, mayEnd) = (Log<Container>(), Gate())
        let task = work(isOwned, in: container, scopes, until: mayEnd)
        await mayEnd.arrived()
        try await scopes.entries[0].drain(deadline: .milliseconds(1))
        #expect(log.entries == ["rolled back"])
        mayEnd.open()
        await expect(.disposed) { try await task.value }
    }
}
