import Dispatch

@testable import AsyncDI

/// A body had not ended when the watchdog's time was over.
struct Hang: Error {}

/// Runs a body in a task of its own, and throws when it has not ended in time: a hang takes less than the suite's time
/// limit.
///
/// A body that hangs is left behind, because nothing can end it. The limit is by a real clock, and only a failure waits
/// for it.
///
/// - Throws: What the body throws; ``Hang`` when it was left behind.
func finishes<R: Sendable>(
    within seconds: Int = 240, _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
    let waiting = Locked<CheckedContinuation<R, any Error>?>(nil)
    let end: @Sendable (Result<R, any Error>) -> Void = { result in
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(with: result)
    }
    return try await withCheckedThrowingContinuation { continuation in
        waiting.withLock { $0 = continuation }
        Task {
            do { end(.success(try await body())) } catch { end(.failure(error)) }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { end(.failure(Hang())) }
    }
}
