import Synchronization

/// A registration as a graph identifies it: the same for every scope that registers it, and for its replacements.
struct RecordedService: Hashable, Sendable {
    /// The key; a contribution without a key is identified by its place in the source, because its number differs
    /// between scopes.
    let key: ServiceKey
    /// The label of the container that holds the registration.
    let owner: String
    /// Whether this stands for all contributions to the key's service.
    let isGroup: Bool
    /// Distinguishes a registration from another one of the key in a container with the same label.
    private(set) var mark = ""

    init(_ key: ServiceKey, owner: String, site: RegistrationSite? = nil) {
        if case .contribution(let id) = key.role, !id.isKeyed, let site {
            self.key = key.with(.contribution(ContributionID(key: site)))
        } else {
            self.key = key
        }
        self.owner = owner
        isGroup = false
    }

    /// The service with a mark of its registration; without, for a group, or a value that scopes supply.
    func marked(_ facts: Recorder.Facts) -> RecordedService {
        var marked = self
        if let site = facts.site, let lifetime = facts.lifetime { marked.mark = "\(site) \(lifetime)" }
        return marked
    }

    var unmarked: RecordedService {
        var plain = self
        plain.mark = ""
        return plain
    }

    init(_ binding: Binding, in table: InstanceTable) {
        self.init(binding.key, owner: table.host.ownerLabel, site: binding.blueprint.site)
    }

    /// The group that a contribution belongs to, as one service: a container and its scopes contribute to the same one.
    init(groupOf contribution: ServiceKey) {
        key = ServiceKey(contribution.service, qualifier: contribution.qualifier)
        owner = ""
        isGroup = true
    }
}

/// The runs and requests of a container while it was recording.
final class Recorder: Sendable {
    /// The record of a service.
    struct Facts: Sendable {
        /// Stands for the lifetime of services of `make`, which marks them in a graph.
        static let making = "making"

        var lifetime: String?
        var site: RegistrationSite?
        var isEager = false
        var creations = 0
        var failures = 0
        var duration = Duration.zero

        /// The order of registrations in the source.
        func isRegistered(before other: Facts) -> Bool {
            (site?.fileID ?? "", site?.line ?? 0) < (other.site?.fileID ?? "", other.site?.line ?? 0)
        }
    }

    struct Dependency: Hashable, Sendable {
        let from: RecordedService
        let to: RecordedService
        let isDeferred: Bool

        func mapped(_ name: (RecordedService) -> RecordedService) -> Dependency {
            Dependency(from: name(from), to: name(to), isDeferred: isDeferred)
        }
    }

    struct Records: Sendable {
        var services: [RecordedService: Facts] = [:]
        var dependencies: Set<Dependency> = []
    }

    private struct State {
        var records = Records()
        var isRunning = true
    }

    /// The number of active recorders in the process: without any, no other check is made.
    private static let running = Atomic<Int>(0)
    static var isAnyRunning: Bool { running.load(ordering: .relaxed) > 0 }

    private let state = Locked(State())

    init() { Self.running.add(1, ordering: .relaxed) }
    deinit { stop() }

    var isRunning: Bool { state.withLock { $0.isRunning } }
    var records: Records { state.withLock { $0.records } }

    func stop() {
        let wasRunning = state.withLock { state in
            exchange(&state.isRunning, with: false)
        }
        if wasRunning { Self.running.subtract(1, ordering: .relaxed) }
    }

    /// Changes the records, unless the recording is over.
    func record(_ change: (inout Records) -> Void) {
        state.withLock { if $0.isRunning { change(&$0.records) } }
    }
}

extension Recorder.Records {
    mutating func note(_ service: RecordedService, of binding: Binding?) {
        guard services[service] == nil else { return }
        let lifetime = binding.flatMap { binding -> String? in
            if binding.key.isMaking { return Recorder.Facts.making }
            if binding.blueprint.isExpected { return nil }
            return binding.blueprint.instance == nil ? binding.lifetime.name : "instance"
        }
        services[service] = Recorder.Facts(
            lifetime: lifetime, site: binding?.blueprint.site, isEager: binding?.blueprint.isEager ?? false)
    }

