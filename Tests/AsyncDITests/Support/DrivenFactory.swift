@testable import AsyncDI

/// A factory whose every run waits until the test answers it.
final class DrivenFactory<Value: Sendable>: Sendable {
    private let runs = Gate()
    /// The answers, by the number of the run: some come before their runs.
    private let answers = Locked([Int: Promise<Value>]())

    /// How many runs have begun.
    var count: Int { runs.arrivals }

    /// Suspends one run until the test answers it; cancellation does not end it.
    nonisolated(nonsending) func run() async throws -> Value {
        let number = runs.arrive() - 1
        defer { answers.withLock { $0[number] = nil } }
        return try await answer(of: number).value()
    }

    /// Waits until as many runs have begun.
    nonisolated(nonsending) func began(_ count: Int = 1) async { await runs.arrived(count) }

    /// Ends a run, the first one by default.
    func answer(_ value: Value, run: Int = 0) { answer(of: run).keep(.success(value)) }

    /// Lets a run fail, the first one by default.
    func fail(_ error: any Error, run: Int = 0) { answer(of: run).keep(.failure(error)) }

    private func answer(of run: Int) -> Promise<Value> {
        answers.withLock { answers in
            let answer = answers[run] ?? Promise()
            answers[run] = answer
            return answer
        }
    }
}
