import Synchronization

/// Measures the creations of shared instances while a container starts.
///
/// Outside a start, it costs a creation or a wait the check of a flag.
final class StartMeter: Sendable {
    /// A creation, and the intervals in which it waited for others.
    fileprivate struct Record {
        struct Wait {
            let target: Target
            let begin: Duration
            var end: Duration?
        }

        enum Target {
            case record(Int)
            /// A creation in another service's graph, such as the resolution of a ``Lazy``: it has no record. The wait
            /// is one for the shared instance that it waits for itself.
            case graphInstance(Creation)
        }

        let key: ServiceKey
        let begin: Duration
        var end: Duration?
        /// The creation of another container, kept so that no later one has its identity.
        var foreign: Creation?
        var failure: (any Error)?
        var isCreated: Bool { end != nil && failure == nil }
        /// The created instance, if the start created it; nil when the creation failed.
        var instance: StartedInstance?
        var waits: [Wait] = []
    }

    fileprivate struct State {
        /// How many starts are under way.
        var starts = 0
        /// Whether one of those that are under way at the same time has succeeded.
        var hasSucceeded = false
        /// How often the records were dropped: tells their numbers from later ones.
        var generation = 0
        var records: [Record] = []
        /// The records of creations that are under way.
        var places: [ObjectIdentifier: Int] = [:]
        /// The records that creations of graph instances have waited for.
        var targets: [Creation: [Int]] = [:]
    }

    private let stopwatch: Stopwatch
    private let isActive = Atomic(false)
    private let state = Locked(State())

    init(_ clock: any Clock<Duration>) { stopwatch = Stopwatch(clock) }

    /// Whether a start is under way.
    var isMeasuring: Bool { isActive.load(ordering: .relaxed) }

    // MARK: A start

    /// - Returns: The time of the beginning.
    func begin() -> Duration {
        state.withLock { $0.starts += 1 }
        isActive.store(true, ordering: .sequentiallyConsistent)
        return stopwatch.elapsed()
    }

    /// A start has succeeded.
    func end(since begin: Duration) -> StartReport {
        let now = stopwatch.elapsed()
        return Self.report(end(succeeded: true).records, from: begin, to: now)
    }

    /// A start has failed.
    ///
    /// - Parameters:
    ///   - key: The eager service whose creation failed first; nil when none was begun.
    ///   - begin: The time of the beginning.
    /// - Returns: The services that failed, the report, and the unused instances.
    func fail(of key: ServiceKey?, since begin: Duration) -> Failure {
        let now = stopwatch.elapsed()
        let (records, isUnused) = end(succeeded: false)
        return Failure(
            path: key.map { Self.failedPath(from: $0, in: records) } ?? [],
            report: Self.report(records, from: begin, to: now),
            unused: isUnused ? records.compactMap(\.instance) : [])
    }

    struct Failure {
        /// The services that failed, each one because of the next.
        let path: [ServiceKey]
        let report: StartReport
        /// The instances of starts that failed; none while another start goes on, or when one has succeeded meanwhile.
        let unused: [StartedInstance]
    }

    /// The failed services that led to the failure of an eager service, that one first.
    private static func failedPath(from key: ServiceKey, in records: [Record]) -> [ServiceKey] {
        var path = [key]
        var seen: Set<Int> = []
        var next = records.lastIndex { $0.key == key && $0.failure != nil }
        while let index = next, seen.insert(index).inserted {
            // A factory may have handled the failure of another dependency, and thrown an error of its own.
            next = dependencies(of: records[index]).last { areSame(records[$0].failure, records[index].failure) }
            if let next { path.append(records[next].key) }
        }
        return path
    }

    /// Whether one error is the other, as far as their values tell; two errors of a container may differ in their
    /// paths.
    private static func areSame(_ error: (any Error)?, _ other: (any Error)?) -> Bool {
        guard let error, let other else { return false }
        if let error = error as? ResolutionError, let other = other as? ResolutionError {
            return error.code == other.code && error.message == other.message
        }
        return type(of: error) == type(of: other) && "\(error)" == "\(other)"
    }

