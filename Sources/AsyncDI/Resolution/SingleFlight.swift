/// The creations in flight in one place (a container, or a graph), and their waiters: at most one joinable flight
/// for each key.
///
/// A pure value: it makes the decisions, and its owner carries them out. Any values can identify waiters and flights.
///
/// A flight is in one of three states. *Joinable*: requests for its key wait for it. *Winding down*: it was abandoned
/// and cancelled; requests still join it, and start over if it produces no value. *Invalidated* (by a reset or a
/// replacement): its waiters receive its value, but no further request joins it and the value is not kept.
///
/// A flight may first wait for something. If it is invalidated then, its work never begins.
///
/// A flight may be *attended*: its starter is running it and has not had to wait yet. The starter counts as one more
/// waiter, which is resumed in another way.
struct SingleFlight<Key: Hashable, Flight: Hashable, Waiter: Hashable> {
    struct Entry {
        let key: Key
        var waiters = WaiterList<Waiter>()
        /// Whether the starter of the flight is running it.
        var isAttended = false
        /// Whether its work has begun: a flight may first wait for something.
        var hasBegun = true
        /// Whether the flight is cancelled when its last waiter leaves.
        var endsWhenAbandoned: Bool
        var isWindingDown = false
        /// Whether it can no longer be joined and its value is not kept.
        var isInvalidated = false
        /// Whether the place was closed during the flight.
        var isClosed = false
        /// Whether an instance may hold the unfinished instance.
        var isPinned = false
        /// The greatest number of simultaneous waiters.
        var mostWaiters = 1

        fileprivate var isAbandoned: Bool { waiters.isEmpty && !isAttended }

        fileprivate func ending(succeeded: Bool) -> Ending {
            let action: FinishAction =
                isWindingDown && !succeeded ? .retry(waiters) : .deliver(waiters, keep: succeeded && !isInvalidated)
            return Ending(
                action: action, isAttended: isAttended, isInvalidated: isInvalidated, isClosed: isClosed,
                isPinned: isPinned, mostWaiters: mostWaiters)
        }

        fileprivate mutating func add(_ waiter: Waiter) {
            waiters.append(waiter)
            mostWaiters = max(mostWaiters, waiters.count + (isAttended ? 1 : 0))
        }
    }

    struct Place {
        let flight: Flight
        var entry: Entry
    }

    /// The first flights, found by linear search: usually there are one or two, and hashing would take longer.
    private(set) var few: [Place] = []
    static var mostOfFew: Int { 8 }
    /// The others.
    private(set) var many: [Flight: Entry] = [:]
    /// The joinable ones among the others, by the hashes of their keys.
    ///
    /// Not by the keys themselves: only a request compares keys, not the beginning or end of a flight. With arguments,
    /// a comparison is user code, and its cost grows with the number of keys that have the same hash.
    private(set) var joinable: [Int: [Flight]] = [:]

    var isEmpty: Bool { few.isEmpty && many.isEmpty }

    /// Every flight.
    var all: [Flight] { few.map(\.flight) + Array(many.keys) }

    /// The flights of some keys that requests no longer join.
    func invalidated(where isMeant: (Key) -> Bool) -> [Flight] {
        var found = few.filter { $0.entry.isInvalidated && isMeant($0.entry.key) }.map(\.flight)
        for (flight, entry) in many where entry.isInvalidated && isMeant(entry.key) { found.append(flight) }
        return found
    }

    /// The state of each flight; copies all of it.
    var entries: [Flight: Entry] { many.merging(few.map { ($0.flight, $0.entry) }) { $1 } }

    subscript(flight: Flight) -> Entry? { index(of: flight).map { few[$0].entry } ?? many[flight] }

    /// The flight that a request for `key` must join.
    func flight(for key: Key) -> Flight? {
        let index = indexOfFew { !$0.pointee.entry.isInvalidated && $0.pointee.entry.key == key }
        if let index { return few[index].flight }
        if joinable.isEmpty { return nil }
        return joinable[key.hashValue]?.first { many[$0]?.key == key }
    }

    /// Starts a flight; no joinable flight of the key may exist.
    ///
    /// One that first waits must ``begin(_:)`` before its work.
    mutating func start(
        _ flight: Flight, for key: Key, waiter: Waiter? = nil, isAttended: Bool = false, waitsFirst: Bool = false,
        endsWhenAbandoned: Bool
    ) {
        assert(self[flight] == nil)
        var entry = Entry(
            key: key, isAttended: isAttended, hasBegun: !waitsFirst, endsWhenAbandoned: endsWhenAbandoned)
        if let waiter { entry.waiters.append(waiter) }
        if few.count < Self.mostOfFew {
            few.append(Place(flight: flight, entry: entry))
        } else {
            many[flight] = entry
            joinable[key.hashValue, default: []].append(flight)
        }
    }

    mutating func join(_ flight: Flight, waiter: Waiter) { change(flight) { $0.add(waiter) } }

    /// Begins the work of a flight that waited first.
    ///
    /// - Returns: Whether it may begin: one that was invalidated while it waited must end without a value.
    mutating func begin(_ flight: Flight) -> Bool {
        change(flight) { entry in
            if !entry.isInvalidated { entry.hasBegun = true }
            return entry.hasBegun
        } ?? false
    }

    enum AttendAction: Equatable {
        /// The starter waits from now on.
        case wait
        /// The flight has ended in the meantime.
        case ended
        /// The place is closed: requests no longer wait.
        case closed
    }

    /// Makes the starter of the flight a waiter, because it has to wait after all.
    mutating func attendNoMore(_ flight: Flight, waitingAs waiter: Waiter) -> AttendAction {
        change(flight) { entry in
            entry.isAttended = false
            if entry.isClosed { return .closed }
            entry.add(waiter)
            return .wait
        } ?? .ended
    }

