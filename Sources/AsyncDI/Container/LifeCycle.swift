/// The life of a container: its phase, its unfinished work, and the waits for the end of that work.
///
/// A pure value. It counts bodies and removals, and says which waits are over; the core reports the ends of creations
/// and leases, and suspends and resumes the waiters.
struct LifeCycle<Waiter> {
    enum Phase {
        case open, disposing, disposed
    }

    /// The kinds of work whose end a disposal or a drain waits for.
    enum Work {
        /// The bodies of `withScope` directly below, and of `withInstance` with an instance of this container.
        case bodies
        /// The creations in flight.
        case creations
        /// The leases of instances.
        case leases
        /// The disposals of instances that have left the caches and the ledger.
        case removals
        /// The calls of storages.
        case storages
    }

    private(set) var phase = Phase.open
    /// Whether nothing of the container is left: its instances are released, and its parent has forgotten it.
    ///
    /// Until then, a call that disposes it again waits, because an instance's deinitializer may close a resource.
    private(set) var isOver = false
    // Of 32 bits, so that scopes take less memory.
    private(set) var bodies: Int32 = 0
    /// Counted in the step that removes the instances, so that a disposal that begins before their hooks waits for them
    /// too.
    private(set) var removals: Int32 = 0
    private var waits: [(work: Work, waiter: Waiter)] = []

    var isOpen: Bool { phase == .open }

    mutating func beginDisposal() {
        precondition(isOpen, "a container is disposed once")
        phase = .disposing
    }

    /// Notes the end of the container.
    ///
    /// - Returns: The drains that wait for work in it, and wait no longer.
    mutating func end() -> [Waiter] {
        phase = .disposed
        return waits.isEmpty ? [] : take(.bodies) + take(.creations)
    }

    /// Notes that nothing of the ended container is left.
    mutating func finish() {
        precondition(phase == .disposed, "the content is taken first")
        isOver = true
    }

    mutating func beginBody() { bodies += 1 }

    /// Notes the end of a body.
    ///
    /// - Returns: The waits that are over.
    mutating func endBody() -> [Waiter] {
        bodies -= 1
        return bodies == 0 ? over(.bodies) : []
    }

    mutating func beginRemovals(_ count: Int = 1) { removals += Int32(count) }

    /// Notes that a removed instance is disposed.
    ///
    /// - Returns: The waits that are over.
    mutating func endRemoval() -> [Waiter] {
        removals -= 1
        return removals == 0 ? over(.removals) : []
    }

    mutating func add(_ waiter: Waiter, for work: Work) { waits.append((work, waiter)) }

    /// Ends the waits for work of a kind.
    ///
    /// Called when no creation is left in flight, and when the last lease of an instance ends: a wait for the leases of
    /// another instance is then repeated.
    ///
    /// - Returns: The waiters.
    mutating func over(_ work: Work) -> [Waiter] { waits.isEmpty ? [] : take(work) }

    private mutating func take(_ work: Work) -> [Waiter] {
        let ended = waits.filter { $0.work == work }.map(\.waiter)
        waits.removeAll { $0.work == work }
        return ended
    }
}