    private func end(succeeded: Bool) -> (records: [Record], isUnused: Bool) {
        let (records, isUnused, dropped) = state.withLock { state -> ([Record], Bool, State?) in
            state.starts -= 1
            if succeeded { state.hasSucceeded = true }
            let records = state.resolvedRecords
            guard state.starts == 0 else { return (records, false, nil) }
            isActive.store(false, ordering: .sequentiallyConsistent)
            let dropped = exchange(&state, with: State(generation: state.generation + 1))
            return (records, !dropped.hasSucceeded, dropped)
        }
        // Released outside the lock, because the end of an argument may be user code.
        withExtendedLifetime(dropped) {}
        return (records, isUnused)
    }

    private static func report(_ records: [Record], from begin: Duration, to end: Duration) -> StartReport {
        var services: [Int: StartReport.Service] = [:]
        for (index, record) in records.enumerated() {
            guard let recordEnd = record.end, recordEnd >= begin else { continue }
            services[index] = StartReport.Service(
                key: record.key, begin: record.begin - begin, duration: recordEnd - record.begin,
                ownDuration: recordEnd - record.begin - waiting(in: record, until: recordEnd),
                dependencies: dependencies(of: record).map { records[$0].key }, isCreated: record.isCreated)
        }
        var path: [StartReport.Service] = []
        // Services of a property cycle wait for one another.
        var seen: Set<Int> = []
        var next = services.max { ($0.value.end, -$0.key) < ($1.value.end, -$1.key) }?.key
        while let index = next, let service = services[index] {
            path.append(service)
            seen.insert(index)
            next = dependencies(of: records[index]).last { services[$0] != nil && !seen.contains($0) }
        }
        return StartReport(
            services: services.sorted { ($0.value.begin, $0.key) < ($1.value.begin, $1.key) }.map(\.value),
            duration: end - begin, criticalPath: path.reversed())
    }

    /// The length of the union of the intervals in which a creation waited.
    private static func waiting(in record: Record, until end: Duration) -> Duration {
        var total = Duration.zero
        var reached = record.begin
        for wait in record.waits.sorted(by: { $0.begin < $1.begin }) {
            let waitEnd = min(wait.end ?? end, end)
            if waitEnd > reached {
                total += waitEnd - max(wait.begin, reached)
                reached = waitEnd
            }
        }
        return total
    }

    /// The creations that a creation waited for, the last one at the end.
    private static func dependencies(of record: Record) -> [Int] {
        var seen: Set<Int> = []
        return record.waits.sorted { ($0.end ?? .zero) < ($1.end ?? .zero) }.compactMap(\.record)
            .reversed().filter { seen.insert($0).inserted }.reversed()
    }

    // MARK: Creations

    /// A request waits for a creation from now on.
    ///
    /// - Parameters:
    ///   - asker: The creation that makes the request.
    ///   - creation: The creation that it waits for.
    /// - Returns: The wait; nil when no container is starting, or when the request is no part of the start.
    func wait(of asker: Creation?, for creation: Creation) -> Wait? {
        guard isMeasuring else { return nil }
        let now = stopwatch.elapsed()
        // It may have begun before the start.
        let begin = now - creation.host.elapsed() + creation.begin
        // Only a wait sees the end of another container's creation.
        let isForeign = creation.home != nil && creation.host.startMeter !== self
        let wait: Wait? = state.withLock { state in
            let index = state.place(around: asker)
            if index == nil, isForeign { return nil }
            let target: Record.Target
            if creation.home == nil {
                target = .graphInstance(creation)
            } else {
                guard let record = state.place(of: creation, since: begin), index != record else { return nil }
                state.noteTarget(record, ofGraphInstancesAround: asker)
                if index != nil, isForeign { state.records[record].foreign = creation }
                target = .record(record)
            }
            guard let index else { return nil }
            state.records[index].waits.append(Record.Wait(target: target, begin: now))
            return Wait(
                meter: self, generation: state.generation, record: index,
                number: state.records[index].waits.count - 1, foreign: isForeign ? creation : nil)
        }
        if isForeign, wait != nil { creation.noteStart(self) }
        return wait
    }

    /// The time of a creation's end; nil when no container is starting.
    ///
    /// Not to be called under a lock, because a clock is user code.
    func time() -> Duration? { isMeasuring ? stopwatch.elapsed() : nil }

