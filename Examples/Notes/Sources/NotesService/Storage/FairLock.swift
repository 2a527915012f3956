import Synchronization

/// A lock that may be held across suspension points and is passed on in the order of requests.
package final class FairLock: Sendable {
    private struct State {
        var isTaken = false
        var nextID = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Number of tasks that wait for the lock.
    package var waiters: Int { state.withLock { $0.waiting.count } }

    /// Waits for the lock.
    ///
    /// A cancelled task that has to wait throws `CancellationError` and does not get it.
    package func lock() async throws {
        let id: Int? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = state.withLock { state in
                    // `unlock()` may have come in between, and so may the cancellation.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if !state.isTaken {
                        state.isTaken = true
                        return .success(())
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let leaving = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
            }
            leaving?.resume(throwing: CancellationError())
        }
    }

    /// Passes the lock on to the task that has waited longest.
    package func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
