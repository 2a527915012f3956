/// A job as it comes out of a queue.
struct Job: Sendable {
    enum Kind: CaseIterable, Hashable, Sendable { case mail, invoice, report, importing }

    let number: Int
    let tenant: String
    let kind: Kind
}

/// As many jobs as a batch performs, taken by any number of consumers.
actor JobQueue {
    private let count: Int
    private var taken = 0

    init(_ count: Int) { self.count = count }

    func next() -> Job? {
        guard taken < count else { return nil }
        defer { taken += 1 }
        return Job(
            number: taken, tenant: tenants[taken % tenants.count], kind: Job.Kind.allCases[taken % 4])
    }
}

final class Connection: Sendable {
    let database: Database

    private init(to database: Database) { self.database = database }

    static func open(to database: Database) async throws -> Connection { Connection(to: database) }
}

/// Everything that a job changes, committed at its end.
final class JobWork: Sendable {
    private let job: Job
    private let connection: Connection

    init(job: Job, connection: Connection) {
        self.job = job
        self.connection = connection
    }

    func commit() async throws { connection.database.commit() }

    func rollBack() async {}
}

/// Does the jobs of one kind.
protocol JobHandler: Sendable {
    func run(_ job: Job, in work: JobWork) async throws
}

final class SomeJobHandler: JobHandler {
    @inline(never)
    func run(_ job: Job, in work: JobWork) async throws { keep(work) }
}

/// Does one job, whatever its kind.
final class JobRunner: Sendable {
    private let job: Job
    private let work: JobWork
    private let handlers: [Job.Kind: any JobHandler]

    init(job: Job, work: JobWork, handlers: [Job.Kind: any JobHandler]) {
        self.job = job
        self.work = work
        self.handlers = handlers
    }

    func run() async throws {
        guard let handler = handlers[job.kind] else { throw Missing() }
        try await handler.run(job, in: work)
    }
}
