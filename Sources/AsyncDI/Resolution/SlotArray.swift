/// A power of two of places for slots, each of which stays with its key once it is taken.
///
/// `@unchecked Sendable` because the pointer never changes, the references are atomic, and a place's hash is written
/// once, before the reference that makes readers look at it.
final class SlotArray: @unchecked Sendable {
    private struct Place: ~Copyable {
        let slot = AtomicReference<Slot>()
        /// Stored beside the slot, so that slots of other keys are passed without being read.
        var hash: UInt = 0
    }

    let capacity: Int
    private let places: UnsafeMutablePointer<Place>

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
        for index in 0..<capacity { (places + index).initialize(to: Place()) }
    }

    deinit {
        places.deinitialize(count: capacity)
        places.deallocate()
    }

    /// The first slot that is the one looked for, or may be it.
    struct Found {
        /// Valid as long as the read, or the lock of the container that owns the table, goes on.
        let slot: Unmanaged<Slot>
        let index: Int
        let isUndecided: Bool
    }

    func find(_ probe: some SlotProbe) -> Found? {
        let (places, mask) = (places, capacity - 1)
        var index = Int(truncatingIfNeeded: probe.hash) & mask
        while let slot = places[index].slot.load() {
            if places[index].hash == probe.hash {
                switch slot._withUnsafeGuaranteedRef({ probe.match($0) }) {
                case .same: return Found(slot: slot, index: index, isUndecided: false)
                case .undecided: return Found(slot: slot, index: index, isUndecided: true)
                case .other: break
                }
            }
            index = (index + 1) & mask
        }
        return nil
    }

    /// The details of the keys that may be the one looked for: all at once, so that a look-up does not begin again for
    /// each.
    func undecided(_ probe: KeyProbe) -> KeyProbe.Undecided? {
        let mask = capacity - 1
        var undecided: KeyProbe.Undecided?
        var index = Int(truncatingIfNeeded: probe.hash) & mask
        while let slot = places[index].slot.load() {
            if places[index].hash == probe.hash {
                slot._withUnsafeGuaranteedRef { slot in
                    guard probe.match(slot) == .undecided, let details = slot.key.details else { return }
                    if undecided == nil { undecided = .init(first: details) } else { undecided?.rest.append(details) }
                }
            }
            index = (index + 1) & mask
        }
        return undecided
    }

    // MARK: Writing: one at a time

    /// Puts a slot where its key has its place.
    ///
    /// - Returns: The previous slot.
    func replace(_ slot: Slot, at index: Int) -> Slot? { places[index].slot.exchange(slot) }

    /// Inserts a slot under its key; at least one place stays free.
    func insert(_ slot: Slot, hash: UInt) {
        var index = Int(truncatingIfNeeded: hash) & (capacity - 1)
        while places[index].slot.load() != nil { index = (index + 1) & (capacity - 1) }
        places[index].hash = hash
        _ = places[index].slot.exchange(slot)
    }

    /// Every slot, with the hash of its key.
    func forEach(_ body: (Slot, _ hash: UInt) -> Void) {
        for index in 0..<capacity {
            if let slot = places[index].slot.object { body(slot, places[index].hash) }
        }
    }
}
