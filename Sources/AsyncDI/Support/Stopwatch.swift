/// Measures the duration of a creation, by the container's clock.
struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) {
        func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        // The usual clock's type is known to the compiler, so that it is read without dynamic dispatch.
        elapsed = if let clock = clock as? ContinuousClock { start(clock) } else { start(clock) }
    }
}
