import AsyncDI

/// The container that is the test's own in a task: that of the test, or of a round of chaos in it.
struct TestContainer: Sendable {
    @TaskLocal static var current: TestContainer?

    let container: Container
    /// The events of the container and of its scopes.
    let log: EventLog
    /// The session of the test; nil for a round of chaos outside every one.
    let session: TestSession?

    /// Runs a body in which this container is the current one.
    nonisolated(nonsending) func run<R>(
        _ operation: (Container) async throws -> sending R
    ) async throws -> sending R {
        try await Injection.with(container) {
            // Unsafe because `withValue` cannot express that the result was received as `sending`.
            nonisolated(unsafe) let result = try await Self.$current.withValue(self) {
                try await operation(container)
            }
            return result
        }
    }

    /// Whether the log has the events of a container: of this one, and of its scopes.
    func records(_ other: Container) -> Bool { container.hasObservers(of: other) }
}
