/// The creations in flight in one place (a container, or a graph), and their waiters: at most one joinable flight
/// for each key.
///
/// A pure value: it decides, its owner carries out. Waiters and flights are whatever identifies them.
///
/// A flight is in one of three states. *Joinable*: a request for its key waits for it. *Winding down*: abandoned and
/// cancelled; a request still waits, and starts over if no value comes. *Invalidated* (by a reset or a replacement):
/// its waiters get its value, but no request joins it any more and the value is not kept.
///
/// A flight may be *attended*: its starter is in the middle of running it and has not had to wait yet. That
/// counts like one more waiter, which is resumed in another way.
struct SingleFlight<Key: Hashable, Flight: Hashable, Waiter: Hashable> {
    struct Entry {
        let key: Key
        var waiters = WaiterList<Waiter>()
        /// Whether the starter of the flight is running it.
        var isAttended = false
        /// Whether the flight is cancelled when its last waiter leaves.
        var endsWhenAbandoned: Bool
        var isWindingDown = false
        /// Whether it can be joined no longer and its value is not kept.
        var isInvalidated = false
        /// Whether the place was closed meanwhile.
        var isClosed = false
        /// Whether the unfinished instance may be held.
        var isPinned = false
        /// The most waiters that it had at once.
        var mostWaiters = 1

        fileprivate var isAbandoned: Bool { waiters.isEmpty && !isAttended }

        fileprivate func ending(succeeded: Bool) -> Ending {
            let action: FinishAction =
                isWindingDown && !succeeded ? .retry(waiters) : .deliver(waiters, keep: succeeded && !isInvalidated)
            return Ending(action, isAttended, isClosed, isPinned, mostWaiters)
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

    /// The first flights, which are looked through: most of the time there are one or two, and hashing them takes
    /// longer.
    private(set) var few: [Place] = []
    static var mostOfFew: Int { 8 }
    /// The others.
    private(set) var many: [Flight: Entry] = [:]
    /// Those of the others that can be joined, by the hashes of their keys.
    ///
    /// Not by the keys, which are compared by a request for one, and not when a flight begins or ends: with
    /// arguments, that is user code, and takes as long as there are keys with the same hash.
    private(set) var joinable: [Int: [Flight]] = [:]

    var isEmpty: Bool { few.isEmpty && many.isEmpty }

    /// Every flight.
    var all: [Flight] { few.map(\.flight) + Array(many.keys) }

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

    /// Begins a flight; there must be none to join.
    mutating func start(
        _ flight: Flight, for key: Key, waiter: Waiter? = nil, isAttended: Bool = false, endsWhenAbandoned: Bool
    ) {
        assert(self[flight] == nil)
        var entry = Entry(key: key, isAttended: isAttended, endsWhenAbandoned: endsWhenAbandoned)
        if let waiter { entry.waiters.append(waiter) }
        if few.count < Self.mostOfFew {
            few.append(Place(flight: flight, entry: entry))
        } else {
            many[flight] = entry
            joinable[key.hashValue, default: []].append(flight)
        }
    }

    mutating func join(_ flight: Flight, waiter: Waiter) { change(flight) { $0.add(waiter) } }

    enum AttendAction: Equatable {
        /// It waits from now on.
        case wait
        /// The flight has ended meanwhile.
        case ended
        /// The place is closed: no request waits any more.
        case closed
    }

    /// The starter of the flight has to wait for it after all.
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
        /// No request waits any more: cancel the creation.
        case cancelFlight
    }

    /// A waiter was cancelled.
    ///
    /// Does nothing when it is not waiting for the flight any more.
    mutating func leave(_ flight: Flight, waiter: Waiter) -> LeaveAction {
        change(flight) { entry in
            guard entry.waiters.remove(waiter) else { return .none }
            guard entry.isAbandoned, entry.endsWhenAbandoned, !entry.isWindingDown else { return .none }
            entry.isWindingDown = true
            return .cancelFlight
        } ?? .none
    }

    /// The unfinished instance is held: the flight is never abandoned from now on.
    mutating func pin(_ flight: Flight) {
        change(flight) {
            $0.endsWhenAbandoned = false
            $0.isPinned = true
        }
    }

    /// From now on the flight ends when its last waiter leaves.
    mutating func allowAbandonment(_ flight: Flight) { change(flight) { $0.endsWhenAbandoned = true } }

    /// The flight was cancelled, not on behalf of its waiters.
    mutating func abandon(_ flight: Flight) { change(flight) { $0.isWindingDown = true } }

    enum FinishAction: Equatable {
        /// Give the waiters the outcome; a value is kept when `keep` says so.
        case deliver(WaiterList<Waiter>, keep: Bool)
        /// The flight failed because it was cancelled on behalf of others: these start over.
        case retry(WaiterList<Waiter>)
    }

    /// A flight that has ended.
    struct Ending {
        let action: FinishAction
        let isAttended: Bool
        let isClosed: Bool
        let isPinned: Bool
        let mostWaiters: Int

        fileprivate init(
            _ action: FinishAction, _ isAttended: Bool, _ isClosed: Bool, _ isPinned: Bool, _ mostWaiters: Int
        ) {
            self.action = action
            self.isAttended = isAttended
            self.isClosed = isClosed
            self.isPinned = isPinned
            self.mostWaiters = mostWaiters
        }

        /// There was none.
        fileprivate init() { self.init(.deliver([], keep: false), false, false, false, 0) }
    }

    /// A flight ended by itself: the only way that it leaves.
    mutating func end(_ flight: Flight, succeeded: Bool) -> Ending {
        if let index = index(of: flight) {
            let ending = few[index].entry.ending(succeeded: succeeded)
            few.remove(at: index)
            return ending
        }
        guard !many.isEmpty, let entry = many.removeValue(forKey: flight) else { return Ending() }
        if !entry.isInvalidated { joinNoMore(flight, entry.key) }
        return entry.ending(succeeded: succeeded)
    }

    /// The same, for a caller that only needs the action.
    mutating func finish(_ flight: Flight, succeeded: Bool) -> FinishAction {
        end(flight, succeeded: succeeded).action
    }

    /// From now on no request joins the flights of these keys, and what they produce is not kept.
    mutating func invalidate(where isAffected: (Key) -> Bool) {
        for index in few.indices where isAffected(few[index].entry.key) { few[index].entry.isInvalidated = true }
        let affected = many.filter { !$0.value.isInvalidated && isAffected($0.value.key) }
        for (flight, entry) in affected {
            joinNoMore(flight, entry.key)
            many[flight]!.isInvalidated = true
        }
    }

    /// The same for one key.
    mutating func invalidate(_ key: Key) {
        guard !isEmpty, let flight = flight(for: key) else { return }
        if let index = index(of: flight) {
            few[index].entry.isInvalidated = true
        } else {
            joinNoMore(flight, key)
            many[flight]!.isInvalidated = true
        }
    }

    /// The place closes: no request waits any more, nothing is kept, and every creation is to be cancelled.
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

    /// Takes a flight from those that can be joined.
    private mutating func joinNoMore(_ flight: Flight, _ key: Key) {
        let hash = key.hashValue
        guard let index = joinable[hash]?.firstIndex(of: flight) else { return }
        if joinable[hash]?.count == 1 { joinable[hash] = nil } else { joinable[hash]!.remove(at: index) }
    }

    private func index(of flight: Flight) -> Int? { indexOfFew { $0.pointee.flight == flight } }

    /// Looks at the places where they are: a loop over the array would copy each of them.
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
