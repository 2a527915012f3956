import ExplorationHooks

/// A process in which the same choices lead to the same schedule.
public enum Deterministic {
    /// Starts the process anew, at its beginning, with deterministic hashing and addresses, where it has them not.
    public static func restartOnce() { exploration_make_deterministic(CommandLine.unsafeArgv) }
}

/// Says which schedule was running when the process crashes.
public enum Crash {
    /// What is explored, for the report.
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
