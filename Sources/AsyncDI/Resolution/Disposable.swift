import Synchronization

/// An instance due for disposal, and its disposal.
///
/// `@unchecked Sendable` because its superclass is; it adds constants, `creationDepth` and `cause`, which are constant
/// once the disposal has begun, `next`, `leased` and `resettingRun`, which belong to the lock of ``Waits/graph``, and
/// `cell`, which the disposing task alone reads and changes once the disposal has begun.
final class Disposable: Completion, @unchecked Sendable {
    /// The instance; nil after the disposal, because an error of a hook may keep this object.
    ///
    /// Unchecked because the disposing task removes it. Others read it under the lock of its container, before the
    /// disposal can begin.
    @exclusivity(unchecked) private(set) var cell: Cell?
    let key: CreationKey
    /// The container that owns the instance.
    let home: any ResolutionHost
    /// The leases of the instance's factory, which end after the instance.
    let leases: [any HeldLease]
    /// The error of the instance's creation if it failed or was cut short; the instance's work is then void for any
    /// reason of disposal.
    let failure: (any Error)?
    /// Whether its container was disposed before its creation had ended: the error of that disposal, if it has one, is
    /// the reason then.
    let isCutShort: Bool
    /// The start whose creation of the instance failed, after the factory; nil for other instances.
    let failedStart: EnclosingStart?
    /// Whether observers received an event for its creation, and so receive one for its disposal.
    let isAnnounced: Bool
    /// Whether the caller of a drain receives the errors of hooks, even if another call began the disposal.
    var isDrained: Bool { drains.load(ordering: .acquiring) > 0 }
    /// The number of drains that wait for the disposal.
    private let drains = Atomic<Int>(0)
    /// The error because of which the instance was dropped, if its disposal waits for leases.
    ///
    /// Unchecked because it is written under the lock of its container, before the disposal can begin.
    @exclusivity(unchecked) var cause: (any Error)?
    /// The leases that the disposal waits for, if there were any.
    ///
    /// Unchecked because it is written before any creation has this disposal, and afterwards accessed only under the
    /// lock of ``Waits/graph``.
    @exclusivity(unchecked) var leased: LeasedCell?
    /// The instance that is disposed after this one, in the same task, or the turn of several.
    ///
    /// Unchecked because it is accessed only under the lock of ``Waits/graph``.
    @exclusivity(unchecked) private var next: Activity?
    /// The run whose reset waits for the disposal.
    ///
    /// Unchecked because it is accessed only under the lock of ``Waits/graph``.
    @exclusivity(unchecked) private var resettingRun: Run?
    /// The number of creations around that run.
    ///
    /// Unchecked because it is written once, before the disposal begins.
    @exclusivity(unchecked) private(set) var creationDepth = 0

    init(
        _ cell: Cell, _ key: CreationKey, in home: any ResolutionHost, leases: [any HeldLease] = [],
        failure: (any Error)? = nil, isCutShort: Bool = false, isAnnounced: Bool = false,
        failedStart: EnclosingStart? = nil
    ) {
        self.cell = cell
        self.key = key
        self.home = home
        self.leases = leases
        self.failure = failure
        self.isCutShort = isCutShort
        self.isAnnounced = isAnnounced
        self.failedStart = failedStart
    }

    var binding: Binding { key.binding }
    /// The instance's place in the order of completion, in which its container is disposed; nil before it is known.
    ///
    /// Unchecked because it is accessed only under the lock of its container.
    @exclusivity(unchecked) var place: Int?
    /// Whether the disposal is only an event.
    var isSilent: Bool { !binding.hasDisposalHooks && leases.isEmpty }

    /// A container's disposal waits for the disposals of its instances.
    ///
    /// A leased instance waits for the instance that leases it. An instance waits for those that the same task disposes
    /// before it.
    override var outer: [Activity] {
        var outer = home.ends
        for lease in leases { outer += lease.outer }
        // Those in between lead on only to the same ends, and nothing waits for them.
        var following = next
        while let other = following as? Disposable, !other.isInGraph, other.leases.isEmpty { following = other.next }
        if let following { outer.append(following) }
        return outer
    }

    /// The call that waits for the container's disposal, and so for this one.
    override var beginner: Caller? { home.end?.beginner }

