import AsyncDI
import Testing

/// A queue worker as people write it: a scope, a unit of work and a leased connection for each job.
@Suite(.timeLimit(.minutes(10)))
struct WorkerStress {
    private static let consumers = 8

    /// The queue, and the application that takes jobs from it at this moment.
    private final class Plant: Sendable {
        let jobs: Int
        let queue: JobQueue
        let complaints = Complaints()
        let census = WorkerApplication.Census()
        let database: FakeDatabase
        let application: Locked<WorkerApplication>
        let done = Counter()
        let retries = Counter()
        let putBack = Counter()
        let containers = Locked<[WeakContainer]>([])

        init(jobs: Int) {
            self.jobs = jobs
            database = FakeDatabase(complaints)
            application = Locked(WorkerApplication(0, database, census))
            var random = SeededRandom(seed: 1)
            queue = JobQueue(
                (0..<jobs).map { id in
                    Job(
                        id: id, tenant: random.below(WorkerApplication.tenants),
                        kind: random.pick(WorkerApplication.kinds))
                })
            remember()
        }

        /// Starts another application in place of one that is ending.
        func restart() -> WorkerApplication {
            let old = application.current
            application.set(WorkerApplication(containers.current.count, database, census))
            remember()
            return old
        }

        private func remember() {
            let container = application.current.container
            containers.withLock { $0.append(WeakContainer(container: container)) }
        }
    }

    private struct WeakContainer: Sendable {
        weak let container: Container?
    }

    @Test
    func `twenty thousand jobs are committed once each, whatever cuts them short`() async throws {
        let plant = Plant(jobs: Stress.count(20_000, atLeast: 400))
        let hasEnded = await ends(within: .seconds(540)) {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Self.consumers { group.addTask { await Self.consume(plant, number) } }
            }
        }
        try #require(hasEnded, "the worker hangs after \(plant.done.value) jobs")
        try await plant.application.current.drain()
        #expect(plant.complaints.isEmpty, "\(plant.complaints.summary)")
        let flaw = plant.database.flaw(after: plant.jobs)
        #expect(flaw == nil)
        #expect(plant.database.openConnections == 0)
        #expect(
            plant.retries.value > 0 && plant.putBack.value > 0 && plant.database.rollBacks > 0, "nothing went wrong")
        _ = plant.restart()
        let isEmpty = await eventually {
            plant.census.isEmpty && plant.containers.current.dropLast().allSatisfy { $0.container == nil }
        }
        #expect(isEmpty, "\(plant.census.summary)")
    }

    /// Takes jobs until all are done.
    private static func consume(_ plant: Plant, _ number: Int) async {
        while plant.done.value < plant.jobs {
            let application = plant.application.current
            guard application.isEnding.value == 0, let job = plant.queue.take() else {
                await Task.yield()
                continue
            }
            switch await attempt(job, in: application) {
            case .success:
                await report(plant.done.add(), plant)
            case .failure(ResolutionError.Code.disposed) where application.isEnding.value == 1:
                // The application's end, not the job's fault: another one takes it.
                plant.putBack.add()
                plant.queue.giveBack(job)
            case .failure(let error):
                complain(of: error, job, application, plant)
                plant.retries.add()
                var next = job
                next.attempt += 1
                plant.queue.giveBack(next)
            }
        }
    }

    /// Runs a job in a task of its own, which a deadline may cancel.
    private static func attempt(_ job: Job, in application: WorkerApplication) async -> Result<Void, any Error> {
        let task = Task { try await application.run(job) }
        if job.mishap == .deadline {
            var random = SeededRandom(seed: UInt64(job.id), stream: -100 - job.attempt)
            await random.shake(upTo: 15)
            task.cancel()
        }
        return await task.result
    }

    /// Complains of an error that is none of those that were provoked.
    private static func complain(of error: any Error, _ job: Job, _ application: WorkerApplication, _ plant: Plant) {
        let isExpected: Bool =
            switch error {
            case is Handler.Failure: job.mishap == .failure
            case is CancellationError: job.mishap == .deadline
            case is UnitOfWork.Ended: application.isEnding.value == 1
            case is FakeDatabase.Conflict: job.mishap == .conflict
            default: false
            }
        plant.complaints.expect(isExpected, "job \(job.id) failed: \(error)")
    }

    /// The event after a number of jobs.
    private static func report(_ done: Int, _ plant: Plant) async {
        do {
            if done.isMultiple(of: 100) {
                let kind = WorkerApplication.kinds[done / 100 % WorkerApplication.kinds.count]
                try await plant.application.current.reload(kind)
            }
            let period = plant.jobs / 20
            if done.isMultiple(of: period), done < plant.jobs {
                let old = plant.restart()
                if (done / period).isMultiple(of: 2) { try await old.drain() } else { try await old.shutDown() }
            }
        } catch ResolutionError.Code.disposed {
            // A reload of an application that is ending.
        } catch let error as DisposalError where error.errors.allSatisfy({ $0 is FakeDatabase.Conflict }) {
            // Commits that were under way when the application was disposed: their jobs are informed too.
        } catch {
            plant.complaints.add("after \(done) jobs: \(error)")
        }
    }
}
