@testable import AsyncDI

/// Runs a test's body that blocks a thread of the pool of tasks, as a storage or an observer of a user may.
///
/// One at a time, because the pool has as many threads for a priority as the machine has cores, and the blocked code
/// waits for code that needs another one. With a priority of its own, because all other tests run at the usual one:
/// they lose no thread, and the awaited code does not queue behind two thousand of them.
func takingAThread<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    await ThreadTurn.take()
    defer { ThreadTurn.pass() }
    return try await Task(priority: .high, operation: body).value
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
