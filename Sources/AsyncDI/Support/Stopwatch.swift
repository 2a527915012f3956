/// Measures the duration of a creation, by the container's clock.
struct Stopwatch: Sendable {
    private enum Source {
        /// The usual clock, whose type is known to the compiler: it is read without dynamic dispatch.
        case usual(start: ContinuousClock.Instant)
        /// The time since the start, by another clock.
        case other(@Sendable () -> Duration)
    }

    private let source: Source

    init(_ clock: any Clock<Duration>) {
        func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        source = if let clock = clock as? ContinuousClock { .usual(start: clock.now) } else { .other(start(clock)) }
    }

    func elapsed() -> Duration {
        switch source {
        case .usual(let start): start.duration(to: .now)
        case .other(let elapsed): elapsed()
        }
    }
}
