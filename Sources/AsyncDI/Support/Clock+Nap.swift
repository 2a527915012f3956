extension Duration {
    /// The part of this duration that may be passed to a clock at once: at least zero and at most a day.
    ///
    /// The instants of a clock need not reach as far as a duration does, and a clock that computes a later one ends the
    /// process.
    var sleepable: Duration { min(max(self, .zero), .seconds(86_400)) }

    /// This duration, or the longest one that can be added to others without overflow; at least zero.
    var addable: Duration { min(max(self, .zero), .seconds(Int64.max)) }
}

extension Clock where Duration == Swift.Duration {
    /// The part of a duration that is slept at once.
    ///
    /// For the system's clocks, the runtime keeps some memory of a cancelled sleep until that sleep would have ended:
    /// a server that cancels a thousand long ones each second would keep all of them.
    func nap(of duration: Duration) -> Duration {
        let isOfSystem = self is ContinuousClock || self is SuspendingClock
        return isOfSystem ? min(duration.sleepable, .seconds(10)) : duration.sleepable
    }

    /// Sleeps for a while, at most a day: for callers that check the time themselves and then sleep again.
    ///
    /// Clocks are user code. The system's clock replaces one that does not sleep, because calling it again at once
    /// would keep the process busy.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, and nothing else.
    func nap(for duration: Duration) async throws {
        do {
            try await sleep(for: nap(of: duration))
        } catch {
            try Task.checkCancellation()
            try await ContinuousClock().sleep(howeverLong: max(nap(of: duration), .milliseconds(1)))
        }
    }

    /// Repeats a step after each delay that it returns, until it returns nil.
    ///
    /// A delay begins before its step, which computes it from a time that it reads: meanwhile, a clock that is driven
    /// by hand may have reached the end of the delay. A step may therefore come early, and must check the time itself.
    ///
    /// - Throws: The error of the clock, `CancellationError` for most when the task is cancelled.
    func repeatedly(_ step: () -> Duration?) async throws {
        while true {
            let begin = now
            guard let delay = step() else { return }
            try await sleep(until: begin.advanced(by: nap(of: delay)), tolerance: nil)
        }
    }

    /// Sleeps for any duration, in parts.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, and nothing else.
    func sleep(howeverLong duration: Duration) async throws {
        var left = duration
        repeat {
            try await nap(for: left)
            left -= nap(of: left)
        } while left > .zero
    }
}
