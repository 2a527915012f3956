@testable import AsyncDI

/// A factory whose every run waits until the test answers it.
final class DrivenFactory<Value: Sendable>: Sendable {
    private struct State {
        var runs: [CheckedContinuation<Value, any Error>?] = []
        /// Answers that came before their runs.
        var answers: [Int: Result<Value, any Error>] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// How many runs have begun.
    var count: Int { state.withLock { $0.runs.count } }

    /// Suspends one run until the test answers it; cancellation does not end it.
    nonisolated(nonsending) func run() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let (answer, ready) = state.withLock { state in
                let answer = state.answers.removeValue(forKey: state.runs.count)
                state.runs.append(answer == nil ? continuation : nil)
                let ready = state.watchers.filter { $0.count <= state.runs.count }
                state.watchers.removeAll { $0.count <= state.runs.count }
                return (answer, ready)
            }
            if let answer { continuation.resume(with: answer) }
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
    func answer(_ value: Value, run: Int = 0) { end(run, with: .success(value)) }

    /// Lets a run fail, the first one by default.
    func fail(_ error: any Error, run: Int = 0) { end(run, with: .failure(error)) }

    private func end(_ run: Int, with result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            guard run < state.runs.count else {
                state.answers[run] = result
                return nil
            }
            defer { state.runs[run] = nil }
            return state.runs[run]
        }
        continuation?.resume(with: result)
    }
}
