extension SingleFlight {
    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        for (key, flight) in joinable {
            precondition(entries[flight] != nil, "a joinable flight is in flight")
            precondition(entries[flight]!.key == key, "a flight is joined by its own key")
            precondition(!entries[flight]!.isInvalidated, "nobody joins an invalidated flight")
        }
        var seen: Set<Waiter> = []
        for (flight, entry) in entries {
            precondition(entry.isInvalidated || joinable[entry.key] == flight, "a valid flight can be joined")
            precondition(seen.isDisjoint(with: entry.waiters), "a waiter waits for one flight")
            seen.formUnion(entry.waiters)
            precondition(entry.mostWaiters >= entry.waiters.count, "the most waiters are counted")
        }
    }
}
