@testable import AsyncDI

/// A factory whose every run waits until the test answers it.
final class DrivenFactory<Value: Sendable>: Sendable {
    private struct State {
        var runs: [CheckedContinuation<Value, any Error>?] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// How many runs have begun.
    var count: Int { state.withLock { $0.runs.count } }

    /// One run: suspends until `answer` is called for it. Not ended by cancellation.
    nonisolated(nonsending) func run() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let ready = state.withLock { state in
                state.runs.append(continuation)
                let ready = state.watchers.filter { $0.count <= state.runs.count }
                state.watchers.removeAll { $0.count <= state.runs.count }
                return ready
            }
            for watcher in ready { watcher.continuation.resume() }
        }
    }

    /// Waits until as many runs have begun.
    nonisolated(nonsending) func began(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.runs.count < count { state.watchers.append((count, continuation)) }
                return state.runs.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Ends a run, the first one by default.
    func answer(_ run: Int = 0, with result: Result<Value, any Error>) {
        let continuation = state.withLock { state in
            defer { state.runs[run] = nil }
            return state.runs[run]
        }
        continuation?.resume(with: result)
    }

    func answer(_ run: Int = 0, _ value: Value) { answer(run, with: .success(value)) }
}
