@testable import AsyncDI

/// A result that comes later, for one task that waits for it; the first result counts.
///
/// The result is read under the lock and not passed through the continuation: one that is resumed while its task is
/// still suspending is invisible to ThreadSanitizer.
final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func keep(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state in
            if state.result == nil { state.result = result }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume()
    }

    nonisolated(nonsending) func value() async throws -> Value {
        await withCheckedContinuation { continuation in
            let isKept = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result != nil
            }
            if isKept { continuation.resume() }
        }
        guard let result = state.withLock({ $0.result }) else { preconditionFailure("resumed with a result") }
        return try result.get()
    }
}
