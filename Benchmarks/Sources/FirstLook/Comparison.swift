/// Two ways to do the same, measured in turns within one run, so that what else the machine does strikes both.
struct Comparison {
    let rounds: Int
    let operations: Int

    /// The median time of one operation for each, in nanoseconds.
    nonisolated(nonsending) func run(
        _ baseline: nonisolated(nonsending) () async throws -> Void,
        _ subject: nonisolated(nonsending) () async throws -> Void
    ) async throws -> (baseline: Double, subject: Double) {
        var times: (baseline: [Double], subject: [Double]) = ([], [])
        for _ in 0..<rounds {
            times.baseline.append(try await time(baseline))
            times.subject.append(try await time(subject))
        }
        return (median(times.baseline), median(times.subject))
    }

    private nonisolated(nonsending) func time(
        _ operation: nonisolated(nonsending) () async throws -> Void
    ) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try await operation()
        let elapsed = start.duration(to: clock.now).components
        return (Double(elapsed.seconds) * 1e9 + Double(elapsed.attoseconds) / 1e9) / Double(operations)
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
