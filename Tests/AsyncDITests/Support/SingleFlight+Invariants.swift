@testable import AsyncDI

extension SingleFlight {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        let entries = entries
        precondition(few.count <= Self.mostOfFew && few.count + many.count == entries.count, "a flight is in one list")
        for (hash, flights) in joinable {
            precondition(!flights.isEmpty && Set(flights).count == flights.count, "a flight is listed once")
            for flight in flights {
                precondition(many[flight]?.key.hashValue == hash, "a flight is joined by its own key")
                precondition(!many[flight]!.isInvalidated, "no request joins an invalidated flight")
            }
        }
        var seen: Set<Waiter> = []
        for (flight, entry) in entries {
            precondition(
                entry.isInvalidated || self.flight(for: entry.key) == flight, "a valid flight can be joined")
            entry.waiters.checkInvariants()
            precondition(seen.isDisjoint(with: entry.waiters), "a waiter waits for one flight")
            seen.formUnion(entry.waiters)
            precondition(entry.mostWaiters >= entry.waiters.count, "the most waiters are counted")
            precondition(!entry.isClosed || entry.isInvalidated, "what is made for a closed place is not kept")
        }
    }
}

extension WaiterList {
    /// The invariants between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        let waiters = places.compactMap { $0 }
        precondition(waiters.count == count, "every waiter is counted")
        precondition(Set(waiters).count == count, "a waiter is there once")
        precondition(
            index.map { $0.allSatisfy { places[$1] == $0 } && $0.count == count } ?? true, "the index is right")
        precondition(index != nil || places.count == count, "without an index no waiter has left a place")
        precondition(places.count <= Swift.max(Self.mostOfFew, count * 2), "places do not pile up")
    }
}
