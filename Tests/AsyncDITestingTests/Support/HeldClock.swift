import AsyncDI
import Testing

@testable import AsyncDITesting

/// A clock that stands still until the test lets it go; from then on all time passes at once.
///
/// Like every clock, it does not hold a sleep whose end has come, unless it is a broken one.
final class HeldClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Swift.Duration.zero
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private let time = Locked(Instant())
    private let gate = Gate()
    private let isBroken: Bool

    init(isBroken: Bool = false) { self.isBroken = isBroken }

    /// A clock of which all time passes at once.
    static var released: HeldClock {
        let clock = HeldClock()
        clock.letGo()
        return clock
    }

    var now: Instant { time.withLock { $0 } }
    var minimumResolution: Swift.Duration { .zero }

    func letGo() { gate.open() }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        if deadline <= now, !isBroken { return }
        try await gate.waitUnlessCancelled()
        time.withLock { $0 = max($0, deadline) }
    }
}

/// A clock of which a millisecond passes at once, and longer times as they do for the system's clock.
///
/// A test's end that has it does not wait for work that goes on, which it looks at each millisecond. It does wait for
/// the disposal, however busy the machine is.
struct ImpatientClock: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        guard now.duration(to: deadline) > .milliseconds(1) else { return }
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}
