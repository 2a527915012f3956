import AsyncDI
import Foundation

/// The program of the guide "Workers".
extension WorkersTests {
    // MARK: The queue

    struct Job: Sendable {
        let id: Int
        let tenant: String
        var failures = 0
    }

    protocol JobQueue: Sendable {
        /// Waits for a job, and hides it from other workers; returns nil once the queue is stopped.
        func next() async -> Job?
        /// Removes a job that is done.
        func finish(_ job: Job) async
        /// Shows a job to other workers again.
        func putBack(_ job: Job) async
        /// Keeps a job that fails each time for a person to look at.
        func setAside(_ job: Job) async
        /// Lets no further job be taken.
        func stop() async
        var isStopped: Bool { get async }
    }

    actor MemoryQueue: JobQueue {
        private(set) var jobs: [Job]
        private(set) var failed: [Job] = []
        private(set) var isStopped = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        init(_ jobs: [Job]) { self.jobs = jobs }

        func next() async -> Job? {
            while jobs.isEmpty, !isStopped { await withCheckedContinuation { waiters.append($0) } }
            return isStopped ? nil : jobs.removeFirst()
        }
        func finish(_ job: Job) {}
        func setAside(_ job: Job) { failed.append(job) }
        func putBack(_ job: Job) {
            jobs.append(job)
            resumeWaiters()
        }
        func stop() {
            isStopped = true
            resumeWaiters()
        }
        private func resumeWaiters() {
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
    }

    // MARK: The services

    actor TenantDatabase {
        private(set) var rows: [String] = []

        init(opening tenant: String) async throws {}
        func write(_ new: [String]) { rows += new }
        func close() {}
    }

    actor UnitOfWork {
        private let database: TenantDatabase
        private var rows: [String] = []

        init(_ database: TenantDatabase) { self.database = database }
        func add(_ row: String) { rows.append(row) }
        func commit() async throws { await database.write(rows) }
        func rollBack() { rows = [] }
    }

    protocol JobHandler: Sendable {
        func run() async throws
    }

    struct Invoicing: JobHandler {
        let job: Job
        let work: UnitOfWork

        func run() async throws { await work.add("invoice \(job.id)") }
    }

    struct WorkerModule: Module {
        var registrations: Registrations {
            Registration(TenantDatabase.self, lifetime: .multiton(capacity: 8, idle: .seconds(300))) { _, tenant in
                try await TenantDatabase(opening: tenant)
            }
            .onDispose { database in await database.close() }
            Registration(expected: Job.self)  // each scope supplies it
            Registration(using: UnitOfWork.init, with: .leased(by: { (job: Job) in job.tenant }), lifetime: .scoped)
                .onDispose { work, reason in
                    if reason.error == nil { try await work.commit() } else { await work.rollBack() }
                }
            Registration(using: Invoicing.init, as: (any JobHandler).self, lifetime: .transient)
        }
    }

    // MARK: The loop

    struct Worker: Sendable {
        let queue: any JobQueue
        let container: Container

        /// Runs jobs, a few at a time, until the queue is stopped; returns after the last one.
        ///
        /// A cancelled task takes no further job.
        func run(atOnce count: Int = 4) async {
            await withDiscardingTaskGroup { group in
                for _ in 0..<count {
                    group.addTask { while !Task.isCancelled, let job = await queue.next() { await run(job) } }
                }
            }
        }

        private func run(_ job: Job) async {
            do {
                try await container.withScope("job \(job.id)") {
                    Registration(instance: job)
                } operation: { scope in
                    try await scope.resolve((any JobHandler).self).run()
                }  // commits
                await queue.finish(job)
            } catch {
                // Rolled back, or not begun. What the shutdown does to a job is no failure of its own.
                let isShutdown = await queue.isStopped
                let isCutShort = Task.isCancelled || isShutdown && ResolutionError.Code.disposed ~= error
                if isCutShort { return await queue.putBack(job) }
                print("job \(job.id) failed: \(error)")
                var job = job
                job.failures += 1
                if job.failures < 5 { await queue.putBack(job) } else { await queue.setAside(job) }
            }
        }
    }

    // MARK: From the start to the shutdown

    func runWorker(
        _ queue: any JobQueue, in container: Container, until shutdown: @escaping @Sendable () async -> Void
    ) async throws {
        async let end: Void = {
            await shutdown()
            await queue.stop()  // first: no further job is taken
            try await container.drain(deadline: .seconds(8))  // then: running jobs end
        }()
        await Worker(queue: queue, container: container).run()
        try await end
    }

    func shutdownSignal(_ numbers: [Int32] = [SIGTERM, SIGINT]) async {
        let (signals, received) = AsyncStream.makeStream(of: Int32.self)
        let sources = numbers.map { number in
            signal(number, SIG_IGN)  // the source receives it instead
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { received.yield(number) }
            source.resume()
            return source
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }  // the next one ends the process
    }

    func main(_ queue: MemoryQueue) async throws {
        try await withContainer(name: "worker") {
            WorkerModule()
        } operation: { container in
            try await runWorker(queue, in: container) { await shutdownSignal() }
        }
    }

    // MARK: In a service group

    struct WorkerService: Service {
        let worker: Worker

        func run() async throws {
            async let jobs: Void = worker.run()
            try? await gracefulShutdown()  // `try?`: when the task is cancelled, stop nevertheless
            await worker.queue.stop()
            await jobs
        }
    }

    func makeServices(_ container: Container, _ queue: any JobQueue) -> [any Service] {
        let worker = Worker(queue: queue, container: container)
        let services: [any Service] = [ContainerService(container: container), WorkerService(worker: worker)]
        return services
    }
}

// Stand-ins for the types of a service group.

extension WorkersTests {
    protocol Service: Sendable {
        func run() async throws
    }

    struct ContainerService: Service {
        let container: Container

        func run() async throws {
            try? await gracefulShutdown()
            try await container.drain(deadline: .seconds(8))
        }
    }
}

/// Like the function of a service group: returns when a shutdown begins (here never), throws when its task is
/// cancelled.
private func gracefulShutdown() async throws {
    for await _ in AsyncStream(Int.self, { _ in }) {}
    try Task.checkCancellation()
}
