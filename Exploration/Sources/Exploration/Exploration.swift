/// The work of one ``Explorer``: from schedule to schedule, and to the shortened failure.
struct Exploration {
    let settings: Explorer
    private(set) var report = ExplorationReport()
    private var digests: Set<UInt64> = []
    private var weights = 0.0
    private var walks = 0

    init(settings: Explorer) { self.settings = settings }

    struct Result {
        let schedule: Schedule
        let problems: [String]
        let notes: [String]
    }

    /// Whether an earlier schedule has left threads stopped inside their jobs: they may hold locks, and every later
    /// schedule could fail because of that.
    ///
    /// Unsafe because only the exploration's thread uses it, one at a time.
    private nonisolated(unsafe) static var isSpent = false

    /// Refuses to explore where every schedule could fail.
    private mutating func isRefused() -> Bool {
        guard Self.isSpent else { return false }
        report.failure = ExplorationFailure(
            problems: ["an earlier schedule has left threads stopped: explore the others in a new process"],
            seed: nil, length: 0, choices: [], notes: [], leavesThreads: true)
        return true
    }

    mutating func explore(_ body: @escaping Explorer.Body) {
        if isRefused() { return }
        // First come, first served: performs all lazy initialization, and measures the length of a schedule.
        let first = run(.replay([]), body)
        count(first)
        if fail(first, seed: nil, body) { return }
        let length = first.schedule.choices.count
        var number = 0
        while report.schedules < settings.schedules {
            number += 1
            let seed = settings.firstSeed &+ UInt64(number - 1)
            let result = run(Picker(seed: seed, steps: length), seed: seed, body)
            count(result)
            if fail(result, seed: seed, body) { return }
            // The schedules are few enough to run all of them.
            if number == min(400, settings.schedules / 2), let estimate = report.estimate,
                estimate * 1.5 < Double(settings.schedules)
            {
                if search(body) { return }
            }
        }
    }

    mutating func replay(_ choices: [Int], _ body: @escaping Explorer.Body) {
        if isRefused() { return }
        let result = run(.replay(choices), body)
        count(result)
        _ = fail(result, seed: nil, body, shortening: false)
    }

    /// Runs all schedules, one after the other in the order of their choices; returns false if their number is too
    /// large.
    private mutating func search(_ body: @escaping Explorer.Body) -> Bool {
        var prefix: [Int] = []
        while report.schedules < settings.schedules {
            let result = run(.replay(prefix), body)
            count(result)
            if fail(result, seed: nil, body) { return true }
            let (choices, breadths) = (result.schedule.choices, result.schedule.breadths)
            // The last choice with another option.
            guard let last = choices.indices.last(where: { choices[$0] + 1 < breadths[$0] }) else {
                report.isExhaustive = true
                return true
            }
            prefix = Array(choices[..<last]) + [choices[last] + 1]
        }
        return false
    }

    private mutating func count(_ result: Result) {
        report.schedules += 1
        digests.insert(result.schedule.digest)
        report.distinct = digests.count
        report.longest = max(report.longest, result.schedule.steps)
        if result.schedule.picker.isUnbiased {
            walks += 1
            weights += result.schedule.weight
            report.estimate = weights / Double(walks)
        }
    }

    func run(_ picker: Picker, seed: UInt64? = nil, _ body: @escaping Explorer.Body) -> Result {
        let explored = Explored(dataSeed: settings.dataSeed)
        let schedule = Schedule(picker: picker, seed: seed, limit: settings.stepLimit, isInside: settings.isInside)
        let end = schedule.run {
            do { try await body(explored) } catch { explored.fail("the body threw: \(error)") }
        }
        var problems = explored.complaints
        switch end {
        case .finished: break
        case .deadlock:
            problems.append("deadlock: nothing can run, and \(Self.waiting(explored)) not ended")
            // When the inside of jobs is explored, a stopped thread may hold a lock that the explanation needs.
            let explanation = settings.isInside ? "" : explored.explanation
            if !explanation.isEmpty { problems.append(explanation) }
        case .endless:
            problems.append("no end after \(settings.stepLimit) steps: \(Self.waiting(explored)) not ended")
        }
        return Result(schedule: schedule, problems: problems, notes: explored.notes)
    }

    private static func waiting(_ explored: Explored) -> String {
        let tasks = explored.unfinished
        return tasks.isEmpty ? "the body has" : tasks.map { "\"\($0)\"" }.joined(separator: ", ") + " have"
    }

    // MARK: Failures

    mutating func fail(
        _ result: Result, seed: UInt64?, _ body: @escaping Explorer.Body, shortening: Bool = true
    ) -> Bool {
        if result.problems.isEmpty { return false }
        if !result.schedule.threads.isEmpty { Self.isSpent = true }
        var shortest = result
        if shortening, settings.shortens, !Self.isSpent { shorten(&shortest, body) }
        report.failure = ExplorationFailure(
            problems: shortest.problems, seed: seed, length: result.schedule.choices.count,
            choices: Array(shortest.schedule.choices.reversed().drop { $0 == 0 }.reversed()), notes: shortest.notes,
            leavesThreads: Self.isSpent)
        return true
    }

    /// Replaces choices by the first option, as many as possible while the schedule still fails: halves of all
    /// departures, then quarters, down to single ones.
    private func shorten(_ result: inout Result, _ body: @escaping Explorer.Body) {
        var budget = 2_000_000  // steps
        func departures(_ choices: [Int]) -> [Int] { choices.indices.filter { choices[$0] != 0 } }
        func attempt(_ choices: [Int]) -> Bool {
            guard budget > 0 else { return false }
            let next = run(.replay(choices), body)
            budget -= next.schedule.steps
            // No further schedule can be trusted after one that has left threads.
            guard next.schedule.threads.isEmpty else {
                Self.isSpent = true
                budget = 0
                return false
            }
            guard !next.problems.isEmpty else { return false }
            let fewer = departures(next.schedule.choices).count < departures(result.schedule.choices).count
            if fewer { result = next }
            return fewer
        }
        var size = max(departures(result.schedule.choices).count, 1)
        while size >= 1, budget > 0 {
            var start = 0
            while true {
                let choices = result.schedule.choices
                let all = departures(choices)
                guard start < all.count else { break }
                var changed = choices
                for place in all[start..<min(start + size, all.count)] { changed[place] = 0 }
                // The following departures have moved to the same position.
                if !attempt(changed) { start += size }
            }
            size /= 2
        }
    }
}
