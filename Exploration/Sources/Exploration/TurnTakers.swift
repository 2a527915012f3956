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
    }

    private var stopped: [Stopped] = []
    private var free: [Int] = []
    private var count = 0
    private var turns = 0
    /// The owner of the running job.
    private(set) var runningOwner = 0

    var isEmpty: Bool { stopped.isEmpty }

    /// The positions of the threads that can continue.
    ///
    /// A thread that waits for others waits until another one has had a turn, if there is another one.
    var eligible: [Int] {
        let free = stopped.indices.filter { stopped[$0].lock == nil }
        let able = free.filter { stopped[$0].waitsSince.map { $0 < turns } ?? true }
        return able.isEmpty ? free : able
    }

    func owner(at index: Int) -> Int { stopped[index].owner }
    func thread(at index: Int) -> Int { stopped[index].thread }

    /// Notes the release of a lock: threads that wait for it can try again.
    mutating func release(_ lock: UnsafeRawPointer?) {
        for index in stopped.indices where stopped[index].lock == lock { stopped[index].lock = nil }
    }

    fileprivate mutating func prepare(owner: Int) {
        turns += 1
        runningOwner = owner
    }

    fileprivate mutating func takeFree() -> Int {
        if let thread = free.popLast() { return thread }
        count += 1
        return count - 1
    }

    /// Removes a stopped thread, and returns its owner.
    fileprivate mutating func take(_ thread: Int) -> Int {
        stopped.remove(at: stopped.firstIndex { $0.thread == thread }!).owner
    }

    fileprivate mutating func cameBack(_ thread: Int, owner: Int, because kind: Int32, lock: UnsafeRawPointer?) {
        if kind == Int32(exploration_done) {
            free.append(thread)
            return
        }
        stopped.append(
            Stopped(
                thread: thread, owner: owner, lock: kind == Int32(exploration_blocked) ? lock : nil,
                waitsSince: kind == Int32(exploration_waits) ? turns : nil))
    }
}

extension Schedule {
    /// Runs a job on a free thread, until its end or a schedule point at which it stops.
    func begin(_ job: UnsafeMutableRawPointer, isMain: Bool, owner: Int) {
        let thread = threads.takeFree()
        threads.prepare(owner: owner)
        let kind = exploration_begin(Int32(thread), job, isMain) { kind, address in
            Schedule.current.stops(kind, address)
        }
        threads.cameBack(thread, owner: owner, because: kind, lock: blockingLock)
    }

    /// Resumes a stopped thread, with the same end.
    func goOn(_ thread: Int) {
        let owner = threads.take(thread)
        threads.prepare(owner: owner)
        let kind = exploration_continue(Int32(thread))
        threads.cameBack(thread, owner: owner, because: kind, lock: blockingLock)
    }
}
