/// A clock whose time the scheduler advances.
///
/// Pass it to `Container(clock:)`.
///
/// A sleep is an option of the scheduler like any ready job: a deadline may pass before, between or after any steps of
/// other tasks. Outside an exploration its time does not pass.
public struct VirtualClock: Clock {
    /// A moment since the beginning of the schedule.
    public struct Instant: InstantProtocol {
        let sinceStart: Duration

        /// The moment that comes after this one by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }

        /// The time from this moment to another one.
        public func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }

        /// Whether the left moment comes first.
        public static func < (left: Instant, right: Instant) -> Bool { left.sinceStart < right.sinceStart }
    }

    /// Creates a clock; all of them show the same time.
    public init() {}

    /// The current moment.
    public var now: Instant { Instant(sinceStart: Schedule.current.now) }

    /// The smallest step.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until the scheduler has advanced the time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        if deadline <= now { return }
        let id = Schedule.current.nextSleeper()
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    Schedule.current.sleep(until: deadline.sinceStart, id: id, continuation)
                }
            }
        } onCancel: {
            Schedule.current.wake(id)
        }
    }
}
