import Testing

/// Yields until a condition holds; a condition that does not hold within the time is an issue at the caller's line.
///
/// The limit is by a real clock, and only a failure waits for it.
nonisolated(nonsending) func until(
    within limit: Duration = .seconds(300), at location: SourceLocation = #_sourceLocation,
    _ condition: () async -> Bool
) async {
    let end = ContinuousClock.now + limit
    while await !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("the condition did not hold within \(limit)", sourceLocation: location)
            return
        }
        await Task.yield()
    }
}

/// Waits until the task is cancelled.
///
/// - Throws: `CancellationError`, always.
nonisolated(nonsending) func untilCancelled() async throws {
    let (nothing, end) = AsyncStream<Never>.makeStream()
    for await _ in nothing {}
    end.finish()
    throw CancellationError()
}
