import AsyncDI

/// The job of a worker: two writes that belong together, for one tenant.
struct Job: Sendable {
    let id: Int
    let tenant: Int
    let kind: String
    var attempt = 1

    /// The failure of this attempt; none from the fourth on.
    enum Mishap: Sendable { case none, failure, deadline, conflict }

    var mishap: Mishap {
        guard attempt < 4 else { return .none }
        var random = SeededRandom(seed: UInt64(id), stream: attempt)
        switch random.below(20) {
        case 0: return .failure
        case 1: return .deadline
        case 2: return .conflict
        default: return .none
        }
    }
}

/// The jobs that no worker has taken, returned ones first.
final class JobQueue: Sendable {
    private let waiting: Locked<[Job]>

    init(_ jobs: [Job]) { waiting = Locked(jobs.reversed()) }

    func take() -> Job? { waiting.withLock { $0.popLast() } }
    func giveBack(_ job: Job) { waiting.withLock { $0.append(job) } }
}

/// The committed writes, for all tenants.
final class FakeDatabase: Sendable {
    private struct State {
        var balances: [Int: Int] = [:]
        var commits: [Int: Int] = [:]
        /// For each application and tenant.
        var openConnections: [[Int]: Int] = [:]
        var rolledBack = 0
    }

    struct Conflict: Error {}

    let complaints: Complaints
    private let state = Locked(State())

    init(_ complaints: Complaints) { self.complaints = complaints }

    /// Everything at once, or nothing.
    func commit(_ job: Job, _ writes: [(account: Int, amount: Int)]) {
        complaints.expect(writes.count == 2, "job \(job.id) was committed with \(writes.count) writes of 2")
        state.withLock { state in
            state.commits[job.id, default: 0] += 1
            for write in writes { state.balances[write.account, default: 0] += write.amount }
        }
    }

    func rollBack() { state.withLock { $0.rolledBack += 1 } }

    func opens(_ tenant: Int, in application: Int) {
        let count = state.withLock { state in
            state.openConnections[[application, tenant], default: 0] += 1
            return state.openConnections[[application, tenant]] ?? 0
        }
        complaints.expect(count == 1, "tenant \(tenant) has \(count) connections open")
    }

    func closes(_ tenant: Int, in application: Int) {
        state.withLock { $0.openConnections[[application, tenant], default: 0] -= 1 }
    }

    var openConnections: Int { state.current.openConnections.values.reduce(0, +) }
    var rollBacks: Int { state.current.rolledBack }

    /// The discrepancy when all jobs are done, or nil.
    func flaw(after jobs: Int) -> String? {
        let state = state.current
        let missing = (0..<jobs).filter { state.commits[$0] == nil }
        let repeated = state.commits.filter { $0.value > 1 }.keys.sorted()
        if !missing.isEmpty { return "\(missing.count) jobs were never committed: \(missing.prefix(5))" }
        if !repeated.isEmpty { return "\(repeated.count) jobs were committed more than once: \(repeated.prefix(5))" }
        let balance = state.balances.values.reduce(0, +)
        return balance == 0 ? nil : "the accounts are \(balance) apart"
    }
}

/// A tenant's one connection.
final class Connection: Sendable {
    let tenant: Int
    private let application: Int
    private let database: FakeDatabase
    private let isOpen = Counter()
    private let live: Counter

    init(_ tenant: Int, of application: Int, to database: FakeDatabase, live: Counter) {
        self.tenant = tenant
        self.application = application
        self.database = database
        self.live = live
        live.add()
        isOpen.set(1)
        database.opens(tenant, in: application)
    }

    deinit { live.add(-1) }

    func use(_ purpose: String) {
        database.complaints.expect(isOpen.value == 1, "the closed connection of tenant \(tenant) is used to \(purpose)")
    }

    func close() async {
        await Task.yield()
        database.complaints.expect(isOpen.value == 1, "the connection of tenant \(tenant) is closed twice")
        isOpen.set(0)
        database.closes(tenant, in: application)
    }
}

/// The writes of one attempt at a job: committed together or not at all.
final class UnitOfWork: Sendable {
    enum End { case committed, rolledBack }
    struct Ended: Error {}

    private struct State {
        var writes: [(account: Int, amount: Int)] = []
        var end: End?
    }

    let job: Job
    private let connection: Connection
    private let database: FakeDatabase
    private let state = Locked(State())
    private let live: Counter

    init(_ job: Job, over connection: Connection, to database: FakeDatabase, live: Counter) {
        self.job = job
        self.connection = connection
        self.database = database
        self.live = live
        live.add()
    }

    deinit { live.add(-1) }

    var end: End? { state.current.end }

    func write(_ amount: Int, to account: Int) throws {
        // Its scope may have been closed under the job.
        try state.withLock { state in
            guard state.end == nil else { throw Ended() }
            state.writes.append((account, amount))
        }
        connection.use("write")
    }

    func commit() async throws {
        connection.use("commit")
        await Task.yield()
        if job.mishap == .conflict {
            finish(.rolledBack)
            throw FakeDatabase.Conflict()
        }
        let writes = state.current.writes
        finish(.committed)
        database.commit(job, writes)
    }

    func rollBack() async {
        connection.use("roll back")
        await Task.yield()
        finish(.rolledBack)
    }

    private func finish(_ end: End) {
        let isFirst = state.withLock { state in
            defer { state.end = state.end ?? end }
            return state.end == nil
        }
        database.complaints.expect(isFirst, "job \(job.id) was ended twice")
        if end == .rolledBack { database.rollBack() }
    }
}

/// The handler of a kind of job, until a reload replaces it.
final class Handler: Sendable {
    struct Failure: Error {}

    let kind: String
    private let users = Counter()
    private let isClosed = Counter()
    private let complaints: Complaints
    private let live: Counter

    init(_ kind: String, _ complaints: Complaints, live: Counter) {
        self.kind = kind
        self.complaints = complaints
        self.live = live
        live.add()
    }

    deinit { live.add(-1) }

    func run(_ job: Job, in work: UnitOfWork) async throws {
        users.add()
        defer { users.add(-1) }
        complaints.expect(isClosed.value == 0, "job \(job.id) was given a closed handler")
        var random = SeededRandom(seed: UInt64(job.id), stream: -job.attempt)
        let amount = 1 + random.below(100)
        try work.write(amount, to: random.below(50))
        await random.shake(upTo: 4)
        if job.mishap == .failure { throw Failure() }
        try Task.checkCancellation()
        try work.write(-amount, to: random.below(50))
        complaints.expect(isClosed.value == 0, "the handler of job \(job.id) was closed while it was used")
    }

    func close() async {
        let users = users.value
        complaints.expect(users == 0, "a handler was closed under \(users) jobs")
        complaints.expect(isClosed.value == 0, "a handler was closed twice")
        isClosed.set(1)
    }
}
