/// The creations in flight in one place (a container, or a graph), and who waits for each: at most one that can be joined
/// for each key.
///
/// A pure value: it decides, its owner carries out. Waiters and flights are whatever identifies them.
///
/// A flight is in one of three states. *Joinable*: who asks for its key waits for it. *Winding down*: abandoned and
/// cancelled; who asks still waits, and starts over if no value comes. *Invalidated* (by a reset or a replacement): those
/// who wait get its value, but nobody joins it any more and the value is not kept.
struct SingleFlight<Key: Hashable, Flight: Hashable, Waiter: Hashable> {
    struct Entry {
        let key: Key
        var waiters: Set<Waiter>
        /// Whether the flight is cancelled when its last waiter leaves.
        var endsWhenAbandoned: Bool
        var isWindingDown = false
        var isInvalidated = false
        /// Whether somebody may hold the unfinished instance.
        var isPinned = false
        /// The most waiters that it had at once.
        var mostWaiters = 1
    }

    private(set) var joinable: [Key: Flight] = [:]
    private(set) var entries: [Flight: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The flight that who asks for `key` must join.
    func flight(for key: Key) -> Flight? { joinable[key] }

    /// Begins a flight; there must be none to join.
    mutating func start(_ flight: Flight, for key: Key, waiter: Waiter?, endsWhenAbandoned: Bool) {
        assert(joinable[key] == nil && entries[flight] == nil)
        joinable[key] = flight
        entries[flight] = Entry(key: key, waiters: waiter.map { [$0] } ?? [], endsWhenAbandoned: endsWhenAbandoned)
    }

    mutating func join(_ flight: Flight, waiter: Waiter) {
        entries[flight]?.waiters.insert(waiter)
        if let count = entries[flight]?.waiters.count, count > entries[flight]!.mostWaiters {
            entries[flight]!.mostWaiters = count
        }
    }

    enum LeaveAction: Equatable {
        case none
        /// Nobody waits any more: cancel the creation.
        case cancelFlight
    }

    /// A waiter was cancelled.
    ///
    /// Does nothing when it is not waiting for the flight any more.
    mutating func leave(_ flight: Flight, waiter: Waiter) -> LeaveAction {
        guard entries[flight]?.waiters.remove(waiter) != nil, let entry = entries[flight] else { return .none }
        guard entry.waiters.isEmpty, entry.endsWhenAbandoned, !entry.isWindingDown else { return .none }
        entries[flight]!.isWindingDown = true
        return .cancelFlight
    }

    /// Somebody holds the unfinished instance: the flight is never abandoned from now on.
    mutating func pin(_ flight: Flight) {
        entries[flight]?.endsWhenAbandoned = false
        entries[flight]?.isPinned = true
    }

    /// From now on the flight ends when its last waiter leaves.
    mutating func allowAbandonment(_ flight: Flight) {
        entries[flight]?.endsWhenAbandoned = true
    }

    /// The flight was cancelled, not on behalf of those who wait for it.
    mutating func abandon(_ flight: Flight) {
        entries[flight]?.isWindingDown = true
    }

    enum FinishAction: Equatable {
        /// Give the waiters the outcome; a value is kept when `keep` says so.
        case deliver(Set<Waiter>, keep: Bool)
        /// The flight failed because it was cancelled on behalf of others: these start over.
        case retry(Set<Waiter>)
    }

    /// A flight ended by itself: the only way that it leaves.
    mutating func finish(_ flight: Flight, succeeded: Bool) -> FinishAction {
        guard let entry = entries.removeValue(forKey: flight) else { return .deliver([], keep: false) }
        if joinable[entry.key] == flight { joinable[entry.key] = nil }
        if entry.isWindingDown, !succeeded { return .retry(entry.waiters) }
        return .deliver(entry.waiters, keep: succeeded && !entry.isInvalidated)
    }

    /// From now on nobody joins the flights of these keys, and what they produce is not kept.
    mutating func invalidate(where isAffected: (Key) -> Bool) {
        for (key, flight) in joinable where isAffected(key) {
            joinable[key] = nil
            entries[flight]!.isInvalidated = true
        }
    }

    /// The place closes: nobody waits any more, nothing is kept, and every creation is to be cancelled.
    mutating func close() -> (waiters: [Waiter], flights: [Flight]) {
        var waiters: [Waiter] = []
        for flight in Array(entries.keys) {
            waiters += entries[flight]!.waiters
            entries[flight]!.waiters = []
            entries[flight]!.isInvalidated = true
        }
        joinable = [:]
        return (waiters, Array(entries.keys))
    }
}
