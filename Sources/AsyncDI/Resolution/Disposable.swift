import Synchronization

/// An instance that is to be disposed, and its disposal.
///
/// `@unchecked Sendable` because its superclass is; it adds constants, and `next`, which belongs to the lock of ``Waits/graph``.
final class Disposable: Completion, @unchecked Sendable {
    /// The instance; nil once it is disposed, because an error that a hook threw leads here.
    ///
    /// Unchecked because the task that disposes the instance takes it out, after everything else that looks at it.
    @exclusivity(unchecked) private(set) var cell: Cell?
    let key: CreationKey
    /// The container that owns the instance.
    let home: any ResolutionHost
    /// What the instance's factory leased: ends after the instance.
    let leases: [any HeldLease]
    /// Why nothing that the instance did is to count, whatever the reason for its disposal is: its creation failed or was cut.
    let failure: (any Error)?
    /// Whether observers were told of its creation, and are to be told of its disposal.
    let isAnnounced: Bool
    /// The leases that the disposal waits for, where there were any.
    ///
    /// Unchecked because it is written before any creation is told of this disposal, and from then on touched under the lock
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

    var recipe: Recipe { key.recipe }
    /// Whether the disposal is nothing but an event.
    var isSilent: Bool { !recipe.hasDisposalHooks && leases.isEmpty }

    /// Its leases, and the instances that are disposed before it in the same task, name it.
    override var isOpen: Bool { true }

    /// A container's disposal waits for its instances', what an instance leased for the instance, and those that are disposed in one
    /// task for those before them.
    override var outer: [Activity] {
        var outer = home.ends
        for lease in leases { outer += lease.outer }
        if let next { outer.append(next) }
        return outer
    }

    /// The instance is disposed: every waiter goes on.
    func end() {
        finish()
        isFollowed(by: nil)
        // A successor may be about to look whether it is leased.
        let lastLeased = Waits.graph.withLock { _ in
            defer { leased = nil }
            return leased
        }
        let dropped = (cell, lastLeased)
        cell = nil
        withExtendedLifetime(dropped) {}
    }

    /// Another instance is disposed after this one, or none any more.
    func isFollowed(by other: Disposable?) {
        let old = Waits.graph.withLock { _ in
            defer { next = other }
            return next
        }
        // Released outside the lock: an instance's deinitializer is user code.
        withExtendedLifetime(old) {}
    }

    /// Waits for the end of the disposal, on behalf of the creation of the instance's successor.
    func isOver(before creation: Creation, in frame: Frame) async throws {
        if hasEnded { return }
        let suspension = Suspension()
        if let frames = Waits.begin(suspension, from: Asker(activity: creation, frame: frame), for: self) {
            // A hook may ask for the new instance, but where each key has its instance one must never meet the other.
            guard recipe.lifetime.kind == .multiton else { return }
            throw ResolutionError.circular(
                (frame.path + frames.flatMap(\.pathInCreation) + [frame.step]).upToFirstRepetition, asker: frame)
        }
        defer { Waits.end(suspension) }
        while !hasEnded {
            if isLeasedForLong {
                guard recipe.lifetime.kind == .multiton else { return }
                throw leasedForLong(frame)
            }
            try await waitUnlessWoken()
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
            if deadline == nil, isLeasedForLong { throw leasedForLong(nil) }
            let rest = deadline.map { $0 - stopwatch.elapsed() }
            if let rest, rest <= .zero { return false }
            // Ends early when it is woken.
            _ = await wait(atMost: rest, clock: clock)
        }
        return true
    }

    /// Whether an instance holds a lease that lives as long as the container: its end may never come.
    private var isLeasedForLong: Bool { Waits.graph.withLock { _ in leased }?.isLeasedForLong == true }

    private func leasedForLong(_ frame: Frame?) -> ResolutionError {
        ResolutionError(
            .invalidOperation,
            "\(recipe.key) was dropped while it is leased by an instance that lives as long as \(home.displayName).",
            advice: "Reset that instance first, or lease in a scope.", steps: frame?.path ?? [], asker: frame)
    }
}

/// An instance that is leased: how often, and whether it is waiting to be disposed.
///
/// `@unchecked Sendable` because the counts and lists belong to the container's lock; what is published is atomic.
final class LeasedCell: @unchecked Sendable {
    let cell: Cell
    var count = 0
    /// What is to be disposed after the last lease, in the order in which it left the cache.
    ///
    /// One instance may be registered several times, each with hooks of its own.
    var pending: [Disposable] = []
    /// How many leases may never end before the container does.
    let longLeases = Atomic<Int>(0)
    var isLeasedForLong: Bool { longLeases.load(ordering: .sequentiallyConsistent) > 0 }
    /// The first of these, for the graph of waits; set once.
    private let firstPending = AtomicReference<Disposable>()

    init(_ cell: Cell) { self.cell = cell }

    /// Safe outside the container's lock because it is set once and kept as long as this object.
    var disposal: Disposable? { firstPending.load()?.takeUnretainedValue() }

    func postpone(_ item: Disposable) {
        pending.append(item)
        item.leased = self
        _ = firstPending.loadOrInitialize { item }
    }
}
