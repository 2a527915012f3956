/// Measures how long a creation takes, by the container's clock.
struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) {
        func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        // Known to the compiler, the usual clock is read without a look at its type each time.
        elapsed = if let clock = clock as? ContinuousClock { start(clock) } else { start(clock) }
    }
}
