/// The results of the health checks of one container.
///
/// ```swift
/// let report = await container.health(timeout: .seconds(2))
/// guard report.isHealthy else { return .serviceUnavailable(report.description) }
/// ```
public struct HealthReport: Sendable, CustomStringConvertible {
    /// The result of a health check.
    @nonexhaustive
    public enum Status: Sendable {
        /// The check returned.
        case healthy
        /// The check threw this error.
        case failed(any Error)
        /// The check did not return in time; it was cancelled.
        case timedOut
    }

    /// One instance, and the result of its check.
    public struct Entry: Sendable {
        /// The service.
        public let key: ServiceKey
        /// The arguments of the instance, or the key that `keyedBy:` computed from them.
        public var arguments: [any Sendable] { argumentKey.list }
        /// The result of the check.
        public let status: Status
        /// The time that the check took, by the container's clock.
        public let duration: Duration
        /// The services that cannot work without this one, by the declared dependencies, nearest first; empty for a
        /// healthy instance.
        public internal(set) var affected: [String]

        let argumentKey: ArgumentKey

        /// Whether the check returned.
        public var isHealthy: Bool { if case .healthy = status { true } else { false } }
    }

    /// One entry for each instance that was checked, sorted by service.
    public let entries: [Entry]

    /// Whether the container is disposed, or being disposed: no check runs, and it answers no request.
    public let isDisposed: Bool

    /// Whether every check returned, in a container that is not disposed.
    public var isHealthy: Bool { !isDisposed && entries.allSatisfy(\.isHealthy) }

    /// A line for each entry, after one that says when the container is disposed.
    public var description: String {
        ((isDisposed ? ["the container is disposed"] : []) + entries.map(\.description)).joined(separator: "\n")
    }
}

extension HealthReport.Entry: CustomStringConvertible {
    /// The entry as a line of a log.
    public var description: String {
        let arguments = arguments.map { singleLine("\($0)") }.joined(separator: ", ")
        let name = arguments.isEmpty ? "\(key)" : "\(key) for \(arguments)"
        let users = affected.isEmpty ? "" : "; needed by \(affected.joined(separator: ", "))"
        return switch status {
        case .healthy: "\(name): healthy after \(duration.readable)"
        case .failed(let error): "\(name): failed after \(duration.readable): \(escaped("\(error)"))\(users)"
        case .timedOut: "\(name): no answer after \(duration.readable)\(users)"
        }
    }
}

extension Container {
    /// Runs the health checks of the instances that are alive in this container, concurrently.
    ///
    /// Creates no instances: a service without an instance is not in the report. A check does not count as a use of its
    /// instance: it delays neither the eviction of a multiton nor the disposal of an instance. When an instance is
    /// disposed during its check, and the check fails, the report leaves it out. Instances of scopes, and of the
    /// containers above, are not checked.
    ///
    /// The cancellation of the calling task cancels the checks that are still running. A check that throws for that
    /// reason is in the report as failed, with `CancellationError`: after a cancellation, ignore the report.
    ///
    /// - Parameter timeout: The longest time that one check may take, by the container's clock. A check that takes
    ///   longer is cancelled, and the report does not wait for it. While it runs on, its instance is not checked again:
    ///   the next report waits for its end, up to the timeout.
    /// - Returns: The results.
    public func health(timeout: Duration) async -> HealthReport {
        var checked = await core.checkHealth(timeout: timeout)
        if !checked.allSatisfy(\.entry.isHealthy) { checked = await core.namingUsers(of: checked) }
        return HealthReport(entries: checked.map(\.entry), isDisposed: core.table.isClosed)
    }
}

extension ContainerCore {
    /// An instance that is alive, and its check.
    private struct Subject: Sendable {
        let key: CreationKey
        let cell: Cell
        let identity: CheckedInstance
        let check: HealthCheck
    }

    /// The result of a check, and its service as graphs name it.
    fileprivate typealias Checked = (entry: HealthReport.Entry, service: RecordedService)

    /// Names the services that need the failed ones.
    ///
    /// Off the container's actor, because it looks at every registration here and above.
    @concurrent fileprivate func namingUsers(of checked: [Checked]) async -> [Checked] {
        let records = graphHereAndAbove.records
        let names = GraphNames(records)
        let edges = DependencyGraph(recorded: records, named: names).edges
        let users = Dictionary(grouping: edges, by: \.to).mapValues { $0.map(\.from) }
        // Searched once for each service, because many instances of one may fail at the same time.
        var known: [RecordedService: [String]] = [:]
        return checked.map { entry, service in
            guard !entry.isHealthy, records.services[service] != nil else { return (entry, service) }
            var entry = entry
            entry.affected =
                known[service] ?? Array(reachable(from: [names[service]]) { users[$0, default: []] }.dropFirst())
            known[service] = entry.affected
            return (entry, service)
        }
    }

