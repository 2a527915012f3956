import Synchronization

/// An instance due for disposal, and its disposal.
///
/// `@unchecked Sendable` because its superclass is; it adds constants, and `next`, which belongs to the lock of
/// ``Waits/graph``.
final class Disposable: Completion, @unchecked Sendable {
    /// The instance; nil after the disposal, because a hook's error leads here.
    ///
    /// Unchecked because the disposing task takes it out, after every other access.
    @exclusivity(unchecked) private(set) var cell: Cell?
    let key: CreationKey
    /// The container that owns the instance.
    let home: any ResolutionHost
    /// The leases of the instance's factory, which end after the instance.
    let leases: [any HeldLease]
    /// The error that voids the instance's work, whatever the reason of its disposal: its creation failed or was cut
    /// short.
    let failure: (any Error)?
    /// Whether observers got an event for its creation, and get one for its disposal.
    let isAnnounced: Bool
    /// The leases that the disposal waits for, where there were any.
    ///
    /// Unchecked because it is written before any creation knows this disposal, and from then on touched under the lock
    /// of ``Waits/graph`` only.
    @exclusivity(unchecked) fileprivate var leased: LeasedCell?
    /// The instance that is disposed after this one, in the same task.
    ///
    /// Unchecked because it is touched under the lock of ``Waits/graph`` only.
    @exclusivity(unchecked) private var next: Disposable?

    init(
        _ cell: Cell, _ key: CreationKey, in home: any ResolutionHost, leases: [any HeldLease] = [],
        failure: (any Error)? = nil, isAnnounced: Bool = false
    ) {
        self.cell = cell
        self.key = key
        self.home = home
        self.leases = leases
        self.failure = failure
        self.isAnnounced = isAnnounced
    }

    var binding: Binding { key.binding }
    /// Whether the disposal is only an event.
    var isSilent: Bool { !binding.hasDisposalHooks && leases.isEmpty }

    /// A container's disposal waits for those of its instances, a leased instance for the one that leases it, and an
    /// instance for those that the same task disposes before it.
    override var outer: [Activity] {
        var outer = home.ends
        for lease in leases { outer += lease.outer }
        if let next { outer.append(next) }
        return outer
    }

    /// The disposal of the container, where that waits only for its hooks.
    private var containersDisposal: Disposal? { (home as? ContainerCore)?.disposalUnderWay }

    /// The call that waits for the container's disposal, and so for this one.
    override var beginner: Asker? { containersDisposal?.beginner }

    override func enterWaitOfBeginner(in outer: Activity, _ run: Run?, into graph: inout Waits.Graph) {
        guard let disposal = containersDisposal else { return }
        // Marked before its end is looked at: its end removes the wait, or it has ended already.
        disposal.enterGraph()
        if !disposal.hasEnded { graph.begin(Suspension(), from: outer, label: run, for: disposal) }
    }

    /// Ends the disposal, and resumes every waiter.
    func end() {
        finish()
        // A successor may be about to check the leases.
        let (lastLeased, following) = Waits.graph.withLock { _ in
            defer {
                leased = nil
                next = nil
            }
            return (leased, next)
        }
        // Released outside the lock: an instance's deinitializer is user code.
        let dropped = (cell, lastLeased, following)
        cell = nil
        withExtendedLifetime(dropped) {}
    }

    /// Notes the instance that is disposed after this one, nil for none.
    func isFollowed(by other: Disposable?) {
        let old = Waits.graph.withLock { _ in
            defer { next = other }
            return next
        }
        // Released outside the lock: an instance's deinitializer is user code.
        withExtendedLifetime(old) {}
    }

    /// Waits for the end of the disposal, on behalf of the creation of the instance's successor.
    func isOver(before creation: Creation, in run: Run) async throws {
        if hasEnded { return }
        let suspension = Suspension()
        if let runs = Waits.begin(suspension, from: Asker(activity: creation, run: run), for: self) {
            // A hook may request the new instance, but where each key has one instance the two must never meet.
            guard binding.lifetime.kind == .multiton else { return }
            throw ResolutionError.circular(
                (run.path + runs.flatMap(\.pathInCreation) + [run.step]).upToFirstRepetition, asker: run)
        }
        defer { Waits.end(suspension) }
        while !hasEnded {
            let wakes = wakes
            if isLeasedForLong {
                guard binding.lifetime.kind == .multiton else { return }
                throw leasedForLong(run)
            }
            if try await waitUnlessWoken(since: wakes) { return }
        }
    }

