@testable import AsyncDI

/// An actor whose code runs only at the test's command: ready jobs wait until then.
actor HeldActor {
    nonisolated let executor = HeldExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run<R: Sendable>(_ body: nonisolated(nonsending) @Sendable () async throws -> R) async rethrows -> R {
        try await body()
    }
}

final class HeldExecutor: SerialExecutor {
    private let jobs = Locked([UnownedJob]())

    var hasJobs: Bool { jobs.withLock { !$0.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs the ready jobs, on the caller's thread.
    func runJobs() {
        let ready = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in ready { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}

/// Runs the code of tasks that prefer it only at the test's command.
final class HeldTaskExecutor: TaskExecutor {
    private let jobs = Locked([UnownedJob]())

    var hasJobs: Bool { jobs.withLock { !$0.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs the ready jobs, on the caller's thread; false without any.
    @discardableResult
    func runJobs() -> Bool {
        let ready = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in ready { job.runSynchronously(on: asUnownedTaskExecutor()) }
        return !ready.isEmpty
    }
}
