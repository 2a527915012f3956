import AsyncDI
import Foundation
import Synchronization
import Testing

/// The guide "Workers", run.
@Suite(.timeLimit(.minutes(10)))
struct WorkersTests {
    /// Four jobs are taken.
    ///
    /// Job 1 runs when the drain begins, and ends. Job 2 does not end by the deadline. Job 3 is taken before the queue
    /// is stopped, and reaches the container when it drains. Job 4 fails by itself. Job 5 is never taken.
    @Test func `no job is lost when the drain comes in the middle`() async throws {
        let (gates, deadline) = (Gates(), DeadlineClock())
        let database = try await TenantDatabase(opening: "acme")
        let queue = GatedQueue([4, 1, 2, 3, 5].map { Job(id: $0, tenant: "acme") }, takes: 4, gates)
        let container = Container(clock: deadline) {
            WorkerModule()
            Registration(TenantDatabase.self, lifetime: .multiton) { (_, _: String) in database }
            Registration(Ending.self, lifetime: .scoped) { r in Ending(job: try await r.resolve()) }
                .onDispose { ending, reason in
                    if reason.error != nil { gates["\(ending.job.id) cut short"].open() }
                }
            Registration(
                using: { (job: Job, work: UnitOfWork, _: Ending) in GatedHandler(job: job, work: work, gates: gates) },
                as: (any JobHandler).self, lifetime: .transient)
        }
        let program = Task { try await runWorker(queue, in: container) { await gates["shutdown"].passed() } }
        for event in ["1 began", "2 began", "3 taken", "4 put back"] { await gates[event].passed() }
        gates["shutdown"].open()
        await deadline.isSet.passed()  // the drain has begun
        gates["3 may go on"].open()
        await gates["3 put back"].passed()
        gates["1 may end"].open()
        await gates["1 finished"].passed()
        deadline.passes.open()
        await gates["2 cut short"].passed()
        gates["2 may end"].open()
        try await program.value

        #expect(await queue.finished == [1])
        #expect(await database.rows == ["job 1"])
        let left = await queue.jobs
        #expect(left.map(\.id).sorted() == [2, 3, 4, 5])
        #expect(left.filter { $0.failures > 0 }.map(\.id) == [4])

        // The next process runs the others.
        let next = GatedQueue(left, takes: 4, gates)
        try await withContainer {
            WorkerModule()
            Registration(TenantDatabase.self, lifetime: .multiton) { (_, _: String) in database }
        } operation: { container in
            try await runWorker(next, in: container) { for id in 2...5 { await gates["\(id) finished"].passed() } }
        }
        #expect(await next.finished.sorted() == [2, 3, 4, 5])
        #expect(await next.jobs.isEmpty)
        #expect(await database.rows.sorted() == ["invoice 2", "invoice 3", "invoice 4", "invoice 5", "job 1"])
    }

    @Test func `the queue of the guide delivers every job once, and nothing after its stop`() async throws {
        let gates = Gates()
        let queue = MemoryQueue((1...20).map { Job(id: $0, tenant: "acme") })
        let container = Container {
            WorkerModule()
            Registration(
                using: { (job: Job, work: UnitOfWork) in GatedHandler(job: job, work: work, gates: gates) },
                as: (any JobHandler).self, lifetime: .transient)
        }
        for number in [1, 2] { gates["\(number) may end"].open() }
        try await runWorker(queue, in: container) {
            for number in 1...20 where number != 4 { await gates["\(number) ended"].passed() }
            while await queue.failed.isEmpty { await Task.yield() }
        }
        // The one that fails each time.
        #expect(await queue.failed.map(\.id) == [4])
        #expect(await queue.failed.map(\.failures) == [5])
        #expect(await queue.jobs.isEmpty)
        #expect(await queue.next() == nil)
    }

    @Test func `a signal ends the wait for it`() async {
        let isOver = Atomic(false)
        async let wait: Void = {
            await shutdownSignal([SIGWINCH])
            isOver.store(true, ordering: .releasing)
        }()
        // A process ignores this one until it asks for it, so that it may come too early.
        while !isOver.load(ordering: .acquiring) {
            kill(getpid(), SIGWINCH)
            await Task.yield()
        }
        await wait
    }

