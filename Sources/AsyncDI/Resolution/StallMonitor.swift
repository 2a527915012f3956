/// Watches the requests that wait in a container and its scopes, and reports those that wait too long: the shell around
/// ``StallWatch``.
///
/// Exists only with observers. It has a task only while a request waits that has not been reported.
final class StallMonitor: Sendable {
    /// A wait: one service for another.
    struct Wait: Hashable, Sendable {
        /// The service whose factory or hook made the request, nil outside every one.
        let waiting: ServiceKey?
        /// The object of the wait, whose end is reported too, and must not be reported before.
        let creation: Creation
        /// Distinguishes the runs of one service, by identity: a waiting request keeps its run.
        private let run: ObjectIdentifier?
        /// The container that reports the wait: for a request from outside a scope, the one that the scopes of all
        /// requests belong to, because ten thousand of them that wait for one service are one report.
        let reporter: any ResolutionHost

        init(of asker: Run?, for creation: Creation, asking host: any ResolutionHost) {
            // The resolution of a `Lazy` is no service: its caller waits.
            var asker = asker
            while let run = asker, run.binding.blueprint.isHidden { asker = run.parent }
            // A scope's own service is awaited by its own requests alone.
            reporter = asker == nil && creation.home !== host ? host.outermostOfScopes : host
            waiting = asker?.step.key
            run = asker.map { ObjectIdentifier($0) }
            self.creation = creation
        }

        static func == (first: Wait, second: Wait) -> Bool {
            first.creation === second.creation && first.run == second.run && first.reporter === second.reporter
                && first.waiting == second.waiting
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(creation)
            hasher.combine(run)
        }
    }

    private struct State {
        var watch: StallWatch<Wait>
        var task: Task<Void, Never>?
        /// Tells a task that was cancelled from the one after it.
        var generation = 0
    }

    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch
    private let report: @Sendable (Wait, Duration) -> Void
    private let state: Locked<State>

    init(
        threshold: Duration, clock: any Clock<Duration>, report: @escaping @Sendable (Wait, Duration) -> Void
    ) {
        self.clock = clock
        self.report = report
        stopwatch = Stopwatch(clock)
        state = Locked(State(watch: StallWatch(threshold: threshold)))
    }

    /// A request begins to wait.
    func begin(_ wait: Wait) {
        let now = stopwatch.elapsed()
        state.withLock { state in
            state.watch.begin(wait, at: now)
            guard state.task == nil else { return }
            state.generation += 1
            let generation = state.generation
            state.task = Task.detached { [weak self, clock] in
                // A failure is a cancellation: no request waits any more.
                while let delay = self?.check(generation) {
                    do { try await clock.nap(for: delay) } catch { return }
                }
            }
        }
    }

    /// The request waits no longer.
    func end(_ wait: Wait) {
        let task: Task<Void, Never>? = state.withLock { state in
            state.watch.end(wait)
            return state.watch.isEmpty ? state.task.take() : nil
        }
        task?.cancel()
    }

    /// Reports the waits that are due; nil when the task has no more waits to watch.
    private func check(_ generation: Int) -> Duration? {
        let now = stopwatch.elapsed()
        let (due, delay) = state.withLock { state -> ([(wait: Wait, lasted: Duration)], Duration?) in
            guard state.generation == generation, state.task != nil else { return ([], nil) }
            let due = state.watch.due(at: now)
            let delay = state.watch.nextCheck(at: now)
            if delay == nil { state.task = nil }
            return (due, delay)
        }
        for (wait, lasted) in due { report(wait, lasted) }
        return delay
    }
}

extension ResolutionHost {
    /// The container that this one is a scope of, at any depth; itself if it is no scope.
    ///
    /// They share their observers.
    fileprivate var outermostOfScopes: any ResolutionHost {
        var host: any ResolutionHost = self
        while host.isScope, let parent = host.parentHost { host = parent }
        return host
    }
}

extension Request {
    /// Waits for a creation, watched by the container asked.
    ///
    /// Not inlined, so that its frame is not part of every wait.
    @inline(never)
    nonisolated(nonsending) func waitWatched(as waiter: Waiter) async {
        let monitor = host.stalls
        let wait = StallMonitor.Wait(of: asker, for: waiter.creation, asking: host)
        monitor?.begin(wait)
        defer { monitor?.end(wait) }
        await waiter.settled()
    }
}
