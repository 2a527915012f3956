import ExplorationHooks

/// One schedule of a body: the ready jobs, the running timers, and the choices so far.
///
/// Only one thread at a time uses it: the exploration's thread, which also justifies `nonisolated(unsafe)` below. The
/// hooks pass jobs of other threads to their own executors.
final class Schedule {
    /// The current schedule, or the last one.
    nonisolated(unsafe) static var current = Schedule(picker: .replay([]), limit: 0)

    /// A job that can run.
    private struct Ready {
        let job: UnsafeMutableRawPointer
        let isMain: Bool
        let owner: Int
    }

    /// A job that can run, or a sleeper that can be resumed, later.
    private struct Timer {
        enum Action {
            case job(Ready)
            case sleeper(Int)
        }

        let deadline: Duration
        let number: Int
        let action: Action
    }

    /// A step, independent of the threads that stop meanwhile.
    private enum Step {
        /// Resumes a stopped thread.
        case thread(Int)
        /// Begins the ready job at this position.
        case job(Int)
        case timer
    }

    enum End {
        case finished
        /// No job was ready, no timer ran, and the body had not ended.
        case deadlock
        /// The schedule had more steps than allowed.
        case endless
    }

    private(set) var picker: Picker
    /// The seed that chose the picker; nil for a replay.
    let seed: UInt64?
    private let limit: Int
    private var ready: [Ready] = []
    private var timers: [Timer] = []
    private var timerCount = 0
    private var sleepers: [Int: UnsafeContinuation<Void, any Error>] = [:]
    private var owners: [UInt64: Int] = [:]
    private var options: [Option] = []

    /// The virtual time.
    private(set) var now: Duration = .zero
    private(set) var choices: [Int] = []
    /// The number of options of each choice.
    private(set) var breadths: [Int] = []
    /// One divided by the probability of the choices.
    private(set) var weight = 1.0
    private(set) var steps = 0
    private var isFinished = false
    /// Whether the inside of jobs is explored: each job runs on a thread that stops at schedule points.
    private let isInside: Bool
    var threads = TurnTakers()
    /// The lock that the most recently stopped thread waits for.
    private(set) var blockingLock: UnsafeRawPointer?
    private var chosen: Step?
    /// The number of timers that fired while nothing else could run, since the body's task has run.
    private var timersAlone = 0

    init(picker: Picker, seed: UInt64? = nil, limit: Int, isInside: Bool = false) {
        self.isInside = isInside
        self.seed = seed
        self.picker = picker
        self.limit = limit
    }

