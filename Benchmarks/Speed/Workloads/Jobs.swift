import AsyncDI
import Cores

/// A worker's jobs: each has a scope, a unit of work over a leased connection, and a handler for its kind.
func registerJobs() {
    for (name, consumers) in [("worker", 8), ("worker-1", 1)] {
        compare(name, operations: 20_000, rounds: 10) {
            let (ours, theirs) = (Database(), Database())
            let (container, worker) = (worker(over: ours), HandWiredWorker(theirs))
            return .each {
                try await work($0, over: ours, consumers) { try await run($0, in: container) }
            } baseline: {
                try await work($0, over: theirs, consumers) { try await worker.run($0) }
            }
        }
    }
    compare("worker-consumers", operations: 20_000, rounds: 10) {
        let database = Database()
        let container = worker(over: database)
        return .each {
            try await work($0, over: database, 1) { try await run($0, in: container) }
        } baseline: {
            try await work($0, over: database, 8) { try await run($0, in: container) }
        }
    }
    compare("worker-cores", operations: 5_000, rounds: 20) {
        let database = Database()
        let container = worker(over: database)
        return Comparison { operations in
            try await time { try await work(operations, over: database, 1) { try await run($0, in: container) } }
        } baseline: { operations in
            useOneCore()
            defer { useAllCores() }
            return try await time {
                try await work(operations, over: database, 1) { try await run($0, in: container) }
            }
        }
    }
}

/// Does the jobs of a batch with so many consumers of one queue.
private nonisolated(nonsending) func work(
    _ jobs: Int, over database: Database, _ consumers: Int, _ run: @escaping @Sendable (Job) async throws -> Void
) async throws {
    let (queue, before) = (JobQueue(jobs), database.commits)
    try await concurrently(consumers) {
        while let job = await queue.next() { try await run(job) }
    }
    precondition(database.commits == before + jobs)
}

private func worker(over database: Database) -> Container {
    Container {
        Registration(expected: Job.self)
        Registration(Connection.self, lifetime: .multiton) { (_, _: String) in
            try await Connection.open(to: database)
        }
        Registration(JobWork.self, lifetime: .scoped) { r in
            let job = try await r.resolve(Job.self)
            return JobWork(job: job, connection: try await r.lease(Connection.self, arguments: job.tenant))
        }
        .onDispose { work, reason in
            if reason.error == nil { try await work.commit() } else { await work.rollBack() }
        }
        for kind in Job.Kind.allCases {
            Registration((any JobHandler).self, lifetime: .singleton) { _ in SomeJobHandler() }.intoMany(key: kind)
        }
        Registration(using: JobRunner.init)
    }
}

@inline(never)
private nonisolated(nonsending) func run(_ job: Job, in container: Container) async throws {
    try await container.withScope("job") {
        Registration(instance: job)
    } operation: { _ in
        try await container.resolve(JobRunner.self).run()
    }
}
