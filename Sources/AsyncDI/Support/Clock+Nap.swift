extension Duration {
    /// As much of this as may be passed to a clock at once: not less than nothing and at most a day.
    ///
    /// The instants of a clock need not reach as far as a duration does, and one that is asked for a later one ends the
    /// process.
    var sleepable: Duration { min(max(self, .zero), .seconds(86_400)) }

    /// This, or the longest time that can be added to others without leaving the range of durations; not less than
    /// nothing.
    var addable: Duration { min(max(self, .zero), .seconds(Int64.max)) }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps for a while, at most a day: for callers that look at the time themselves and then sleep on.
    ///
    /// Clocks are the user's. One that does not sleep, for a reason of its own, is replaced by the system's, because
    /// asking it again at once would be all that the process does.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, and nothing else.
    func nap(for duration: Duration) async throws {
        do {
            try await sleep(for: duration.sleepable)
        } catch {
            try Task.checkCancellation()
            try await ContinuousClock().sleep(for: max(duration.sleepable, .milliseconds(1)))
        }
    }

    /// Sleeps for any duration, a day at a time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, and nothing else.
    func sleep(howeverLong duration: Duration) async throws {
        var left = duration
        repeat {
            try await nap(for: left)
            left -= left.sleepable
        } while left > .zero
    }
}
