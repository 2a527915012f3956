/// A clock on which no time passes, so that a busy machine makes nothing late.
struct StandingClock: Clock {
    let now = ContinuousClock.now
    let minimumResolution = Duration.zero

    /// Ends when the task is cancelled.
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await Task.sleep(for: .seconds(86_400))
    }
}
