/// The leases of a factory, which its instance takes over.
extension Creation {
    /// Keeps a lease of the factory, or of the instance that this one decorates, as long as the instance.
    ///
    /// Returns false after the creation's end: a task that outlives the factory has no instance that could hold the
    /// lease.
    func hold(_ lease: any HeldLease, decorating: Bool = false) -> Bool {
        let isHeld = extras { state in
            state.leases?.append(lease)
            return state.leases != nil
        }
        guard isHeld == true else { return false }
        lease.passToInstance(of: self, decorating: decorating)
        return true
    }

    /// The leases of the factory; none after the creation's end.
    var heldLeases: [any HeldLease] { extrasIfAny { $0.leases ?? [] } ?? [] }

    /// Removes and returns the leases, once; the creation takes no more of them.
    func takeLeases() -> [any HeldLease] {
        let leases = extras.loadOrInitialize { Extras.ended }.state?.withLock { $0.leases.take() }
        return (leases ?? nil) ?? []
    }
}
