import Testing

@testable import AsyncDI

private struct Database: Sendable {}
private struct Cache: Sendable {}
private struct Catalogue: Sendable {}

/// The own time of creations, in the details of their events.
@Suite(.timeLimit(.minutes(10))) struct OwnDurationTests {
    private final class Times: ContainerObserver {
        let own = Locked<[String: Duration?]>([:])
        let total = Locked<[String: Duration]>([:])
        var wantedEvents: ContainerEvent.Kinds { [.created, .evicted] }

        func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
            switch event {
            case .created(let key, let duration, _):
                own.withLock { $0["\(key)"] = details.ownDuration }
                total.withLock { $0["\(key)"] = duration }
            case .evicted: own.withLock { $0["evicted"] = details.ownDuration }
            default: break
            }
        }
    }

    @Test func `the time in which a creation waits for others is not its own, however many requests wait`() async throws
    {
        let (clock, times) = (ManualClock(), Times())
        let container = Container(observers: [times], clock: clock) {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(4))
                return Database()
            }
            Registration(Cache.self, lifetime: .singleton) { _ in
                try await clock.sleep(for: .seconds(4))
                return Cache()
            }
            Registration(Catalogue.self, lifetime: .singleton) { resolver in
                try await clock.sleep(for: .seconds(1))
                async let database = resolver.resolve(Database.self)
                async let cache = resolver.resolve(Cache.self)
                _ = try await (database, cache)
                try await clock.sleep(for: .seconds(2))
                return Catalogue()
            }
        }
        let request = Task { try await container.resolve(Catalogue.self) }
        for (sleepers, seconds) in [(1, 1), (2, 4), (1, 2)] {
            await clock.sleepers(reach: sleepers)
            clock.advance(by: .seconds(seconds))
        }
        _ = try await request.value
        try await container.reset(Cache.self)
        try await container.dispose()
        #expect(
            times.total.withLock { $0 } == ["Database": .seconds(4), "Cache": .seconds(4), "Catalogue": .seconds(7)])
        #expect(
            times.own.withLock { $0 } == [
                "Database": .seconds(4), "Cache": .seconds(4), "Catalogue": .seconds(3), "evicted": nil,
            ])
    }

    @Test func `the wait for the disposal of the instance before is no part of the creation's time`() async throws {
        let (clock, times) = (ManualClock(), Times())
        let container = Container(observers: [times], clock: clock) {
            Registration(Database.self, lifetime: .multiton) { (_, _: String) in
                try await clock.sleep(for: .seconds(1))
                return Database()
            }
            .onDispose { _ in try await clock.sleep(for: .seconds(3)) }
        }
        func request(in seconds: [Int]) async throws {
            let request = Task { try await container.resolve(Database.self, arguments: "acme") }
            while container.activity().creations.isEmpty { await Task.yield() }
            for seconds in seconds {
                await clock.sleepers(reach: 1)
                clock.advance(by: .seconds(seconds))
            }
            _ = try await request.value
        }
        try await request(in: [1])
        let reset = Task { try await container.reset(Database.self) }
        await clock.sleepers(reach: 1)
        await container.startRecording()
        try await request(in: [3, 1])
        try await reset.value
        await container.deliverEvents()
        #expect(times.total.withLock { $0 } == ["Database(String)": .seconds(1)])
        #expect(times.own.withLock { $0["Database(String)"] } == .some(.seconds(1)))
        let graph = await container.dependencyGraph()
        #expect(graph.details.map(\.duration) == [.seconds(1)])
        let disposal = Task { try await container.dispose() }
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(3))
        try await disposal.value
    }
}
