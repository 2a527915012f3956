/// The leases of a factory, which its instance takes over.
extension Creation {
    /// A container's disposal waits for its creations, a lease of an unfinished instance for that instance, and a drain of
    /// a key for the end of its creation.
    var endsAndLeases: [Activity] {
        let others: [Activity]? = extrasIfAny { state in
            (state.leases?.flatMap(\.outer) ?? []) + (state.end.map { [$0] } ?? [])
        }
        return (home?.ends ?? []) + (others ?? [])
    }

    /// Keeps the factory's leases as long as the instance.
    ///
    /// Returns false when the creation has ended: a task that outlives the factory has nothing to hold a lease for.
    func hold(_ lease: any HeldLease) -> Bool {
        let isHeld = extras { state in
            state.leases?.append(lease)
            return state.leases != nil
        }
        guard isHeld == true else { return false }
        lease.passToInstance(of: self)
        return true
    }

    /// Takes the leases out, once; none are held from now on.
    func takeLeases() -> [any HeldLease] {
        let extras = extras.loadOrInitialize { Extras.ended }
        guard extras !== Extras.ended else { return [] }
        return extras.state.withLock { state in
            defer { state.leases = nil }
            return state.leases ?? []
        }
    }
}
