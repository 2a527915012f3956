/// The search for the slot of a key.
extension PublishedArray<Slot> {
    /// The first slot that is the one looked for, or may be it.
    struct Found {
        /// Valid as long as the read, or the lock of the container that owns the table, goes on.
        let slot: Unmanaged<Slot>
        let index: Int
        let isUndecided: Bool
    }

    @inline(__always)
    func find(_ probe: some SlotProbe) -> Found? {
        var isUndecided = false
        let found = first(withHash: probe.hash) { slot in
            let match = slot._withUnsafeGuaranteedRef { probe.match($0) }
            isUndecided = match == .undecided
            return match != .other
        }
        return found.map { Found(slot: $0.element, index: $0.index, isUndecided: isUndecided) }
    }

    /// The details of the keys that may be the one looked for: all at once, so that a look-up does not begin again for
    /// each.
    func undecided(_ probe: KeyProbe) -> [KeyDetails] {
        var undecided: [KeyDetails] = []
        _ = first(withHash: probe.hash) { slot in
            slot._withUnsafeGuaranteedRef { slot in
                guard probe.match(slot) == .undecided, let details = slot.key.details else { return }
                undecided.append(details)
            }
            return false
        }
        return undecided
    }
}