    fileprivate func checkHealth(timeout: Duration) async -> [Checked] {
        let checked = await withTaskGroup(of: Checked?.self) { group in
            for subject in subjects() {
                group.addTask { await self.check(subject, timeout: timeout) }
            }
            var named: [(name: String, checked: Checked)] = []
            for await checked in group {
                if let checked { named.append(("\(checked.entry.key) \(checked.entry.arguments)", checked)) }
            }
            return named
        }
        return checked.sorted { $0.name < $1.name }.map(\.checked)
    }

    private func subjects() -> [Subject] {
        var subjects: [Subject] = []
        var stored: [(key: CreationKey, storage: any InstanceStorage, generation: Int, check: HealthCheck)] = []
        withState { state in
            guard state.life.isOpen else { return }
            for binding in state.registrations.inOrder {
                guard let check = binding.blueprint.healthCheck, let cell = binding.givenInstance else { continue }
                subjects.append(
                    Subject(
                        key: CreationKey(withoutArguments: binding), cell: cell, identity: .cached(cell), check: check))
            }
            let entries = state.instances.all { $0.blueprint.healthCheck != nil && $0.givenInstance == nil }
            for kept in entries {
                guard let check = kept.binding.blueprint.healthCheck else { continue }
                if let entry = kept.stored {
                    stored.append((kept.key, entry.instances, entry.generation, check))
                } else if let cell = kept.cell, let living = cell.strengthened() {
                    subjects.append(Subject(key: kept.key, cell: living, identity: .cached(cell), check: check))
                }
            }
        }
        // Loaded outside the lock, because a storage is user code.
        for (key, storage, generation, check) in stored {
            guard let instance = storage.peek() else { continue }
            let identity = CheckedInstance.stored(generation: generation)
            do {
                let cell = try key.binding.cell(stored: instance)
                subjects.append(Subject(key: key, cell: cell, identity: identity, check: check))
            } catch {
                // No instance that the check could be given.
                let check: HealthCheck = { _ in throw error }
                subjects.append(Subject(key: key, cell: StrongCell(instance), identity: identity, check: check))
            }
        }
        return subjects
    }

    /// The result of one check; nil when the instance is gone, which makes its failure meaningless.
    private func check(_ subject: Subject, timeout: Duration) async -> Checked? {
        let begin = stopwatch.elapsed()
        let status = await status(of: subject, timeout: timeout)
        let entry = HealthReport.Entry(
            key: subject.key.binding.key, status: status, duration: stopwatch.elapsed() - begin, affected: [],
            argumentKey: subject.key.arguments)
        guard entry.isHealthy || isAlive(subject) else { return nil }
        return (entry, RecordedService(subject.key.binding, in: table.holder(of: subject.key.binding) ?? table))
    }

    private func status(of subject: Subject, timeout: Duration) async -> HealthReport.Status {
        let (end, begin, timeout) = (Completion(), stopwatch.elapsed(), timeout.addable)
        while let earlier = enter(subject.identity, end) {
            if Task.isCancelled { return .failed(CancellationError()) }
            let (wakes, rest) = (earlier.wakes, timeout - (stopwatch.elapsed() - begin))
            if rest <= .zero { return .timedOut }
            await withTaskCancellationHandler {
                _ = await earlier.wait(atMost: rest, clock: clock, since: wakes)
            } onCancel: {
                earlier.wake()
            }
        }
        let rest = max(timeout - (stopwatch.elapsed() - begin), .zero)
        let status = Locked(HealthReport.Status.timedOut)
        // A separate task, because a check that does not return is left behind.
        let task = Task { [weak self] in
            let result: HealthReport.Status
            do {
                try await subject.check(subject.cell)
                result = .healthy
            } catch {
                result = .failed(error)
            }
            status.withLock { $0 = result }
            // First, so that a waiting report does not find it.
            self?.leave(subject.identity)
            end.finish()
        }
        return await withTaskCancellationHandler {
            let hasEnded = await end.wait(atMost: rest, clock: clock)
            if hasEnded { return status.withLock { $0 } }
            task.cancel()
            return .timedOut
        } onCancel: {
            task.cancel()
        }
    }

    /// Notes a check that is about to begin, unless one of the same instance runs.
    ///
    /// - Returns: The end of that one.
    private func enter(_ instance: CheckedInstance, _ end: Completion) -> Completion? {
        withState { state in
            if let earlier = state.checks[instance] { return earlier }
            state.checks[instance] = end
            return nil
        }
    }

    private func leave(_ instance: CheckedInstance) {
        let ended = withState { state in
            state.checks.index(forKey: instance).map { state.checks.remove(at: $0) }
        }
        // The last reference to an instance must not be released under the lock.
        withExtendedLifetime(ended) {}
    }

    private func isAlive(_ subject: Subject) -> Bool {
        withState { state in
            guard state.life.isOpen else { return false }
            if subject.key.binding.givenInstance != nil { return subject.key.binding.isCurrent }
            guard let kept = state.instances[subject.key] else { return false }
            switch subject.identity {
            case .cached(let cell): return kept.cell === cell
            case .stored(let generation): return kept.stored?.generation == generation
            }
        }
    }
}
