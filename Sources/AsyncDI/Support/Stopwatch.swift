/// Measures the duration of a creation, by the container's clock.
struct Stopwatch: Sendable {
    private enum Source {
        /// The usual clock, whose type is known to the compiler: it is read without dynamic dispatch.
        case usual(start: Duration)
        /// The time since the start, by another clock.
        case other(@Sendable () -> Duration)
    }

    private let source: Source

    /// The origin of the usual clock's times.
    ///
    /// The layout of an instant is known at run time only, and a stopwatch that contained one would be slow to copy.
    private static let origin = ContinuousClock.now

    private static var now: Duration { origin.duration(to: .now) }

    init(_ clock: any Clock<Duration>) {
        func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        source = if clock is ContinuousClock { .usual(start: Self.now) } else { .other(start(clock)) }
    }

    func elapsed() -> Duration {
        switch source {
        case .usual(let start): Self.now - start
        case .other(let elapsed): elapsed()
        }
    }
}