    enum LeaveAction: Equatable {
        case none
        /// The last waiter has left: cancel the creation.
        case cancelFlight
    }

    /// Removes a waiter that was cancelled.
    ///
    /// Does nothing if it no longer waits for the flight.
    mutating func leave(_ flight: Flight, waiter: Waiter) -> LeaveAction {
        change(flight) { entry in
            guard entry.waiters.remove(waiter) else { return .none }
            guard entry.isAbandoned, entry.endsWhenAbandoned, !entry.isWindingDown else { return .none }
            entry.isWindingDown = true
            return .cancelFlight
        } ?? .none
    }

    /// Notes that the unfinished instance is held: from now on the flight is never abandoned.
    mutating func pin(_ flight: Flight) {
        change(flight) {
            $0.endsWhenAbandoned = false
            $0.isPinned = true
        }
    }

    /// From now on the flight ends when its last waiter leaves.
    mutating func allowAbandonment(_ flight: Flight) { change(flight) { $0.endsWhenAbandoned = true } }

    /// Notes a cancellation of the flight that does not come from its waiters.
    mutating func abandon(_ flight: Flight) { change(flight) { $0.isWindingDown = true } }

    enum FinishAction: Equatable {
        /// Deliver the outcome to the waiters; `keep` tells whether a value is kept.
        case deliver(WaiterList<Waiter>, keep: Bool)
        /// The flight failed because of a cancellation that did not come from these waiters: they start over.
        case retry(WaiterList<Waiter>)
    }

    /// A flight that has ended, or that does not exist.
    ///
    /// Not copyable, because a copy counts the references of the waiters.
    struct Ending: ~Copyable {
        let action: FinishAction
        var isAttended = false
        var isInvalidated = false
        var isClosed = false
        var isPinned = false
        var mostWaiters = 0
    }

    /// Ends a flight that has finished by itself, which is the only way to remove it.
    mutating func end(_ flight: Flight, succeeded: Bool) -> Ending {
        if let index = index(of: flight) {
            let ending = few[index].entry.ending(succeeded: succeeded)
            few.remove(at: index)
            return ending
        }
        guard !many.isEmpty, let entry = many.removeValue(forKey: flight) else {
            return Ending(action: .deliver([], keep: false))
        }
        if !entry.isInvalidated { joinNoMore(flight, entry.key) }
        return entry.ending(succeeded: succeeded)
    }

    /// The same, for a caller that only needs the action.
    mutating func finish(_ flight: Flight, succeeded: Bool) -> FinishAction {
        end(flight, succeeded: succeeded).action
    }

    /// Invalidates the flights of these keys: further requests do not join them, and their values are not kept.
    ///
    /// - Returns: The invalidated flights whose work has begun.
    @discardableResult
    mutating func invalidate(where isAffected: (Key) -> Bool) -> [Flight] {
        var begun: [Flight] = []
        for index in few.indices where !few[index].entry.isInvalidated && isAffected(few[index].entry.key) {
            few[index].entry.isInvalidated = true
            if few[index].entry.hasBegun { begun.append(few[index].flight) }
        }
        var affected: [(Flight, Entry)] = []
        for (flight, entry) in many where !entry.isInvalidated && isAffected(entry.key) {
            affected.append((flight, entry))
        }
        for (flight, entry) in affected {
            joinNoMore(flight, entry.key)
            many[flight]!.isInvalidated = true
            if entry.hasBegun { begun.append(flight) }
        }
        return begun
    }

    /// The same for one key.
    @discardableResult
    mutating func invalidate(_ key: Key) -> Flight? {
        guard !isEmpty, let flight = flight(for: key) else { return nil }
        let hasBegun = change(flight) { entry in
            entry.isInvalidated = true
            return entry.hasBegun
        }
        joinNoMore(flight, key)
        return hasBegun == true ? flight : nil
    }

    /// Closes the place: requests no longer wait, values are no longer kept, and the caller must cancel every creation.
    mutating func close() -> (waiters: [Waiter], flights: [Flight]) {
        let flights = all
        var waiters: [Waiter] = []
        for flight in flights {
            change(flight) { entry in
                waiters += entry.waiters
                entry.waiters = []
                entry.isInvalidated = true
                entry.isClosed = true
            }
        }
        joinable = [:]
        return (waiters, flights)
    }

    // MARK: Inside

    /// Removes a flight from the joinable ones.
    private mutating func joinNoMore(_ flight: Flight, _ key: Key) {
        if joinable.isEmpty { return }
        let hash = key.hashValue
        guard let index = joinable[hash]?.firstIndex(of: flight) else { return }
        if joinable[hash]?.count == 1 { joinable[hash] = nil } else { joinable[hash]!.remove(at: index) }
    }

    private func index(of flight: Flight) -> Int? { indexOfFew { $0.pointee.flight == flight } }

    /// Checks the places in the array's buffer, because a loop over the array would copy each of them.
    private func indexOfFew(_ isWanted: (UnsafePointer<Place>) -> Bool) -> Int? {
        few.withUnsafeBufferPointer { places in
            guard let first = places.baseAddress else { return nil }
            for index in 0..<places.count where isWanted(first + index) { return index }
            return nil
        }
    }

    @discardableResult
    private mutating func change<Answer>(_ flight: Flight, _ change: (inout Entry) -> Answer) -> Answer? {
        if let index = index(of: flight) { return change(&few[index].entry) }
        guard let index = many.index(forKey: flight) else { return nil }
        return change(&many.values[index])
    }
}
