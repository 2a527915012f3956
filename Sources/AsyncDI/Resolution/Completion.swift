import Synchronization

/// An activity with an end that tasks can wait for.
///
/// Most end before another task waits for them: the state of waiting is created at the first wait.
///
/// `@unchecked Sendable` because its superclass is; its own state is behind a lock that is set once.
class Completion: Activity, @unchecked Sendable {
    private struct State {
        /// The number of calls that made waiters check again.
        var wakes = 0
        var errors: [any Error] = []
        /// The waiters, and whether a ``wake()`` resumes them.
        var waiters: [Int: (continuation: CheckedContinuation<Void, Never>, isWakeable: Bool)] = [:]
        /// The waiters whose deadline or cancellation came before their wait.
        var givenUp: Set<Int> = []
        var nextWaiter = 0

        mutating func takeWaiters(onlyWakeable: Bool = false) -> [CheckedContinuation<Void, Never>] {
            let taken = waiters.filter { !onlyWakeable || $0.value.isWakeable }
            for id in taken.keys { waiters[id] = nil }
            return taken.values.map(\.continuation)
        }
    }

    private let stateReference = AtomicReference<Shared<Locked<State>>>()
    private var state: Locked<State> { stateReference.loadOrInitialize { Shared(Locked(State())) }.value }

    init() { super.init(.disposal) }

    /// The errors of the activity.
    final var errors: [any Error] { stateReference.object?.value.withLock { $0.errors } ?? [] }
    final func add(_ error: any Error) {
        // An error refers to its run, and the run to a container whose disposal keeps the error.
        let error = ResolutionError.withoutOrigins(error)
        state.withLock { $0.errors.append(error) }
    }

    /// Ends the activity, and resumes every waiter.
    final func finish() {
        // The end is noted before the search for waiters. A later waiter checks the end under the same lock as that
        // search, so they cannot both miss.
        Waits.end(self)
        let waiters = stateReference.object?.value.withLock { $0.takeWaiters() }
        for waiter in waiters ?? [] { waiter.resume() }
    }

    /// Waits for the end, or until the deadline.
    ///
    /// Cancellation does not end the wait.
    ///
    /// - Parameters:
    ///   - duration: The longest time to wait; nil for no limit.
    ///   - clock: The clock of the deadline.
    ///   - wakes: The value of ``wakes`` before the caller checked whether to wait: a later ``wake()`` ends the wait.
    /// - Returns: Whether the activity has ended.
    final func wait(atMost duration: Duration?, clock: any Clock<Duration>, since wakes: Int? = nil) async -> Bool {
        if hasEnded { return true }
        let id = newWaiter()
        let timer = duration.map { duration in
            Task.detached {
                // Cancelled when the wait is over.
                try await clock.sleep(howeverLong: duration)
                self.giveUp(id)
            }
        }
        defer { timer?.cancel() }
        return await end(for: id, since: wakes)
    }

    /// Waits for the end, for a ``wake()`` after the caller checked whether to wait, or for the cancellation of the
    /// task.
    ///
    /// - Returns: Whether the activity has ended.
    /// - Throws: `CancellationError`.
    final func waitUnlessWoken(since wakes: Int) async throws -> Bool {
        let id = newWaiter()
        let hasEnded = await withTaskCancellationHandler {
            await end(for: id, since: wakes)
        } onCancel: {
            giveUp(id)
        }
        try Task.checkCancellation()
        return hasEnded
    }

    /// The number of calls that made waiters check again whether to wait.
    final var wakes: Int { state.withLock { $0.wakes } }

    /// Lets the waiters that have read ``wakes`` check again whether to wait.
    final func wake() {
        let waiters = state.withLock { state in
            state.wakes += 1
            return state.takeWaiters(onlyWakeable: true)
        }
        for waiter in waiters { waiter.resume() }
    }

    private func newWaiter() -> Int {
        state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
    }

    private func end(for id: Int, since wakes: Int?) async -> Bool {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if hasEnded { return true }
                // The timer runs in parallel with this task, and a short one may end first.
                if state.givenUp.remove(id) != nil { return true }
                if let wakes, state.wakes != wakes { return true }
                state.waiters[id] = (continuation, wakes != nil)
                return false
            }
            if isOver { continuation.resume() }
        }
        // Not passed through the continuation, because ThreadSanitizer does not see a continuation that is resumed
        // while its task is still suspending.
        return hasEnded
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            if waiter == nil, !hasEnded { state.givenUp.insert(id) }
            return waiter
        }
        waiter?.continuation.resume()
    }
}
