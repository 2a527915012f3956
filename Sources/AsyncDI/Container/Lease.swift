import Synchronization

/// Delays the disposal of one cached instance until the lease ends.
///
/// It ends once, together with its body or with the instance that holds it.
final class Lease: HeldLease {
    let core: ContainerCore
    let key: CreationKey
    let leased: LeasedCell
    /// Whether a body, and not an instance, holds it: a drain waits only for bodies.
    private let heldByBody = Atomic(true)

    /// The number of its holders that no scope ends before the leased instance's container: an instance, and the
    /// holders of that instance's own leases if it decorates the leased one.
    private let longHolders = Atomic<Int>(0)
    /// The leases inside a decorated instance, which last as long as this one; noted once.
    private let prolonged = AtomicReference<Shared<[Lease]>>()
    private let hasEndedProlonged = Atomic(false)
    /// The number of the holder's container, or of the scope that ends it, if that is below the leased instance's
    /// container; otherwise zero.
    private let holderBelow = Atomic<UInt64>(0)
    /// Whether its holds have ended: a holder that is noted later ends them again.
    ///
    /// A task that outlives a factory may pass a lease to an instance whose creation ends meanwhile.
    private let holdsHaveEnded = Atomic(false)
    /// The body that the holder outlives, if that is an instance of the body's scope.
    private let body = AtomicReference<ScopeBody>()

    init(core: ContainerCore, key: CreationKey, _ leased: LeasedCell) {
        self.core = core
        self.key = key
        self.leased = leased
    }

    var cell: Cell { leased.cell }
    /// Takes the lease from its body; false if no body held it.
    func leaveBody() -> Bool { heldByBody.exchange(false, ordering: .relaxed) }

    func passToInstance(of holder: Creation, decorating: Bool) {
        guard leaveBody() else { return }
        // A reset or a replacement drops the instances of a decoration together with the one that they decorate.
        if let home = holder.home as? ContainerCore, mayKeepLong(home), !decorating {
            noteLongHolder()
            prolongLeasesInside(for: home)
        } else if let home = holder.home {
            // First, because the waiting successors check for cycles again when they notice the holder.
            if let scope = home as? ContainerCore, let body = scope.leaseHolder {
                self.body.loadOrInitialize { body }.add(self, isFromAbove: core.isAboveOrSame(scope))
            }
            let place = (home as? ContainerCore)?.scopeAround(below: core)?.number ?? home.number
            leased.addLeaseBelow(of: place)
            holderBelow.store(place, ordering: .sequentiallyConsistent)
        }
        // Sequentially consistent like the end: either this sees the end, or the end sees the holder.
        if holdsHaveEnded.load(ordering: .sequentiallyConsistent) { endLongHolds() }
        var quiet: [CheckedContinuation<Void, Never>] = []
        // The waiting successors have not seen the new holder.
        let pending = core.withState { state in
            leased.bodies -= 1
            quiet = state.life.endBody()
            return leased.pending
        }
        for disposal in pending { disposal.wake() }
        if !pending.isEmpty { Self.noteLaterEnd(of: pending.flatMap(\.leases)) }
        for continuation in quiet { continuation.resume() }
    }

    /// Whether no scope ends the instances of a container before that of the leased instance.
    private func mayKeepLong(_ home: ContainerCore) -> Bool {
        home.isAboveOrSame(core) || home.isOutsideScopes(of: core)
    }

    /// Notes that no reset finds its holder, which decorates the leased instance in a container.
    ///
    /// Called under the lock of that container: the caller wakes the successors afterwards.
    func noteHolderUnknownToResets(in home: any ResolutionHost) {
        guard let home = home as? ContainerCore, mayKeepLong(home) else { return }
        noteLongHolder()
        if holdsHaveEnded.load(ordering: .sequentiallyConsistent) { endOneLongHold() }
    }

    /// Notes one more holder that no scope ends.
    private func noteLongHolder() {
        longHolders.add(1, ordering: .sequentiallyConsistent)
        leased.longLeases.add(1, ordering: .sequentiallyConsistent)
    }

    /// Notes that a holder in `home` keeps the leases of a decorated instance, too.
    private func prolongLeasesInside(for home: ContainerCore) {
        let inside = core.leasesInside(self).filter { $0.mayKeepLong(home) }
        if inside.isEmpty { return }
        for lease in inside { lease.noteLongHolder() }
        // Afterwards, because the end of this lease ends the holds that it finds here.
        _ = prolonged.loadOrInitialize { Shared(inside) }
        for lease in inside { lease.wakeSuccessors() }
    }