    @Test func `a worker that is cancelled takes no further job, and its own has not failed`() async throws {
        let began = Gate()
        let container = Container {
            WorkerModule()
            Registration((any JobHandler).self, lifetime: .transient) { _ in EndlessHandler(began: began) }
        }
        let queue = MemoryQueue([Job(id: 1, tenant: "acme"), Job(id: 2, tenant: "acme")])
        let worker = Task { await Worker(queue: queue, container: container).run(atOnce: 1) }
        await began.passed()
        worker.cancel()
        await worker.value
        #expect(await queue.jobs.map(\.id) == [2, 1])
        #expect(await queue.jobs.allSatisfy { $0.failures == 0 })
        try await container.dispose()
    }

    /// Ends when it is cancelled.
    private struct EndlessHandler: JobHandler {
        let began: Gate

        func run() async throws {
            began.open()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            try Task.checkCancellation()
        }
    }

    @Test func `a service that is cancelled stops its worker`() async throws {
        let (container, gates) = (Container { WorkerModule() }, Gates())
        let queue = GatedQueue([Job(id: 6, tenant: "acme")], takes: 1, gates)
        let services = makeServices(container, queue)
        let task = Task { try await services[1].run() }
        await gates["6 finished"].passed()
        task.cancel()
        try await task.value
        #expect(await queue.next() == nil)
        let close = Task { try await services[0].run() }
        close.cancel()
        try await close.value
    }

    /// Gates by the names of events.
    private final class Gates: Sendable {
        private let gates = Mutex<[String: Gate]>([:])

        subscript(event: String) -> Gate {
            gates.withLock { gates in
                let gate = gates[event] ?? Gate()
                gates[event] = gate
                return gate
            }
        }
    }

    /// Hands out some of its jobs; job 3 is on its way until the test lets it go on.
    private actor GatedQueue: JobQueue {
        private(set) var jobs: [Job]
        private(set) var finished: [Int] = []
        private var takes: Int
        private let gates: Gates
        private let stopped = Gate()
        private(set) var isStopped = false

        init(_ jobs: [Job], takes: Int, _ gates: Gates) { (self.jobs, self.takes, self.gates) = (jobs, takes, gates) }

        func next() async -> Job? {
            guard takes > 0 else {
                await stopped.passed()
                return nil
            }
            takes -= 1
            let job = jobs.removeFirst()
            gates["\(job.id) taken"].open()
            if job.id == 3 { await gates["3 may go on"].passed() }
            return job
        }
        func finish(_ job: Job) {
            finished.append(job.id)
            gates["\(job.id) finished"].open()
        }
        func putBack(_ job: Job) {
            jobs.append(job)
            gates["\(job.id) put back"].open()
        }
        func setAside(_ job: Job) {}
        func stop() {
            isStopped = true
            stopped.open()
        }
    }

    /// The end of a job's scope.
    private final class Ending: Sendable {
        let job: Job
        init(job: Job) { self.job = job }
    }

    private struct GatedHandler: JobHandler {
        struct Failure: Error {}

        let job: Job
        let work: UnitOfWork
        let gates: Gates

        func run() async throws {
            gates["\(job.id) began"].open()
            defer { gates["\(job.id) ended"].open() }
            if job.id == 4 { throw Failure() }
            if job.id <= 2 { await gates["\(job.id) may end"].passed() }
            await work.add("job \(job.id)")
        }
    }

    /// A clock on which the first deadline passes when a gate opens, and no other one passes.
    private final class DeadlineClock: Clock {
        let isSet = Gate()
        let passes = Gate()
        let minimumResolution = Duration.zero
        private let count = Atomic(0)
        var now: ContinuousClock.Instant { ContinuousClock().now }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            guard count.add(1, ordering: .relaxed).oldValue == 0 else {
                for await _ in AsyncStream(Int.self, { _ in }) {}
                return try Task.checkCancellation()
            }
            isSet.open()
            await passes.passed()
        }
    }
}
