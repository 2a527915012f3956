import ExplorationHooks

/// For a program that already has a thread to explore on, such as a fuzzer, and that chooses the schedules itself.
extension Explorer {
    /// Makes the calling thread an exploring thread, until the process ends.
    ///
    /// Work that it starts from then on runs inside ``run(seed:steps:_:)`` only.
    public static func takeThread() {
        DefaultExecutor.install
        exploration_install { job, isMain, delay in
            Schedule.current.enqueue(job, isMain: isMain, delay: .nanoseconds(delay))
        }
        exploration_set_exploring(true)
    }

    /// Runs one schedule of the body on the calling thread, after ``takeThread()``.
    ///
    /// - Parameters:
    ///   - seed: The seed that chooses the schedule; 0 is first come, first served.
    ///   - steps: The approximate number of choices in a schedule.
    ///   - body: The body.
    /// - Returns: The failure, not shortened; nil without one.
    public func run(seed: UInt64, steps: Int, _ body: @escaping Body) -> ExplorationFailure? {
        var exploration = Exploration(settings: self)
        exploration.run(seed: seed, steps: steps, body)
        return exploration.report.failure
    }
}

extension Exploration {
    mutating func run(seed: UInt64, steps: Int, _ body: @escaping Explorer.Body) {
        let picker = seed == 0 ? Picker.replay([]) : Picker(seed: seed, steps: steps)
        _ = fail(run(picker, seed: seed, body), seed: seed, body, shortening: false)
    }
}
