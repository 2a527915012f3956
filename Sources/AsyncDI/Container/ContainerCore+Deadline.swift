/// The deadlines of calls that dispose the container of a `withContainer`, whose end does not wait longer either.
extension ContainerCore {
    /// Waits for the end of a disposal without a deadline of the call's own.
    ///
    /// The end of a `withContainer` is mostly that of a process, which must not outlast the deadline of another call.
    ///
    /// - Returns: Whether the disposal has ended.
    func wait(for disposal: Disposal, isEndOfBody: Bool) async -> Bool {
        guard isEndOfBody, !hasParent else { return await disposal.wait(atMost: nil, clock: clock) }
        return await waitUntilEarliestDeadline(for: disposal)
    }

    /// Waits for an activity at the end of a `withContainer`, up to the earliest deadline, which may come meanwhile.
    ///
    /// - Returns: Whether the activity has ended.
    func waitUntilEarliestDeadline(for activity: Completion) async -> Bool {
        withState { $0.limitedWait = activity }
        // Not the last reference: the caller has one.
        defer { withState { $0.limitedWait = nil } }
        while !activity.hasEnded {
            let wakes = activity.wakes
            let rest = earliestDeadline.map { $0 - stopwatch.elapsed() }
            if let rest, rest <= .zero { return false }
            if await activity.wait(atMost: rest, clock: clock, since: wakes) { return true }
            // The clock has slept for the rest, although its time may stand still.
            if activity.wakes == wakes { return false }
        }
        return true
    }

    /// The earliest deadline of the calls that have disposed this container, by its stopwatch; none in one with a
    /// parent.
    var earliestDeadline: Duration? { withState { $0.earliestDeadline } }

    /// Notes the deadline of a call, after which the end of a `withContainer` does not wait either.
    func noteDeadline(_ deadline: Duration) {
        if hasParent { return }
        let wait = withState { state in
            state.earliestDeadline = min(state.earliestDeadline ?? deadline, deadline)
            return state.limitedWait
        }
        wait?.wake()
    }
}
