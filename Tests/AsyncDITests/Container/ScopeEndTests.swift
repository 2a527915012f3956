import Testing

@testable import AsyncDI

private final class Session: Sendable {}
private final class Closing: Sendable {}

/// Look-ups of a scope, and of the container above it, while one of them is opened or ends.
@Suite(.timeLimit(.minutes(10))) struct ScopeEndTests {
    /// Does something when it is gone.
    private final class Witness: Sendable {
        private let gone: @Sendable () -> Void
        init(_ gone: @escaping @Sendable () -> Void) { self.gone = gone }
        deinit { gone() }
    }

    @Test func `an ancestor that is being disposed gives no scoped instance`() async throws {
        let mayEnd = Gate()
        let container = Container {
            Registration(Session.self, lifetime: .scoped) { _ in Session() }
            Registration(Closing.self, lifetime: .scoped) { _ in Closing() }.onDispose { _ in await mayEnd.pass() }
        }
        let asked = try await container.openScope("asked")
        _ = try await container.openScope("closing").resolve(Closing.self)
        let disposal = Task { try await container.dispose() }
        await mayEnd.arrived()
        await expect(.disposed) { _ = try await asked.resolve(Session.self) }
        mayEnd.open()
        try await disposal.value
    }

    @Test func `a fallback that is being disposed gives no scoped instance`() async throws {
        let mayEnd = Gate()
        let fallback = Container {
            Registration(Session.self, lifetime: .scoped) { _ in Session() }
            Registration(Closing.self, lifetime: .singleton) { _ in Closing() }.onDispose { _ in await mayEnd.pass() }
        }
        _ = try await fallback.resolve(Closing.self)
        let container = Container(fallbacks: [fallback])
        let disposal = Task { try await fallback.dispose() }
        await mayEnd.arrived()
        await expect(.disposed) { _ = try await container.resolve(Session.self) }
        mayEnd.open()
        try await disposal.value
    }

    @Test func `a scope's key is free before its instances go`() async throws {
        let found = Log<Bool>()
        let core = Log<ContainerCore>()
        let look: @Sendable () -> Void = { found.append((try? core.entries[0].scope("x")) != nil) }
        let container = Container {
            Registration(
                Session.self,
                lifetime: Lifetime("own", ownedBy: .resolvingContainer, storage: { UserStorage(cleared: look) })
            ) { _ in Session() }
            Registration(Witness.self, lifetime: .scoped) { _ in Witness(look) }
        }
        core.append(container.core)
        let scope = try await container.openScope("x")
        _ = try await scope.resolve(Session.self)
        for _ in 0..<3 { _ = try await scope.resolve(Witness.self) }
        try await scope.dispose()
        #expect(found.entries == [false, false])
    }

    @Test func `a scope that closes while its container ends is reported as closed`() async throws {
        let (clearing, mayClear) = (Locked(false), ThreadGate())
        let clear: @Sendable () -> Void = {
            clearing.withLock { $0 = true }
            mayClear.wait()
        }
        let log = RecordingObserver()
        let container = Container(observers: [log]) {
            Registration(
                Session.self,
                lifetime: Lifetime("own", ownedBy: .resolvingContainer, storage: { UserStorage(cleared: clear) })
            ) { _ in Session() }
        }
        let scope = try await container.openScope("x")
        _ = try await scope.resolve(Session.self)
        try await takingAThread {
            let closing = Task { try await scope.dispose() }
            while !clearing.withLock({ $0 }) { await Task.yield() }
            let ending = Task { try await container.dispose() }
            while !container.core.table.isClosed { await Task.yield() }
            mayClear.open()
            _ = try await (closing.value, ending.value)
        }
        // The container's disposal has waited for the scope, and for the observers.
        #expect(log.events.contains { if case .scopeClosed = $0 { true } else { false } })
    }

    @Test func `callers that open a key at the same time get the same scope`() async throws {
        for _ in 0..<5000 {
            let container = Container()
            let scopes = try await withThrowingTaskGroup(of: Container.self) { group in
                for _ in 0..<4 { group.addTask { try await container.openScope("key") } }
                return try await group.reduce(into: [Container]()) { $0.append($1) }
            }
            try #require(Set(scopes.map { ObjectIdentifier($0) }).count == 1)
        }
    }
}
