/// The running body of a `withScope`.
///
/// The instances of the scope, and so the leases that they hold, end after it. A scope without a body has one that
/// never runs, for the leases alone, as has a container below a scope.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant and state behind a lock.
final class ScopeBody: Body, @unchecked Sendable {
    /// A lease, and whether the disposal of the leased instance's container would end the scope under its body.
    private typealias HeldInside = (lease: Lease, isFromAbove: Bool)

    /// Without instances when this is the last reference to it: the scope's end, which comes first, removes them.
    private let table: InstanceTable
    /// The number of the scope, which may be gone.
    let number: UInt64
    /// Whether drains wait for the body: not for one that never runs.
    private let isDrained: Bool
    /// Created with the first lease.
    private let leases = AtomicReference<Shared<Locked<[ObjectIdentifier: HeldInside]>>>()

    /// The body of a scope.
    ///
    /// - Parameters:
    ///   - scope: The scope.
    ///   - caller: The call that opened the scope; nil outside every activity.
    init(of scope: ContainerCore, begunBy caller: Caller?) {
        // The scope refers to its body.
        table = scope.table
        number = scope.number
        isDrained = scope.hasBody
        super.init(begunBy: caller, isOfScope: true)
        caller?.run?.activity?.noteScope()
    }

    var isOfOpenScope: Bool { !table.isClosed }

    /// Notes a lease that an instance of the scope holds.
    func add(_ lease: Lease, isFromAbove: Bool) {
        leases.loadOrInitialize { Shared(Locked([:])) }.value.withLock {
            $0[ObjectIdentifier(lease)] = (lease, isFromAbove)
        }
    }

    func remove(_ lease: Lease) {
        let removed = leases.object?.value.withLock { $0.removeValue(forKey: ObjectIdentifier(lease)) }
        // A search in the graph of waits may have the lease, and must not be the last to have it.
        if isInGraph || removed != nil { Waits.graph.withLock { _ in } }
        withExtendedLifetime(removed) {}
    }

    /// The leases that instances of the scope hold.
    var held: [Lease] { heldInside.map(\.lease) }
    private var heldInside: [HeldInside] { leases.object.map { $0.value.withLock { Array($0.values) } } ?? [] }

    /// No disposal waits for the body of a scope that is disposed under it.
    override var outer: [Activity] {
        if table.isClosed { return [] }
        return disposalsAwaitingLeases + (isDrained ? EndlessDrains.waiting(forBodyIn: table) : [])
    }

    /// The disposals that cannot end before the leases of the scope's instances do.
    var disposalsAwaitingLeases: [Activity] {
        heldInside.flatMap { held in
            held.isFromAbove ? held.lease.leased.disposal.map { [$0] } ?? [] : held.lease.outer
        }
    }
}

extension Body {
    /// The running bodies that wait for a call, also in the tasks of its creations' and disposals' beginners; the
    /// innermost first.
    static func all(around caller: Caller?) -> [Body] {
        var bodies: [Body] = []
        var caller = caller
        while let activity = caller?.activity {
            if let body = activity.asBody, !body.hasEnded { bodies.append(body) }
            caller = activity.beginner
        }
        return bodies
    }

    /// Whether such a lease ends after the body.
    func isOutlasted(byLease isMeant: (Lease) -> Bool) -> Bool {
        if let body = self as? ScopeBody { return body.isOfOpenScope && body.held.contains(where: isMeant) }
        return (self as? LeaseBody)?.held.contains { held in
            if let lease = held as? Lease { return isMeant(lease) }
            guard let scope = (held as? PartOfWork)?.scope, !scope.table.isClosed else { return false }
            return scope.bodyReference.object?.held.contains(where: isMeant) == true
        } ?? false
    }
}

extension ContainerCore {
    /// The running body of this scope, nil after its end; created when a call of the body, or a lease, needs it.
    var body: ScopeBody? {
        guard hasBody else { return nil }
        let body = bodyReference.loadOrInitialize { ScopeBody(of: self, begunBy: nil) }
        return body.hasEnded ? nil : body
    }

    /// The body that knows the leases of this scope's instances; one that never runs in a scope without a body, and in
    /// a container that was created below a scope; nil in any other container.
    var leaseHolder: ScopeBody? {
        guard firstUpwards({ $0.isScope ? true : nil }) == true else { return nil }
        let body = bodyReference.loadOrInitialize { ScopeBody(of: self, begunBy: nil) }
        // Under the lock: a disposal that begins later finds the body.
        if withState({ !$0.life.isOpen }) { disposalReference.object?.noteLeases(of: body) }
        return body
    }

    /// Notes that the scope's body has ended.
    func bodyEnds() {
        noteReturnOfBody()
        if let body = bodyReference.object { Waits.end(body) }
    }

    /// The body of this scope, or of the innermost one above, which is not disposed yet.
    private var innermostBody: ScopeBody? { firstUpwards { $0.table.isClosed ? nil : $0.body } }

    static var bodyOfCurrentScope: Body? {
        guard let current = Container.current else { return nil }
        return current.core.innermostBody ?? CurrentContainers.first(before: current, \.innermostBody)
    }
}
