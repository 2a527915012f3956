import ExplorationHooks

/// The threads that run jobs whose inside is explored, one at a time.
///
/// Some are free, some have stopped at a schedule point.
struct TurnTakers {
    private struct Stopped {
        let thread: Int
        let owner: Int
        /// The lock that it waits for.
        var lock: UnsafeRawPointer?
        /// The turn in which it began to wait for others.
        var waitsSince: Int?
        /// Whether it holds a lock of the runtime, at which other threads would stop forever.
        let isUrgent: Bool
    }

    private var stopped: [Stopped] = []
    private var free: [Int] = []
    private var count = 0
    private var turns = 0
    private var running = 0
    /// The threads that hold the library's locks.
    private var holders: [UnsafeRawPointer: Int] = [:]
    /// The owner of the running job.
    private(set) var runningOwner = 0

    var isEmpty: Bool { stopped.isEmpty }
    /// Whether a stopped thread holds a lock of the runtime: until it continues, new jobs do not begin.
    var isUrgent: Bool { stopped.contains(where: \.isUrgent) }
    /// Whether such a thread could continue.
    var canUrgentGoOn: Bool { stopped.contains { $0.isUrgent && $0.lock == nil } }

    /// The positions of the threads that can continue.
    ///
    /// A thread that waits for others waits until another one has had a turn, if there is another one. An urgent thread
    /// continues alone, after the one that holds the lock it waits for.
    var eligible: [Int] {
        if let urgent = stopped.firstIndex(where: \.isUrgent) { return [goesOnFirst(for: urgent)] }
        let free = stopped.indices.filter { stopped[$0].lock == nil }
        let able = free.filter { stopped[$0].waitsSince.map { $0 < turns } ?? true }
        return able.isEmpty ? free : able
    }

    private func goesOnFirst(for index: Int) -> Int {
        guard let lock = stopped[index].lock, let holder = holders[lock],
            let next = stopped.firstIndex(where: { $0.thread == holder })
        else { return index }
        return goesOnFirst(for: next)
    }

    func owner(at index: Int) -> Int { stopped[index].owner }

    /// Notes that the running thread has taken a lock.
    mutating func acquire(_ lock: UnsafeRawPointer?) {
        if let lock { holders[lock] = running }
    }

    /// Notes the release of a lock: threads that wait for it can try again.
    mutating func release(_ lock: UnsafeRawPointer?) {
        if let lock { holders[lock] = nil }
        for index in stopped.indices where stopped[index].lock == lock { stopped[index].lock = nil }
    }

    fileprivate mutating func prepare(_ thread: Int, owner: Int) {
        turns += 1
        running = thread
        runningOwner = owner
    }

    fileprivate mutating func takeFree() -> Int {
        if let thread = free.popLast() { return thread }
        count += 1
        return count - 1
    }

    fileprivate mutating func take(_ index: Int) -> (thread: Int, owner: Int) {
        let taken = stopped.remove(at: index)
        return (taken.thread, taken.owner)
    }

    fileprivate mutating func cameBack(_ thread: Int, owner: Int, because kind: Int32, lock: UnsafeRawPointer?) {
        if kind == Int32(exploration_done) {
            free.append(thread)
            return
        }
        let isUrgent =
            kind == Int32(exploration_blocked_in_handler) || kind == Int32(exploration_released_in_handler)
        let isBlocked = kind == Int32(exploration_blocked_in_handler) || kind == Int32(exploration_blocked)
        stopped.append(
            Stopped(
                thread: thread, owner: owner, lock: isBlocked ? lock : nil,
                waitsSince: kind == Int32(exploration_waits) ? turns : nil, isUrgent: isUrgent))
    }
}

extension Schedule {
    /// Runs a job on a free thread, until its end or a schedule point at which it stops.
    func begin(_ job: UnsafeMutableRawPointer, isMain: Bool, owner: Int) {
        let thread = threads.takeFree()
        threads.prepare(thread, owner: owner)
        let kind = exploration_begin(Int32(thread), job, isMain) { kind, address in
            Schedule.current.stops(kind, address)
        }
        threads.cameBack(thread, owner: owner, because: kind, lock: blockingLock)
    }

    /// Resumes a stopped thread, with the same end.
    func goOn(_ index: Int) {
        let (thread, owner) = threads.take(index)
        threads.prepare(thread, owner: owner)
        let kind = exploration_continue(Int32(thread))
        threads.cameBack(thread, owner: owner, because: kind, lock: blockingLock)
    }
}
