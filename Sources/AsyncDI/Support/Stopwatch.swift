/// Measures the duration of a creation, by the container's clock.
struct Stopwatch: Sendable {
    /// The start, by the usual clock; its type is known to the compiler, so that it is read without dynamic dispatch.
    private let start: ContinuousClock.Instant?
    /// The time since the start, by another clock.
    private let elapsedByClock: (@Sendable () -> Duration)?

    init(_ clock: any Clock<Duration>) {
        func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        let isUsual = clock is ContinuousClock
        self.start = isUsual ? .now : nil
        elapsedByClock = isUsual ? nil : start(clock)
    }

    func elapsed() -> Duration { start?.duration(to: .now) ?? elapsedByClock?() ?? .zero }
}
