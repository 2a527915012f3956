import Synchronization

/// The last use of a cached instance: each use is noted, without a lock.
///
/// Of two simultaneous uses, either may count as the later one.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it holds constants and atomics.
class Use: @unchecked Sendable {
    /// Numbers the uses of everything in one cache.
    final class Counter: Sendable {
        private let last = Atomic<UInt64>(0)
        /// Tells the time, where idle time matters.
        let stopwatch: Stopwatch?

        init(timedBy stopwatch: Stopwatch?) { self.stopwatch = stopwatch }

        fileprivate func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    private let counter: Counter
    private let lastNumber = Atomic<UInt64>(0)
    /// In nanoseconds by the container's clock.
    private let lastInstant = Atomic<Int64>(0)

    init(countedBy counter: Counter) { self.counter = counter }

    /// Notes a use now; outside every lock, because clocks are user code.
    final func note() {
        if let stopwatch = counter.stopwatch { note(at: stopwatch.elapsed()) } else { noteNumber() }
    }

    /// Notes a use; the clock is read only where idle time matters.
    final func note(at now: Duration) {
        // The greater of both, because a thread may be interrupted between taking its number and noting it.
        if counter.stopwatch != nil { lastInstant.max(now.clampedNanoseconds, ordering: .relaxed) }
        noteNumber()
    }

    /// Not an atomic maximum, which would double the time of a hit: only a task that is interrupted between these two
    /// lines can replace another, simultaneous use by its own.
    private func noteNumber() {
        let number = counter.next()
        if lastNumber.load(ordering: .relaxed) < number { lastNumber.store(number, ordering: .releasing) }
    }

    /// The number of the last use: higher ones came later.
    final var number: UInt64 { lastNumber.load(ordering: .acquiring) }
    final var instant: Duration { .nanoseconds(lastInstant.load(ordering: .relaxed)) }
}

extension Duration {
    /// Whole nanoseconds, up to the greatest representable number.
    var clampedNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