    func noteBody() { if isAwaited { Self.noteLaterEnd(of: [self]) } }

    /// Whether a disposal waits for the lease.
    private var isAwaited: Bool { leased.disposal != nil }

    /// Notes that leases may end later than was known to the creations that wait for their ends, which then check again
    /// whether to wait.
    ///
    /// Called outside every container's lock.
    static func noteLaterEnd(of leases: [any HeldLease]) {
        // Nearly always, no disposal waits for any of them.
        guard leases.contains(where: { ($0 as? Lease)?.isAwaited == true }) else { return }
        var frontier = leases.compactMap { $0 as? Lease }
        var seen: Set<ObjectIdentifier> = []
        while let lease = frontier.popLast() {
            guard lease.isAwaited, seen.insert(ObjectIdentifier(lease.leased)).inserted else { continue }
            lease.leased.noteNewHolder()
            // The leases that the instance holds end after this one.
            for disposal in lease.wakeSuccessors() { frontier += disposal.leases.compactMap { $0 as? Lease } }
        }
    }

    /// Lets the creations that wait for the end of the lease check again whether to wait.
    ///
    /// Called outside every container's lock.
    ///
    /// - Returns: The disposals that wait for the lease.
    @discardableResult
    func wakeSuccessors() -> [Disposable] {
        let pending = core.withState { _ in leased.pending }
        for disposal in pending { disposal.wake() }
        return pending
    }

    /// Notes that the lease ends, or is about to end because the disposal of its holder begins.
    func endLongHolds() {
        holdsHaveEnded.store(true, ordering: .sequentiallyConsistent)
        let below = holderBelow.exchange(0, ordering: .sequentiallyConsistent)
        if below != 0 { leased.removeLeaseBelow(of: below) }
        body.object?.remove(self)
        let holders = longHolders.exchange(0, ordering: .sequentiallyConsistent)
        if holders != 0 { leased.longLeases.subtract(holders, ordering: .sequentiallyConsistent) }
        guard let inside = prolonged.object, !hasEndedProlonged.exchange(true, ordering: .relaxed) else { return }
        for lease in inside.value { lease.endOneLongHold() }
    }

    /// Notes the end of one of several holders, unless the end of the lease came first.
    private func endOneLongHold() {
        var holders = longHolders.load(ordering: .sequentiallyConsistent)
        while holders > 0 {
            let (isExchanged, original) = longHolders.compareExchange(
                expected: holders, desired: holders - 1, ordering: .sequentiallyConsistent)
            if isExchanged {
                leased.longLeases.subtract(1, ordering: .sequentiallyConsistent)
                return
            }
            holders = original
        }
    }

    var delaysDisposal: Bool { core.disposals(delayedBy: self).contains { !$0.isSilent } }

    /// The disposals of the instance and of its container, which wait for the lease.
    var outer: [Activity] { core.ends + (leased.disposal.map { [$0] } ?? []) }

    func end() {
        core.cleanUp(DisposalBatch(core.release(self)))
    }
}

extension Disposable {
    /// Notes that the disposal is about to begin, which will end the leases that the instance holds.
    func noteEndOfLeases() {
        for lease in leases { (lease as? Lease)?.endLongHolds() }
    }
}

extension LeaseContext {
    /// Whether a body of the current task leases an instance of `container` or of one below it.
    static func leases(from container: ContainerCore) -> Bool { leases { container.isAboveOrSame($0.core) } }

    /// Whether a body of the current task is work that a drain of `container` does not refuse: it leases an instance
    /// from there, or collects leases in an admitted call.
    static func isWork(of container: ContainerCore) -> Bool {
        leases(from: container)
            || hasBody { ($0.collectsIn as? ContainerCore).map(container.isAboveOrSame) ?? false }
    }

    /// Whether a body of the current task holds such a lease.
    static func leases(_ isMeant: (Lease) -> Bool) -> Bool {
        // Outside the body's lock, because the comparison of arguments is user code.
        hasBody { $0.held.contains { ($0 as? Lease).map(isMeant) ?? false } }
    }

    /// The open owned scopes whose work the current task is part of.
    static var scopesOfWork: [ContainerCore] {
        activeBody.map { body in
            sequence(first: body, next: \.parent).flatMap(\.held).compactMap { ($0 as? PartOfWork)?.scope }
                .filter { !$0.table.isClosed }
        } ?? []
    }

    private static func hasBody(where isMeant: (LeaseBody) -> Bool) -> Bool {
        activeBody.map { sequence(first: $0, next: \.parent).contains(where: isMeant) } ?? false
    }
}
