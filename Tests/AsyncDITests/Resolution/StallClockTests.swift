import Testing

@testable import AsyncDI

private struct Slow: Sendable {}

/// Waits by the clocks of others, whatever these can do.
@Suite(.timeLimit(.minutes(10))) struct StallClockTests {
    @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max)])
    func `a threshold without end never comes`(threshold: Duration) async throws {
        for clock in [ContinuousClock(), SuspendingClock()] as [any Clock<Duration>] {
            let observer = RecordingObserver(stallThreshold: threshold)
            let factory = DrivenFactory<Slow>()
            let container = Container(observers: [observer], clock: clock) {
                Registration(Slow.self, lifetime: .singleton) { _ in try await factory.run() }
            }
            let asker = Task { try await container.resolve(Slow.self) }
            await container.core.waiters(of: Slow.self, reach: 1)
            await factory.began()
            factory.answer(Slow())
            _ = try await asker.value
            #expect(observer.stalls.isEmpty)
        }
    }

    @Test func `a threshold without end is watched a day at a time`() async throws {
        let observer = RecordingObserver(stallThreshold: .seconds(Int64.max))
        let clock = ManualClock()
        let factory = DrivenFactory<Slow>()
        let container = Container(observers: [observer], clock: clock) {
            Registration(Slow.self, lifetime: .singleton) { _ in try await factory.run() }
        }
        let asker = Task { try await container.resolve(Slow.self) }
        for _ in 0..<3 {
            await clock.sleepers(reach: 1)
            clock.advance(by: .seconds(86_400))
        }
        await clock.sleepers(reach: 1)
        factory.answer(Slow())
        _ = try await asker.value
        #expect(observer.stalls.isEmpty)
    }

    @Test func `a stalled wait is reported even if the clock does not sleep`() async throws {
        let observer = RecordingObserver(stallThreshold: .milliseconds(20))
        let factory = DrivenFactory<Slow>()
        let container = Container(observers: [observer], clock: SleeplessClock()) {
            Registration(Slow.self, lifetime: .singleton) { _ in try await factory.run() }
        }
        let asker = Task { try await container.resolve(Slow.self) }
        await observer.received { $0.kind == .stalled }
        factory.answer(Slow())
        _ = try await asker.value
        try await container.dispose()
    }

    @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max)])
    func `an idle time without end evicts nothing`(idle: Duration) async throws {
        for clock in [ContinuousClock(), SuspendingClock(), ManualClock()] as [any Clock<Duration>] {
            let container = Container(clock: clock) {
                Registration(Thing.self, lifetime: .multiton(idle: idle)) { (_, number: Int) in Thing(number) }
            }
            let first = try await container.resolve(Thing.self, arguments: 1)
            for _ in 0..<100 { await Task.yield() }
            #expect(try await container.resolve(Thing.self, arguments: 1) === first)
            try await container.dispose()
        }
    }
}
