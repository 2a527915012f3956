@testable import AsyncDI

/// Runs a test's body that blocks a thread of the pool of tasks: one at a time, because the pool has as many threads as
/// the machine has cores, and what is blocked waits for what needs another one.
nonisolated(nonsending) func takingAThread<R>(_ body: nonisolated(nonsending) () async throws -> R) async rethrows -> R
{
    await ThreadTurn.take()
    defer { ThreadTurn.pass() }
    return try await body()
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
