import Foundation

/// Runs each job on a separate thread.
final class OwnThread: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread { job.runSynchronously(on: executor) }.start()
    }
}

/// A number of threads that run whatever job comes next: real ones, also where Swift's own pool has few.
///
/// `@unchecked Sendable` because the jobs are touched only while the condition is locked.
final class Threads: TaskExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    /// The threads live as long as the process.
    init(_ count: Int) {
        for _ in 0..<count { Thread { self.work() }.start() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    private func work() {
        let executor = asUnownedTaskExecutor()
        while true {
            let job = condition.withLock {
                while jobs.isEmpty { condition.wait() }
                return jobs.removeLast()
            }
            job.runSynchronously(on: executor)
        }
    }
}
