import Synchronization

/// A point that tasks wait at until the test opens it.
final class Gate: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()
    private let isOpen = Atomic(false)

    func open() {
        isOpen.store(true, ordering: .sequentiallyConsistent)
        continuation.finish()
    }

    /// Returns when the gate is open, and throws when the task is cancelled.
    func pass() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}

/// Waits for something that happens in the background.
func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { await Task.yield() }
}
