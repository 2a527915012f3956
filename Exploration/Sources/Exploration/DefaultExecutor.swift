// The interface for custom executors, which is not public yet.
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency
import ExplorationHooks

/// The process's default executor: the scheduler for threads that explore, the previous executor for others.
///
/// The runtime's hooks do not intercept everything: `Task.yield` and `Task.sleep` call the default executor directly.
final class DefaultExecutor: TaskExecutor, SchedulingExecutor {
    private static let platform = PlatformExecutorFactory.defaultExecutor

    /// Installs the executor, once for the process.
    static let install: Void = {
        // The runtime creates its executor at the first use, which would replace ours.
        _ = Task.defaultExecutor
        _createExecutors(factory: Factory.self)
    }()

    private struct Factory: ExecutorFactory {
        static var mainExecutor: any MainExecutor { MainActorExecutor() }
        static var defaultExecutor: any TaskExecutor { DefaultExecutor() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if exploration_is_exploring() {
            Schedule.current.enqueue(job.pointer, isMain: false, delay: .zero)
        } else {
            Self.platform.enqueue(ExecutorJob(job))
        }
    }

    func enqueue<C: Clock>(_ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C) {
        if exploration_is_exploring() {
            let delay = max(delay as? Duration ?? .nanoseconds(1), .nanoseconds(1))
            Schedule.current.enqueue(UnownedJob(job).pointer, isMain: false, delay: delay)
        } else if let platform = Self.platform as? any SchedulingExecutor {
            platform.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
        } else {
            fatalError("the platform's executor knows no time")
        }
    }
}

/// The main actor's executor: the scheduler for threads that explore, the previous executor for others.
final class MainActorExecutor: MainExecutor {
    private static let platform = PlatformExecutorFactory.mainExecutor

    // The frames of the main actor that run when this is installed still belong to the platform's executor.
    func checkIsolated() { Self.platform.checkIsolated() }
    func isIsolatingCurrentContext() -> Bool? { Self.platform.isIsolatingCurrentContext() }

    func run() throws { try Self.platform.run() }
    func stop() { Self.platform.stop() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if exploration_is_exploring() {
            Schedule.current.enqueue(job.pointer, isMain: true, delay: .zero)
        } else {
            Self.platform.enqueue(ExecutorJob(job))
        }
    }
}

extension UnownedJob {
    // Unchecked because the type is a pointer and nothing else; a breach would crash every schedule.
    fileprivate var pointer: UnsafeMutableRawPointer { unsafeBitCast(self, to: UnsafeMutableRawPointer.self) }
}
