@testable import AsyncDI

/// A factory whose every run waits until the test answers it.
final class DrivenFactory<Value: Sendable>: Sendable {
    private struct State {
        var count = 0
        /// The answers, by the number of the run: some come before their runs.
        var answers: [Int: Promise<Value>] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func answer(of run: Int) -> Promise<Value> {
            let promise = answers[run] ?? Promise()
            answers[run] = promise
            return promise
        }
    }

    private let state = Locked(State())

    /// How many runs have begun.
    var count: Int { state.withLock { $0.count } }

    /// Suspends one run until the test answers it; cancellation does not end it.
    nonisolated(nonsending) func run() async throws -> Value {
        let (number, answer, ready) = state.withLock { state in
            let number = state.count
            state.count += 1
            let ready = state.watchers.filter { $0.count <= state.count }
            state.watchers.removeAll { $0.count <= state.count }
            return (number, state.answer(of: number), ready)
        }
        for watcher in ready { watcher.continuation.resume() }
        defer { state.withLock { $0.answers[number] = nil } }
        return try await answer.value()
    }

    /// Waits until as many runs have begun.
    nonisolated(nonsending) func began(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count < count { state.watchers.append((count, continuation)) }
                return state.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Ends a run, the first one by default.
    func answer(_ value: Value, run: Int = 0) { end(run, with: .success(value)) }

    /// Lets a run fail, the first one by default.
    func fail(_ error: any Error, run: Int = 0) { end(run, with: .failure(error)) }

    private func end(_ run: Int, with result: Result<Value, any Error>) {
        state.withLock { $0.answer(of: run) }.keep(result)
    }
}
