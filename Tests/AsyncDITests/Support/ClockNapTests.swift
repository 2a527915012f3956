import Testing

@testable import AsyncDI

/// A clock that notes the duration of each sleep, and returns at once.
private final class HastyClock: Clock {
    let naps = Log<Swift.Duration>()
    private let offset = Locked(Swift.Duration.zero)

    var now: ManualClock.Instant { ManualClock.Instant(offset: offset.withLock { $0 }) }
    var minimumResolution: Swift.Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Swift.Duration?) async throws {
        try Task.checkCancellation()
        naps.append(now.duration(to: deadline))
        offset.withLock { $0 = max($0, deadline.offset) }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ClockNapTests {
    @Test(arguments: [
        (Duration.seconds(-1), Duration.zero), (.zero, .zero), (.milliseconds(5), .milliseconds(5)),
        (.seconds(86_400), .seconds(86_400)), (.seconds(86_401), .seconds(86_400)),
        (.seconds(Int64.max), .seconds(86_400)), (Duration(attoseconds: .max), .seconds(86_400)),
        (Duration(attoseconds: .min), .zero),
    ])
    func `a clock is asked for a day at most`(duration: Duration, expected: Duration) {
        #expect(duration.sleepable == expected)
    }

    @Test func `an addable duration can be added and subtracted`() {
        let longest = Duration(attoseconds: .max).addable
        #expect(longest == .seconds(Int64.max))
        #expect(longest + longest - .seconds(1) > longest)
        #expect(Duration.seconds(1) - longest - longest < .zero)
        #expect(Duration(attoseconds: .min).addable == .zero)
        #expect(Duration.seconds(3).addable == .seconds(3))
    }

    @Test func `a long sleep is as many naps`() async throws {
        let clock = HastyClock()
        try await clock.sleep(howeverLong: .seconds(86_400 * 2 + 5))
        #expect(clock.naps.entries == [.seconds(86_400), .seconds(86_400), .seconds(5)])
        let erased: any Clock<Duration> = HastyClock()
        try await erased.sleep(howeverLong: .zero)
        #expect((erased as? HastyClock)?.naps.entries == [.zero])
    }

    @Test func `the system's clocks are asked for a short time, of which a cancelled sleep leaves little`() {
        for clock in [ContinuousClock(), SuspendingClock()] as [any Clock<Duration>] {
            #expect(clock.nap(of: .seconds(3_600)) == .seconds(10) && clock.nap(of: .seconds(3)) == .seconds(3))
        }
        #expect(ManualClock().nap(of: .seconds(3_600)) == .seconds(3_600))
    }

    @Test func `a delay begins before the step that computes it`() async throws {
        let clock = ManualClock()
        let times = Log<Swift.Duration>()
        // The clock reaches the end of the delay before the sleep begins.
        try await clock.repeatedly {
            times.append(clock.now.offset)
            guard times.entries.count < 3 else { return nil }
            clock.advance(by: .seconds(10))
            return .seconds(10)
        }
        #expect(times.entries == [.zero, .seconds(10), .seconds(20)])
    }

    @Test func `a clock that does not sleep is replaced`() async throws {
        let begin = ContinuousClock.now
        try await SleeplessClock().sleep(howeverLong: .milliseconds(3))
        #expect(ContinuousClock.now - begin >= .milliseconds(3))
    }

    @Test func `cancellation ends a sleep, whatever the clock does`() async throws {
        let task = Task { try await SleeplessClock().sleep(howeverLong: .seconds(Int64.max)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let patient = Task { try await ManualClock().sleep(howeverLong: .seconds(Int64.max)) }
        patient.cancel()
        await #expect(throws: CancellationError.self) { try await patient.value }
    }
}