    /// Waits for the end of the disposal, or until the deadline.
    ///
    /// - Returns: Whether the disposal has ended.
    /// - Throws: `invalidOperation` where, without a deadline, the wait may never end.
    func isOver(before deadline: Duration?, timedBy stopwatch: Stopwatch, clock: any Clock<Duration>) async throws
        -> Bool
    {
        while !hasEnded {
            let wakes = wakes
            if deadline == nil, isLeasedForLong { throw leasedForLong(nil) }
            let rest = deadline.map { $0 - stopwatch.elapsed() }
            if let rest, rest <= .zero { return false }
            if await wait(atMost: rest, clock: clock, since: wakes) { return true }
        }
        return true
    }

    /// The leases that the disposal waits for; to be released outside every lock, because it keeps the instance.
    var leasesAwaited: LeasedCell? { hasEnded ? nil : Waits.graph.withLock { _ in leased } }

    /// Whether an instance holds a lease that lives as long as the container: its end may never come.
    private var isLeasedForLong: Bool { Waits.graph.withLock { _ in leased }?.isLeasedForLong == true }

    private func leasedForLong(_ run: Run?) -> ResolutionError {
        ResolutionError(
            .invalidOperation,
            "\(binding.key) was removed while an instance that lives as long as \(home.displayName) leases it.",
            advice: "Reset that instance first, or lease in a scope.", steps: run?.path ?? [], asker: run)
    }
}

/// A leased instance: the number of its leases, and the disposals that wait for their end.
///
/// `@unchecked Sendable` because the counts and lists belong to the container's lock, and published values are atomic.
final class LeasedCell: @unchecked Sendable {
    let cell: Cell
    let key: CreationKey
    /// When the first of the leases began, by the container's stopwatch.
    let since: Duration
    var count = 0
    /// How many of the leases are held by bodies, and not by instances.
    var bodies = 0
    /// The disposals after the last lease, in the order in which the instances left the cache.
    ///
    /// One instance may be registered several times, each with hooks of its own.
    var pending: [Disposable] = []
    /// The number of leases that may not end before the container does.
    let longLeases = Atomic<Int>(0)
    var isLeasedForLong: Bool { longLeases.load(ordering: .sequentiallyConsistent) > 0 }
    /// How many leases the instances of containers below have, by the containers' numbers; made with the first one.
    private let leasesBelow = AtomicReference<Shared<Locked<[UInt64: Int]>>>()

    func addLeaseBelow(of container: UInt64) {
        leasesBelow.loadOrInitialize { Shared(Locked([:])) }.value.withLock { $0[container, default: 0] += 1 }
    }

    func removeLeaseBelow(of container: UInt64) {
        leasesBelow.object?.value.withLock { leases in
            leases[container, default: 1] -= 1
            if leases[container] == 0 { leases[container] = nil }
        }
    }

    /// The container at or above `place`, but below `home`, one of whose instances holds a lease: it ends after every
    /// request that is made there.
    func container(leasingAround place: any ResolutionHost, below home: any ResolutionHost) -> (any ResolutionHost)? {
        if place === home { return nil }
        let holders = leasesBelow.object?.value.withLock { $0 } ?? [:]
        var next: (any ResolutionHost)? = holders.isEmpty ? nil : place
        while let container = next, container !== home {
            if holders[container.number] != nil { return container }
            next = container.parentHost
        }
        return nil
    }
    /// The first of these, for the graph of waits; set once.
    private let firstPending = AtomicReference<Disposable>()

    init(_ cell: Cell, of key: CreationKey, leasedSince since: Duration) {
        self.cell = cell
        self.key = key
        self.since = since
    }

    /// Safe outside the container's lock because it is set once and kept as long as this object.
    var disposal: Disposable? { firstPending.load()?.takeUnretainedValue() }

    func postpone(_ item: Disposable) {
        pending.append(item)
        item.leased = self
        _ = firstPending.loadOrInitialize { item }
    }
}
