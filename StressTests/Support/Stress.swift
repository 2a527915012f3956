import Dispatch
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// How much is done, and with which seeds.
///
/// - `ASYNCDI_STRESS_SCALE` multiplies every count (when not set: 1 in a release build, 0.15 in a debug build, which
///   needs several times as long for each).
/// - `ASYNCDI_SEED` runs that seed alone, as often as a test would have run seeds.
/// - `ASYNCDI_STRESS_PATIENCE` is how many seconds a round that may hang is given (300 when not set).
/// - `ASYNCDI_SANITIZED=1` says that a sanitizer is on, so that measuring memory means nothing.
enum Stress {
    static let scale: Double = environment("ASYNCDI_STRESS_SCALE").flatMap(Double.init) ?? defaultScale
    static let isSanitized: Bool = environment("ASYNCDI_SANITIZED") == "1"
    static let patience: Duration = .seconds(environment("ASYNCDI_STRESS_PATIENCE").flatMap { Double($0) } ?? 300)
    static let onlySeed: UInt64? = environment("ASYNCDI_SEED").flatMap { UInt64($0) }

    private static var defaultScale: Double {
        #if DEBUG
            0.15
        #else
            1
        #endif
    }

    static func count(_ base: Int, atLeast minimum: Int = 1) -> Int {
        max(minimum, Int(Double(base) * scale))
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

/// Runs `body` with one seed after the other; every failure names its seed.
///
/// A seed that fails a `#require` ends there; after three of them the rest is left out. When the test's time limit
/// strikes, the seed it was at is printed, and a seed that does not end even then stops the process: a hang fails.
func forEachSeed(_ base: Int, _ body: (UInt64) async throws -> Void) async {
    let progress = Locked(Progress())
    await withTaskCancellationHandler {
        var failures = 0
        for number in 1...Stress.count(base) where failures < 3 && !Task.isCancelled {
            let seed = Stress.onlySeed ?? UInt64(number)
            progress.withLock { $0.seed = seed }
            do {
                try await body(seed)
            } catch is ExpectationFailedError {
                failures += 1
            } catch {
                failures += 1
                Issue.record(error, "seed \(seed)")
            }
        }
        progress.withLock { $0.isDone = true }
    } onCancel: {
        let message = "stress: stopped by the time limit at seed \(progress.current.seed)\n"
        _ = message.withCString { write(2, $0, strlen($0)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 30) {
            let state = progress.current
            precondition(state.isDone, "stress: seed \(state.seed) hangs")
        }
    }
}

private struct Progress {
    var seed: UInt64 = 0
    var isDone = false
}

/// Whether `condition` comes true while all other tasks run; false after five minutes.
///
/// Beside two thousand tests on two cores, the turn of a task may come once in two minutes.
func eventually(_ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(300))
    while !condition() {
        if ContinuousClock.now > deadline { return false }
        await Task.yield()
    }
    return true
}
