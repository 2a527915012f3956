import Synchronization

/// A leased instance: the number of its leases, and the disposals that wait for their end.
///
/// `@unchecked Sendable` because the counts and lists belong to the container's lock, and published values are atomic.
/// The lock is also why no exclusive access to the counts is checked.
final class LeasedCell: @unchecked Sendable {
    let cell: Cell
    let key: CreationKey
    /// When the first of the leases began, by the container's stopwatch.
    let since: Duration
    @exclusivity(unchecked) var count = 0
    /// The number of leases that bodies hold; instances hold the others.
    @exclusivity(unchecked) var bodies = 0
    /// The holders of the leases as text.
    var holdersText: String { Self.holders(bodies: bodies, instances: count - bodies) }
    /// The disposals after the last lease, in the order in which the instances left the cache.
    ///
    /// One instance may be registered several times, each with hooks of its own.
    var pending: [Disposable] = []
    /// The first pending disposal, for the graph of waits; set once.
    private let firstPending = AtomicReference<Disposable>()
    /// The number of leases that may not end before the container does.
    let longLeases = Atomic<Int>(0)
    var isLeasedForLong: Bool { longLeases.load(ordering: .sequentiallyConsistent) > 0 }
    /// The number of leases that instances of each container below hold, by the container's number; created with the
    /// first lease.
    private let leasesBelow = AtomicReference<Shared<Locked<[UInt64: Int]>>>()

    /// The number of such leases ever taken, including ended ones, and of other holders that came late.
    private let holders = Atomic<Int>(0)
    var holdersBelow: Int { holders.load(ordering: .sequentiallyConsistent) }

    static func holders(bodies: Int, instances: Int) -> String {
        var holders: [String] = []
        if bodies > 0 { holders.append(counted(bodies, "body", plural: "bodies")) }
        if instances > 0 { holders.append(counted(instances, "instance")) }
        return holders.joined(separator: " and ")
    }

    func addLeaseBelow(of container: UInt64) {
        defer { noteNewHolder() }
        leasesBelow.loadOrInitialize { Shared(Locked([:])) }.value.withLock { $0[container, default: 0] += 1 }
    }

    /// Lets the creations that wait for the disposal be decided on again.
    func noteNewHolder() { holders.add(1, ordering: .sequentiallyConsistent) }

    func removeLeaseBelow(of container: UInt64) {
        leasesBelow.object?.value.withLock { leases in
            leases[container, default: 1] -= 1
            if leases[container] == 0 { leases[container] = nil }
        }
    }

    /// The numbers of the containers below that have an instance with a lease.
    var containersBelow: Set<UInt64> { Set(leasesBelow.object?.value.withLock { Array($0.keys) } ?? []) }

    /// The container at or above `place`, but below `home`, in which an instance has a lease.
    ///
    /// It ends after every request in `place`.
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

    init(_ cell: Cell, of key: CreationKey, leasedSince since: Duration) {
        self.cell = cell
        self.key = key
        self.since = since
    }

    /// Safe outside the container's lock because it is set once and kept as long as this object.
    var disposal: Disposable? { firstPending.object }

    func postpone(_ item: Disposable) {
        pending.append(item)
        item.leased = self
        _ = firstPending.loadOrInitialize { item }
    }
}
