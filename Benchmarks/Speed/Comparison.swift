import Benchmark
import Foundation

/// Performs a number of operations and returns their duration, without that of the preparation.
typealias Batch = nonisolated(nonsending) (_ operations: Int) async throws -> Duration

/// A workload and the baseline that it is compared with.
struct Comparison {
    let ours: Batch
    let baseline: Batch

    /// Batches that repeat their operation, without a preparation.
    static func each(
        _ ours: nonisolated(nonsending) @escaping (_ operations: Int) async throws -> Void,
        baseline: nonisolated(nonsending) @escaping (_ operations: Int) async throws -> Void
    ) -> Comparison {
        Comparison {
            operations in
            try await time { try await ours(operations) }
        } baseline: {
            operations in
            try await time { try await baseline(operations) }
        }
    }
}

/// How much of everything a run does.
enum Effort {
    /// `ASYNCDI_BENCHMARKS=smoke`: enough to show that everything works.
    static let isSmoke = ProcessInfo.processInfo.environment["ASYNCDI_BENCHMARKS"] == "smoke"
    /// `ASYNCDI_BENCHMARKS_ONLY=ours` or `baseline`: for counting the instructions of one side.
    static let only = ProcessInfo.processInfo.environment["ASYNCDI_BENCHMARKS_ONLY"]
    /// `ASYNCDI_BENCHMARKS_ROUNDS`: instead of each row's own number.
    static let rounds = ProcessInfo.processInfo.environment["ASYNCDI_BENCHMARKS_ROUNDS"].flatMap { Int($0) }

    /// `ASYNCDI_BENCHMARKS_OPERATIONS`: how many operations a batch performs, instead of each row's own number.
    static let operations = ProcessInfo.processInfo.environment["ASYNCDI_BENCHMARKS_OPERATIONS"].flatMap { Int($0) }

    /// A number of operations or objects, fewer in a smoke run.
    static func scaled(_ count: Int) -> Int { isSmoke ? max(1, count / 100) : count }
}

/// One row of the table: batches of both sides in turns, so that what else the machine does strikes both.
///
/// Reports one operation's time in picoseconds, as the harness's histograms hold whole numbers.
///
/// - Parameters:
///   - name: The name of the row in `Benchmarks/table`.
///   - operations: How many operations a batch performs: enough to take about a millisecond, so that reading the
///     clock costs nothing.
///   - rounds: How many batches of each side are measured.
///   - prepare: Makes the batches, once, before the first round.
func compare(
    _ name: String, operations: Int, rounds: Int = 200, _ prepare: @escaping () async throws -> Comparison
) {
    let operations = Effort.operations ?? max(1, Effort.scaled(operations))
    let ours = BenchmarkMetric.custom("ours", polarity: .prefersSmaller, useScalingFactor: false)
    let baseline = BenchmarkMetric.custom("baseline", polarity: .prefersSmaller, useScalingFactor: false)
    var prepared: Comparison?
    row(name, metrics: [ours, baseline], rounds: rounds) { benchmark in
        let comparison: Comparison
        if let prepared { comparison = prepared } else { comparison = try await prepare() }
        if prepared == nil, Effort.only != nil {
            FileHandle.standardError.write(Data("\(name): \(operations) operations in a batch\n".utf8))
        }
        prepared = comparison
        var oursFirst = benchmark.currentIteration.isMultiple(of: 2)
        for _ in 0..<2 {
            if oursFirst, Effort.only != "baseline" {
                benchmark.measurement(ours, try await comparison.ours(operations).picoseconds / operations)
            }
            if !oursFirst, Effort.only != "ours" {
                benchmark.measurement(baseline, try await comparison.baseline(operations).picoseconds / operations)
            }
            oursFirst.toggle()
        }
    }
}

/// One row about memory: how many bytes each of a number of objects takes, in thousandths.
func weigh(_ name: String, objects: Int, _ bytes: @escaping (_ objects: Int) async throws -> Int) {
    let objects = Effort.scaled(objects)
    let ours = BenchmarkMetric.custom("ours", polarity: .prefersSmaller, useScalingFactor: false)
    row(name, metrics: [ours], rounds: 5) { benchmark in
        benchmark.measurement(ours, max(0, try await bytes(objects)) * 1000 / objects)
    }
}

private func row(
    _ name: String, metrics: [BenchmarkMetric], rounds: Int, _ round: @escaping (Benchmark) async throws -> Void
) {
    let rounds = Effort.rounds ?? (Effort.isSmoke ? 2 : rounds)
    let configuration = Benchmark.Configuration(
        metrics: metrics, units: Dictionary(uniqueKeysWithValues: metrics.map { ($0, .count) }),
        warmupIterations: Effort.isSmoke ? 0 : 2,
        // Counted rounds are all carried out, however slow the machine is.
        maxDuration: .seconds(Effort.rounds == nil ? 60 : 3600), maxIterations: rounds)
    Benchmark(name, configuration: configuration) { benchmark in
        do {
            try await round(benchmark)
        } catch {
            // By itself the harness would go on, and end as if nothing had happened.
            FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
            exit(1)
        }
    }
}

/// How long it takes, in the caller's isolation.
nonisolated(nonsending) func time(
    _ operation: nonisolated(nonsending) () async throws -> Void
) async throws -> Duration {
    let clock = ContinuousClock()
    let start = clock.now
    try await operation()
    return start.duration(to: clock.now)
}

/// Runs a body in a number of tasks at once.
///
/// Not in a task group: there a child that ends is looked for among all others, which costs more than what is measured
/// when the last to wait is the first to be woken.
nonisolated(nonsending) func concurrently(
    _ count: Int, on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    let tasks = (0..<count).map { _ in
        // Not with a preference for none: a task that has a preference is asked for it at each hop, under a lock of the
        // runtime.
        guard let executor else { return Task { try await body() } }
        return Task(executorPreference: executor) { try await body() }
    }
    for task in tasks { try await task.value }
}

extension Duration {
    fileprivate var picoseconds: Int {
        Int(components.seconds) * 1_000_000_000_000 + Int(components.attoseconds / 1_000_000)
    }
}
