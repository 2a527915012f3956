/// Watches the requests that wait in a container and its scopes, and reports those that wait too long: the shell around
/// ``StallWatch``.
///
/// Exists only with observers. Its task begins with a wait, and ends when it finds none: it is not cancelled meanwhile,
/// because the runtime keeps what a cancelled sleep needed until that sleep would have ended, and a server's waits begin
/// and end thousands of times a second.
final class StallMonitor: Sendable {
    /// A wait: one service for another.
    struct Wait: Hashable, Sendable {
        /// The service whose run asked, nil outside every run.
        let waiting: ServiceKey?
        /// The object of the wait, whose end is reported too, and must not be reported before.
        let creation: Creation
        /// Distinguishes the runs of one service, by identity: a waiting request keeps its run.
        private let run: ObjectIdentifier?
        /// The container of the request, whose observers receive the report.
        let asked: any ResolutionHost

        init(of asker: Run?, for creation: Creation, asking host: any ResolutionHost) {
            asked = host
            waiting = asker?.step.key
            run = asker.map { ObjectIdentifier($0) }
            self.creation = creation
        }

        static func == (first: Wait, second: Wait) -> Bool {
            first.creation === second.creation && first.run == second.run && first.asked === second.asked
                && first.waiting == second.waiting
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(creation)
            hasher.combine(run)
        }
    }

    private struct State {
        var watch: StallWatch<Wait>
        /// Whether a task watches the waits.
        var isWatched = false
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
            if state.isWatched { return }
            state.isWatched = true
            Task.detached { [weak self, clock] in
                // No error: no other task cancels this one.
                while let delay = self?.check() { try? await clock.nap(for: delay) }
            }
        }
    }

    /// The request waits no longer.
    func end(_ wait: Wait) {
        state.withLock { $0.watch.end(wait) }
    }

    /// Reports the waits that are due; nil when the task has no more waits to watch.
    private func check() -> Duration? {
        let now = stopwatch.elapsed()
        let (due, delay) = state.withLock { state -> ([(wait: Wait, lasted: Duration)], Duration?) in
            let due = state.watch.due(at: now)
            let delay = state.watch.nextCheck(at: now)
            state.isWatched = delay != nil
            return (due, delay)
        }
        for (wait, lasted) in due { report(wait, lasted) }
        return delay
    }
}

extension Request {
    /// Watched by the container asked, while the body waits for a creation.
    nonisolated(nonsending) func watched<R: Sendable>(
        waitingFor creation: Creation, _ body: nonisolated(nonsending) () async -> R
    ) async -> R {
        // A hidden creation in a graph is a `Lazy`, whose own request is watched; one in a container loads modules.
        guard let monitor = host.stalls, !creation.binding.blueprint.isHidden || creation.home != nil else {
            return await body()
        }
        let wait = StallMonitor.Wait(of: asker, for: creation, asking: host)
        monitor.begin(wait)
        defer { monitor.end(wait) }
        return await body()
    }
}
