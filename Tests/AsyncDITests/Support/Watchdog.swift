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
/// - Throws: The body's error; ``Hang`` when it was left behind.
func finishes<R: Sendable>(
    within seconds: Int = 480, _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
    let promise = Promise<R>()
    Task {
        do { promise.keep(.success(try await body())) } catch { promise.keep(.failure(error)) }
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { promise.keep(.failure(Hang())) }
    return try await promise.value()
}