    /// A creation has ended; a second call does nothing.
    ///
    /// - Parameters:
    ///   - creation: The creation.
    ///   - result: Its result.
    ///   - generation: The number of what a storage has from then on; nil where no storage has it.
    ///   - time: The time of the end, for a caller that holds a lock.
    func end(
        of creation: Creation, with result: Result<Cell, any Error>, storedAs generation: Int?, at time: Duration? = nil
    ) {
        // Sequentially consistent like the creation's end, which comes before: either this sees the start, or the start
        // sees the end.
        guard isActive.load(ordering: .sequentiallyConsistent) else { return }
        let now = time ?? stopwatch.elapsed()
        state.withLock { state in
            guard let index = state.places.removeValue(forKey: ObjectIdentifier(creation)) else { return }
            state.records[index].end = now
            switch result {
            case .success(let instance):
                guard creation.belongs(to: self) else { return }
                state.records[index].instance = StartedInstance(cell: instance, generation: generation)
            case .failure(let error):
                state.records[index].failure = error
            }
        }
    }

    struct Wait {
        let meter: StartMeter
        let generation: Int
        let record: Int
        let number: Int
        let foreign: Creation?

        /// - Parameters:
        ///   - isResult: Whether the wait ended with the result of the creation.
        ///   - error: The error that ended the wait.
        func end(isResult: Bool, _ error: (any Error)?) {
            let now = meter.stopwatch.elapsed()
            meter.state.withLock { state in
                // The records of a start that has ended are gone.
                guard state.generation == generation else { return }
                state.records[record].waits[number].end = now
                guard isResult, let foreign, foreign.hasEnded,
                    let target = state.places.removeValue(forKey: ObjectIdentifier(foreign))
                else { return }
                state.records[target].end = now
                state.records[target].failure = error
            }
        }
    }
}

/// An instance that a start created.
struct StartedInstance {
    let cell: Cell
    /// The number of what a storage has, where one keeps the instance.
    let generation: Int?
}

extension StartMeter.Record.Wait {
    /// The record that it is a wait for, if it is known.
    fileprivate var record: Int? {
        if case .record(let index) = target { index } else { nil }
    }
}

extension StartMeter.State {
    /// The records, with a wait for a graph instance as one for the shared instance that it waited for longest.
    ///
    /// Without such an instance its time counts as that of the waiting service.
    fileprivate var resolvedRecords: [StartMeter.Record] {
        records.enumerated().map { index, record in
            var record = record
            record.waits = record.waits.compactMap { wait in
                guard case .graphInstance(let creation) = wait.target else { return wait }
                let last = targets[creation]?.max { end(of: $0) < end(of: $1) }
                guard let target = last, target != index else { return nil }
                return .init(target: .record(target), begin: wait.begin, end: wait.end)
            }
            return record
        }
    }

    private func end(of record: Int) -> Duration { records[record].end ?? .seconds(Int64.max) }

    /// Notes that the graph instances in whose task a creation runs wait for a record's instance.
    fileprivate mutating func noteTarget(_ record: Int, ofGraphInstancesAround creation: Creation?) {
        var next = creation
        while let creation = next, creation.home == nil {
            targets[creation, default: []].append(record)
            next = creation.enclosing?.activity.asCreation
        }
    }

    /// The record of a creation; a new one when it has none, nil when it has ended.
    fileprivate mutating func place(of creation: Creation, since begin: Duration) -> Int? {
        if let index = places[ObjectIdentifier(creation)] { return index }
        // A graph instance ends without notice here, and is none of the container's.
        if creation.hasEnded || creation.binding.blueprint.isHidden || creation.home == nil { return nil }
        records.append(.init(key: creation.binding.key, begin: begin))
        places[ObjectIdentifier(creation)] = records.count - 1
        return records.count - 1
    }

    /// The record of a creation, or of the nearest one in whose task it runs.
    fileprivate func place(around creation: Creation?) -> Int? {
        var next = creation
        while let creation = next {
            if let index = places[ObjectIdentifier(creation)] { return index }
            next = creation.enclosing?.activity.asCreation
        }
        return nil
    }
}
