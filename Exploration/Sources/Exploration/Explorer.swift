import ExplorationHooks
import Synchronization

/// Runs a body under many schedules, each chosen by a seed, and stops at the first one that fails.
///
/// A schedule is the order in which the ready jobs of all tasks run, one at a time, on a single thread. It includes the
/// body, the tasks that it starts (even detached ones), actors and the main actor's jobs. It also includes time,
/// through ``VirtualClock``, `Task.sleep` and every other wait for the runtime's timers. Half of the seeds choose a
/// random walk, the others strict priorities with few changes. If far fewer schedules exist than requested, all are
/// run.
///
/// A visit to a free actor is no step: the runtime runs it at once, in the step of its caller. Two visits in a row are
/// therefore never interleaved with those of other tasks, unless something between them suspends: in such a test, put
/// `await Task.yield()` between them. The time of `ContinuousClock.now` is not virtual.
///
/// The body must not wait for other threads: for input, a dispatch queue or a semaphore. It is called again for each
/// schedule, and should create everything that it uses.
///
/// The call blocks its thread, and a process runs one exploration at a time. Tasks that other threads start meanwhile
/// run as always.
public struct Explorer: Sendable {
    /// The number of schedules to run.
    public var schedules: Int
    /// The seed of the first schedule; the next ones follow it.
    public var firstSeed: UInt64
    /// The highest number of steps in a schedule: more steps count as an endless loop.
    public var stepLimit = 100_000
    /// Whether the inside of jobs is explored, at each call of ``schedulePoint``: on threads that take turns.
    public var isInside = false
    /// Whether a failure is shortened, which runs many more schedules.
    public var shortens = true
    /// A number for bodies with random data.
    public var dataSeed: UInt64 = 0

    /// Explores a number of schedules, from a seed.
    public init(schedules: Int = 10_000, firstSeed: UInt64 = 1) {
        self.schedules = schedules
        self.firstSeed = firstSeed
    }

    /// The hook that explored code calls inside jobs wherever threads could interleave.
    public static var schedulePoint: @convention(c) (Int32) -> Void {
        { kind in exploration_point(kind) }
    }

    /// A body to explore.
    public typealias Body = @Sendable (Explored) async throws -> Void

    /// Runs the schedules, and returns a report with the failure, if one occurred.
    public func explore(_ body: @escaping Body) -> ExplorationReport {
        onOwnThread { $0.explore(body) }
    }

    /// Runs one schedule, given by a failure's shortened choices.
    public func replay(_ choices: [Int], _ body: @escaping Body) -> ExplorationReport {
        onOwnThread { $0.replay(choices, body) }
    }

    private func onOwnThread(_ work: (inout Exploration) -> Void) -> ExplorationReport {
        Self.turn.withLock { _ in
            DefaultExecutor.install
            exploration_install { job, isMain, delay in
                Schedule.current.enqueue(job, isMain: isMain, delay: .nanoseconds(delay))
            }
            return withoutActuallyEscaping(work) { work in
                let call = Call(work: work, exploration: Exploration(settings: self))
                exploration_on_thread(
                    { context in
                        // Unretained because the caller holds the object until the thread has ended.
                        let call = Unmanaged<Call>.fromOpaque(context!).takeUnretainedValue()
                        exploration_set_exploring(true)
                        call.work(&call.exploration)
                    }, Unmanaged.passUnretained(call).toOpaque())
                return call.exploration.report
            }
        }
    }

    private static let turn = Mutex(())

    private final class Call {
        let work: (inout Exploration) -> Void
        var exploration: Exploration

        init(work: @escaping (inout Exploration) -> Void, exploration: Exploration) {
            self.work = work
            self.exploration = exploration
        }
    }
}

/// Explores the body: see ``Explorer``.
///
/// ```swift
/// try await explore(schedules: 10_000) { explored in
///     let container = Container(clock: explored.clock) { AppModule() }
///     let tasks = (0..<3).map { number in
///         explored.task("request \(number)") { try await container.resolve(Cache.self) }
///     }
///     …
/// }
/// ```
///
/// The calling task waits without blocking a thread. In a test, give each exploration a process to itself: the schedule
/// belongs to the whole process, and a crash or an endless loop ends that process only.
///
/// - Throws: ``ExplorationFailure`` for the first schedule that fails.
/// - Returns: The statistics of the exploration.
@discardableResult
public func explore(
    schedules: Int = 10_000, firstSeed: UInt64 = 1, _ body: @escaping Explorer.Body
) async throws -> ExplorationReport {
    let explorer = Explorer(schedules: schedules, firstSeed: firstSeed)
    let report = await withCheckedContinuation { (continuation: CheckedContinuation<ExplorationReport, Never>) in
        let call = DetachedCall { continuation.resume(returning: explorer.explore(body)) }
        exploration_start_thread(
            { context in
                // Retained by hand because a C function passes it to the thread, which takes over the reference.
                Unmanaged<DetachedCall>.fromOpaque(context!).takeRetainedValue().work()
            }, Unmanaged.passRetained(call).toOpaque())
    }
    if let failure = report.failure { throw failure }
    return report
}

/// The work of a thread of its own.
private final class DetachedCall: Sendable {
    let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}
