import ExplorationHooks

/// A process in which the same choices lead to the same schedule.
public enum Deterministic {
    /// Restarts the process, at its beginning, with deterministic hashing and addresses, unless it has them already.
    public static func restartOnce() { exploration_make_deterministic(CommandLine.unsafeArgv) }
}

/// Reports the running schedule when the process crashes.
public enum Crash {
    /// The name of the exploration, for the report.
    ///
    /// Unsafe because it is written by one thread only, and read when that one has crashed.
    nonisolated(unsafe) public static var `where` = ""

    /// Reports crashes from now on.
    public static func report() {
        exploration_report_crashes { signal in
            let schedule = Schedule.current
            print(
                "✘ crash (signal \(signal)) in \(Crash.where), seed \(schedule.seed.map(String.init) ?? "none"), "
                    + "--replay \(ExplorationFailure.text(of: schedule.choices))")
            exploration_flush()
        }
    }
}