    mutating func note(from asker: RecordedService, to service: RecordedService, isDeferred: Bool = false) {
        dependencies.insert(Recorder.Dependency(from: asker, to: service, isDeferred: isDeferred))
    }

    /// Notes a dependency; one on a contribution leads through its group.
    mutating func noteRequest(from asker: RecordedService, for service: RecordedService, isDeferred: Bool) {
        guard service.key.isContribution else { return note(from: asker, to: service, isDeferred: isDeferred) }
        let group = RecordedService(groupOf: service.key)
        note(group, of: nil)
        note(from: asker, to: group, isDeferred: isDeferred)
        note(from: group, to: service)
    }
}

/// One run of a factory and its hooks, for the recorders of the container that it asks, and of those above.
final class RecordedRun: Sendable {
    private let recorders: [Recorder]
    private let service: RecordedService
    private let binding: Binding
    private let stopwatch: Stopwatch
    private let failed = Atomic(false)
    private let cyclesAllowed = Atomic(false)
    /// The wait before the factory ran.
    private let delay = Locked(Duration.zero)

    /// Nil without a recording.
    ///
    /// Without a recording, a creation only reads one counter.
    static func begin(_ binding: Binding, in host: any ResolutionHost) -> RecordedRun? {
        guard Recorder.isAnyRunning, !binding.blueprint.isHidden else { return nil }
        let recorders = host.recorders
        return recorders.isEmpty ? nil : RecordedRun(binding, host, recorders)
    }

    private init(_ binding: Binding, _ host: any ResolutionHost, _ recorders: [Recorder]) {
        self.recorders = recorders
        self.binding = binding
        service = RecordedService(binding, in: host.table.holder(of: binding) ?? host.table)
        stopwatch = host.makeStopwatch()
    }

    /// Whether the hooks of a registration with `injectProperties` are running: the instance is made, and their
    /// requests may lead back to it.
    ///
    /// Set by the run's own task, one after the other.
    var allowsCycles: Bool {
        get { cyclesAllowed.load(ordering: .relaxed) }
        set { cyclesAllowed.store(newValue, ordering: .relaxed) }
    }

    /// Notes how long the factory had to wait before it ran.
    func noteDelay(_ delay: Duration) { self.delay.withLock { $0 += delay } }

    /// The factory or a hook threw.
    func fail() { failed.store(true, ordering: .relaxed) }

    func end() {
        let duration = stopwatch.elapsed() - delay.withLock { $0 }
        let failed = failed.load(ordering: .relaxed)
        for recorder in recorders {
            recorder.record { records in
                records.note(service, of: binding)
                if failed {
                    records.services[service]?.failures += 1
                } else {
                    records.services[service]?.creations += 1
                }
                records.services[service]?.duration += duration
            }
        }
    }

    /// Records a request for a registration.
    func asks(for binding: Binding, in table: InstanceTable, isDeferred: Bool = false) {
        let target = RecordedService(binding, in: table)
        let isDeferred = isDeferred || allowsCycles
        var alias: (service: RecordedService, binding: Binding)?
        if let key = binding.forwardedKey, let (behind, place) = table.registration(of: key) {
            alias = (RecordedService(behind, in: place), behind)
        }
        for recorder in recorders {
            recorder.record { records in
                records.note(service, of: self.binding)
                records.note(target, of: binding)
                records.noteRequest(from: service, for: target, isDeferred: isDeferred)
                guard let alias else { return }
                records.note(alias.service, of: alias.binding)
                records.note(from: target, to: alias.service)
            }
        }
    }

    /// Records a request for a key, whatever its answer.
    func asks(for key: ServiceKey, of host: any ResolutionHost, isDeferred: Bool = false) {
        guard let (binding, table) = host.table.registration(of: key) else { return }
        asks(for: binding, in: table, isDeferred: isDeferred)
    }
}
