import ExplorationHooks
import Synchronization

/// Runs a body under many schedules, each chosen by a seed, and stops at the first that fails.
///
/// A schedule is the order in which the ready jobs of all tasks run, one at a time, on a single thread. The body, the tasks
/// that it starts (also detached ones), actors and the main actor's jobs all belong to it; so does time, through
/// ``VirtualClock``, `Task.sleep` and everything else that waits for the runtime's timers. Half of the seeds choose a random
/// walk, the others strict priorities with few changes. Where there are fewer schedules than asked for, all are run.
///
/// The body must not wait for anything that other threads do: input, a dispatch queue, a semaphore. It is called anew for
/// each schedule, and should make everything that it uses.
///
/// The call blocks its thread, and one exploration runs at a time in a process. Tasks that other threads start meanwhile run as
/// always.
public struct Explorer: Sendable {
    /// How many schedules to run.
    public var schedules: Int
    /// The seed of the first schedule; the next ones follow it.
    public var firstSeed: UInt64
    /// How many steps a schedule may have: more is taken for an endless loop.
    public var stepLimit = 100_000
    /// Whether jobs are explored inside, where the code calls ``schedulePoint``: on threads that take turns.
    public var isInside = false
    /// Whether a failure is shortened, which runs many more schedules.
    public var shortens = true
    /// A number that bodies with random data may use.
    public var dataSeed: UInt64 = 0

    /// Explores so many schedules, from a seed.
    public init(schedules: Int = 10_000, firstSeed: UInt64 = 1) {
        self.schedules = schedules
        self.firstSeed = firstSeed
    }

    /// What code that is to be explored inside calls where threads could interleave.
    public static var schedulePoint: @convention(c) (Int32, UnsafeRawPointer?) -> Void {
        { kind, address in exploration_point(kind, address) }
    }

    /// A body to explore.
    public typealias Body = @Sendable (Explored) async throws -> Void

    /// Runs the schedules; the report has the failure, if there is one.
    public func explore(_ body: @escaping Body) -> ExplorationReport {
        onOwnThread { $0.explore(body) }
    }

    /// Runs one schedule: that of a failure's shortened choices.
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
/// - Returns: How much was explored.
@discardableResult
public func explore(
    schedules: Int = 10_000, firstSeed: UInt64 = 1, _ body: @escaping Explorer.Body
) async throws -> ExplorationReport {
    let explorer = Explorer(schedules: schedules, firstSeed: firstSeed)
    let report = await withCheckedContinuation { (continuation: CheckedContinuation<ExplorationReport, Never>) in
        let call = DetachedCall { continuation.resume(returning: explorer.explore(body)) }
        exploration_start_thread(
            { context in
                // Retained by hand because a C function passes it on to the thread, which takes it over.
                Unmanaged<DetachedCall>.fromOpaque(context!).takeRetainedValue().work()
            }, Unmanaged.passRetained(call).toOpaque())
    }
    if let failure = report.failure { throw failure }
    return report
}

/// What a thread of its own does.
private final class DetachedCall: Sendable {
    let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}