    override func enterWaitOfBeginner(in outer: Activity, _ run: Run?, into graph: inout Waits.Graph) {
        guard let end = home.end else { return }
        // Marked before the check of its end: either the end removes the wait, or it has ended already.
        end.enterGraph()
        if !end.hasEnded { graph.begin(Suspension(), from: outer, label: run, for: end) }
    }

    /// Whether its hooks have begun to run.
    var hasBegunHooks: Bool { begun.load(ordering: .relaxed) }
    func noteBeginOfHooks() { begun.store(true, ordering: .relaxed) }
    private let begun = Atomic(false)

    /// Notes that a drain waits for the disposal, and throws the errors of its hooks.
    func noteDrain() { drains.add(1, ordering: .releasing) }

    /// Notes that a drain does not wait any longer, although the disposal may not be over.
    func noteEndOfDrain() { drains.subtract(1, ordering: .releasing) }

    /// Ends the disposal, and resumes every waiter.
    func end() {
        finish()
        // The creation of a successor may be about to check the leases.
        let (lastLeased, following, resetter) = Waits.graph.withLock { _ in
            (leased.take(), next.take(), resettingRun.take())
        }
        // Released outside the lock: an instance's deinitializer is user code.
        let dropped = (cell, lastLeased, following, resetter)
        cell = nil
        withExtendedLifetime(dropped) {}
    }

    /// Notes the instance or turn that is disposed after this one, or nil.
    func noteNext(_ other: Activity?) {
        let old = Waits.graph.withLock { _ in exchange(&next, with: other) }
        // Released outside the lock: an instance's deinitializer is user code.
        withExtendedLifetime(old) {}
    }

    /// The run whose reset waits for the disposal, until that ends.
    var resetter: Run? { Waits.graph.withLock { _ in resettingRun } }

    /// Notes, before the disposal begins, that the reset of a run waits for it.
    func noteReset(by run: Run?) {
        creationDepth = run?.creationDepth ?? 0
        Waits.graph.withLock { _ in resettingRun = run }
    }

    /// Waits for the end of the disposal, or until the deadline.
    ///
    /// - Parameters:
    ///   - deadline: The deadline, by the stopwatch; nil for an unlimited wait.
    ///   - stopwatch: Measures the time.
    ///   - clock: The clock of the deadline.
    ///   - checkHolders: Called at first, and for each new holder of a lease, which may end after the caller.
    /// - Returns: Whether the disposal has ended.
    /// - Throws: `invalidOperation` if there is no deadline and the wait may never end; the error of `checkHolders`.
    func isOver(
        before deadline: Duration?, timedBy stopwatch: Stopwatch, clock: any Clock<Duration>,
        whenHeld checkHolders: () throws -> Void
    ) async throws -> Bool {
        var holders = -1
        while !hasEnded {
            let wakes = wakes
            if holdersBelow != holders {
                holders = holdersBelow
                try checkHolders()
            }
            if deadline == nil, isLeasedForLong { throw leasedForLong(nil) }
            let rest = deadline.map { $0 - stopwatch.elapsed() }
            if let rest, rest <= .zero { return false }
            if await wait(atMost: rest, clock: clock, since: wakes) { return true }
        }
        return true
    }

    /// The leases that the disposal waits for.
    ///
    /// Released outside every lock, because the object keeps the instance.
    var leasesAwaited: LeasedCell? { hasEnded ? nil : Waits.graph.withLock { _ in leased } }

    /// The number of times that an instance of a container below has become the holder of a lease, or a body too late
    /// to be seen by a wait; zero after the disposal.
    var holdersBelow: Int { leasesAwaited?.holdersBelow ?? 0 }

    /// Whether an instance that no scope ends holds a lease, so that the wait may never end.
    var isLeasedForLong: Bool { Waits.graph.withLock { _ in leased }?.isLeasedForLong == true }

    func leasedForLong(_ run: Run?) -> ResolutionError {
        ResolutionError(
            .invalidOperation,
            "\(binding.key) was reset, replaced or removed while an instance that may live as long as "
                + "\(home.displayName) leases it.",
            advice: "Reset that instance first, or lease in a scope.", steps: run?.path ?? [], asker: run)
    }
}
