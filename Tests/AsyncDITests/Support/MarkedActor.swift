import Dispatch

/// An actor whose code can tell that it runs on it.
@globalActor actor MarkedActor {
    static let shared = MarkedActor()
    private static let mark = DispatchSpecificKey<Bool>()

    /// Whether the code that asks runs on the actor.
    nonisolated static var isHere: Bool { DispatchQueue.getSpecific(key: mark) == true }

    private let executor = Executor(mark)
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private final class Executor: SerialExecutor {
        private let queue = DispatchQueue(label: "marked")

        init(_ mark: DispatchSpecificKey<Bool>) { queue.setSpecific(key: mark, value: true) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }
}