    /// A number for the choices: equal numbers are the same schedule.
    var digest: UInt64 {
        choices.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64(truncatingIfNeeded: $1 &+ 1)) &* 0x100_0000_01B3 }
    }

    // MARK: Running

    /// Runs the body and its remaining work, until no more jobs are ready.
    func run(_ body: @escaping @Sendable () async -> Void) -> End {
        Schedule.current = self
        // Sendable because this schedule's thread runs the task.
        nonisolated(unsafe) let schedule = self
        Task.detached {
            await body()
            schedule.isFinished = true
        }
        // Work that continues after the body's end receives a limited number of timers, so that a timer that is set
        // again forever is abandoned.
        var timersAfterEnd = 0
        while true {
            let stopped = threads.eligible
            if stopped.isEmpty, ready.isEmpty {
                if timers.isEmpty { break }
                if isFinished {
                    timersAfterEnd += 1
                    if timersAfterEnd > 32 { break }
                } else {
                    // A monitor that checks again and again hides the fact that no other task can run.
                    timersAlone += 1
                    if timersAlone > 2_000 { return .deadlock }
                }
                fire()
                continue
            }
            steps += 1
            if steps > limit { return .endless }
            var next: Step? = choose(among: stopped)
            // A thread that stops at a schedule point has chosen the next step.
            while let step = next { next = perform(step) }
        }
        return isFinished && threads.isEmpty ? .finished : .deadlock
    }

    /// The stopped threads come first, then the ready jobs, then the timers.
    private func choose(among stopped: [Int]) -> Step {
        let hasTimer = !timers.isEmpty && !isFinished
        guard stopped.count + ready.count > 1 || hasTimer else { return step(at: 0, among: stopped) }
        collectOptions(stopped)
        if hasTimer { options.append(Option(owner: -1, isTimer: true)) }
        return step(at: pick(), among: stopped)
    }

    private func step(at index: Int, among stopped: [Int]) -> Step {
        if index < stopped.count { return .thread(threads.thread(at: stopped[index])) }
        return index - stopped.count < ready.count ? .job(index - stopped.count) : .timer
    }

    private func collectOptions(_ stopped: [Int]) {
        for index in stopped { options.append(Option(owner: threads.owner(at: index))) }
        for job in ready { options.append(Option(owner: job.owner)) }
    }

    private func pick() -> Int {
        defer { options.removeAll(keepingCapacity: true) }
        let (index, probability) = picker.pick(options, number: choices.count)
        weight /= probability
        choices.append(index)
        breadths.append(options.count)
        return index
    }

    /// Performs a step, and returns the next one, if a thread stopped at a schedule point and chose it.
    private func perform(_ step: Step) -> Step? {
        chosen = nil
        switch step {
        case .thread(let thread): goOn(thread)
        case .timer: fire()
        case .job(let position):
            let next = ready.remove(at: position)
            // The first task of a schedule is the body, which may sleep as often as it likes.
            if next.owner == 0 { timersAlone = 0 }
            if isInside {
                begin(next.job, isMain: next.isMain, owner: next.owner)
            } else {
                exploration_run(next.job, next.isMain)
            }
        }
        return chosen
    }

    /// Whether the thread at a schedule point stops there; called on that thread.
    func stops(_ kind: Int32, _ address: UnsafeRawPointer?) -> Bool {
        if kind == Int32(exploration_released) {
            threads.release(address)
            return false
        }
        steps += 1
        blockingLock = address
        let mayGoOn = kind == Int32(exploration_pass)
        let stopped = threads.eligible
        if stopped.isEmpty, ready.isEmpty { return !mayGoOn }
        if steps > limit { return !mayGoOn }
        if mayGoOn { options.append(Option(owner: threads.runningOwner, goesOn: true)) }
        collectOptions(stopped)
        let index = options.count > 1 ? pick() : 0
        options.removeAll(keepingCapacity: true)
        if mayGoOn, index == 0 { return false }
        chosen = step(at: mayGoOn ? index - 1 : index, among: stopped)
        return true
    }

    // MARK: Jobs

    /// The runtime computes delays from deadlines.
    ///
    /// Rounded up to a millisecond, they do not depend on the time that has passed meanwhile.
    private static func rounded(_ delay: Duration) -> Duration {
        // A deadline that has passed, and one that never comes.
        guard delay > .nanoseconds(1), delay < .seconds(1_000_000_000) else { return delay }
        let millisecond: Int64 = 1_000_000_000_000_000  // attoseconds
        let rest = delay.components.attoseconds % millisecond
        return rest == 0 ? delay : delay + Duration(secondsComponent: 0, attosecondsComponent: millisecond - rest)
    }

    func enqueue(_ job: UnsafeMutableRawPointer, isMain: Bool, delay: Duration) {
        let next = owners.count
        let task = exploration_task(job)
        let owner = owners[task] ?? next
        owners[task] = owner
        let entry = Ready(job: job, isMain: isMain, owner: owner)
        if delay > .zero { add(.job(entry), at: now + Self.rounded(delay)) } else { ready.append(entry) }
    }

    // MARK: Time

    private func add(_ action: Timer.Action, at deadline: Duration) {
        timerCount += 1
        timers.append(Timer(deadline: deadline, number: timerCount, action: action))
    }

    /// Moves the time to the next timer, and resumes its job or sleeper.
    private func fire() {
        let first = timers.indices.min { left, right in
            (timers[left].deadline, timers[left].number) < (timers[right].deadline, timers[right].number)
        }
        guard let first else { return }
        let timer = timers.remove(at: first)
        now = max(now, timer.deadline)
        switch timer.action {
        case .job(let entry): ready.append(entry)
        case .sleeper(let id): sleepers.removeValue(forKey: id)?.resume()
        }
    }

    /// Keeps a continuation until the virtual time has come, under a number that wakes it.
    func sleep(until deadline: Duration, id: Int, _ continuation: UnsafeContinuation<Void, any Error>) {
        sleepers[id] = continuation
        add(.sleeper(id), at: deadline)
    }

    func nextSleeper() -> Int {
        timerCount += 1
        return timerCount
    }

    /// Resumes a cancelled sleeper at once.
    func wake(_ id: Int) {
        guard let continuation = sleepers.removeValue(forKey: id) else { return }
        timers.removeAll { timer in
            if case .sleeper(id) = timer.action { true } else { false }
        }
        continuation.resume(throwing: CancellationError())
    }
}
