/// An activity whose end tasks wait for.
///
/// `@unchecked Sendable` because its superclass is; what it adds is behind a lock.
class Completion: Activity, @unchecked Sendable {
    private struct State {
        var isDone = false
        /// Whether waiters that can be woken are to look again.
        var isWoken = false
        var errors: [any Error] = []
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// The waiters whose deadline, or cancellation, came before they waited.
        var givenUp: Set<Int> = []
        var nextWaiter = 0
    }

    private let state = Locked(State())

    init() { super.init(.disposal) }

    /// What went wrong in the activity.
    final var errors: [any Error] { state.withLock { $0.errors } }
    final func add(_ error: any Error) {
        // The run that an error arose in leads to a container, whose disposal keeps the error.
        let error = ResolutionError.withoutOrigins(error)
        state.withLock { $0.errors.append(error) }
    }

    /// Ends the activity: every waiter goes on.
    final func finish() {
        let waiters = state.withLock { state in
            state.isDone = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        Waits.end(self)
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Waits for the end, or until the deadline.
    ///
    /// Not even cancellation ends the wait earlier.
    ///
    /// - Returns: Whether the activity has ended.
    final func wait(atMost duration: Duration?, clock: any Clock<Duration>) async -> Bool {
        if state.withLock({ $0.isDone }) { return true }
        let id = newWaiter()
        let timer = duration.map { duration in
            Task.detached {
                // Cancelled when the wait is over.
                try await clock.sleep(howeverLong: duration)
                self.giveUp(id)
            }
        }
        defer { timer?.cancel() }
        return await end(for: id)
    }

    /// Waits for the end, until it is woken, or until the task is cancelled.
    ///
    /// - Throws: `CancellationError`.
    final func waitUnlessWoken() async throws {
        let id = newWaiter()
        _ = await withTaskCancellationHandler {
            await end(for: id)
        } onCancel: {
            giveUp(id)
        }
        try Task.checkCancellation()
    }

    /// Waiters look again whether there is something to wait for; without a waiter, the next one does.
    final func wake() {
        let waiters = state.withLock { state in
            guard !state.isDone else { return [] as [CheckedContinuation<Bool, Never>] }
            state.isWoken = state.waiters.isEmpty
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: false) }
    }

    private func newWaiter() -> Int {
        state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
    }

    private func end(for id: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let hasEnded: Bool? = state.withLock { state in
                if state.isDone { return true }
                // The timer runs beside this task, and a short one may be the faster.
                if state.givenUp.remove(id) != nil { return false }
                if state.isWoken {
                    state.isWoken = false
                    return false
                }
                state.waiters[id] = continuation
                return nil
            }
            if let hasEnded { continuation.resume(returning: hasEnded) }
        }
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            if waiter == nil, !state.isDone { state.givenUp.insert(id) }
            return waiter
        }
        waiter?.resume(returning: false)
    }
}
