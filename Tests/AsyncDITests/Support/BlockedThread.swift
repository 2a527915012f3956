@testable import AsyncDI

/// Runs a test's body that blocks a thread of the pool of tasks, as a user's storage may.
///
/// One at a time, because the pool has as many threads for a priority as the machine has cores, and the blocked code
/// waits for code that needs another one. With a priority of its own, because all other tests run at the usual one:
/// the blocked thread is none of theirs. A task that the blocked code awaits must have this priority, too, or it waits
/// for its turn among two thousand tests.
func takingAThread<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    await ThreadTurn.take()
    defer { ThreadTurn.pass() }
    let task = Task(priority: .high, operation: body)
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}

private enum ThreadTurn {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Locked(State())

    static func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    static func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
