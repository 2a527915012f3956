/// Writing, under the lock of the container that owns the table.
extension InstanceTable {
    /// The registration of the key in this very container.
    func ownRegistration(of key: ServiceKey) -> Binding? {
        ownSlot(key)?.slot.binding
    }

    /// The place of a key in this very container, for a registration about to be published.
    func ownPlace(of key: ServiceKey) -> OwnPlace {
        guard let (slot, _) = ownSlot(key) else { return OwnPlace(isTaken: false, binding: nil) }
        return OwnPlace(isTaken: true, binding: slot.binding)
    }

    struct OwnPlace {
        /// Whether there is a place, perhaps an empty one.
        fileprivate let isTaken: Bool
        let binding: Binding?
    }

    /// Makes room for keys that are about to come.
    func reserve(_ additional: Int, retired: inout [AnyObject]) {
        let old = array.object
        // A look-up reads each slot that it passes: with half the places free, it passes few.
        if let old, (count + additional) * 2 <= old.capacity { return }
        var living = 0
        old?.forEach { slot in if !slot.isEmpty { living += 1 } }
        var capacity = 8
        while (living + additional) * 2 > capacity { capacity *= 2 }
        let larger = PublishedArray<Slot>(capacity: capacity)
        old?.forEach { slot in if !slot.isEmpty { larger.insert(slot) } }
        count = living
        if let old = array.exchange(larger) { retired.append(old) }
    }

    /// Publishes a registration in place of the previous one of its key.
    func publish(_ binding: Binding, retired: inout [AnyObject]) { put(binding, retired: &retired) }

    /// Publishes a registration whose key has been looked up before; a key that had a place then keeps it.
    func publish(_ binding: Binding, at place: OwnPlace, retired: inout [AnyObject]) {
        if place.isTaken { put(binding, retired: &retired) } else { add(binding, retired: &retired) }
    }

    /// Removes the registration of a key, and its published instance.
    func unpublish(_ key: ServiceKey, retired: inout [AnyObject]) {
        // The place stays with the key: others may be found behind it.
        if ownSlot(key) != nil { put(Slot(key), retired: &retired) }
    }

    /// Publishes a ready instance.
    func publish(_ cell: Cell, for key: ServiceKey, retired: inout [AnyObject]) {
        let slot: Slot
        if let found = ownSlot(key) {
            slot = found.slot
        } else {
            slot = Slot(key)
            put(slot, retired: &retired)
        }
        publish(cell, in: slot, retired: &retired)
    }

    /// The same for a slot that is known to be in the table.
    func publish(_ cell: Cell, in slot: Slot, retired: inout [AnyObject]) {
        if let old = slot.cell.exchange(cell) { retired.append(old) }
    }

    /// Removes a published instance, unless another one has taken its place.
    func unpublish(_ cell: Cell, for key: ServiceKey, retired: inout [AnyObject]) {
        guard let (slot, _) = ownSlot(key), slot.cell.object === cell else { return }
        if let old = slot.cell.exchange(nil) { retired.append(old) }
    }

    /// Removes every registration and instance.
    func unpublishAll(retired: inout [AnyObject]) {
        defer { count = 0 }
        guard let slots = array.exchange(nil) else { return }
        retired.append(slots)
        slots.forEach { slot in
            // A registration that is still referenced must not keep an instance, except the one that it was made with.
            if let given = slot.binding?.blueprint.instance, slot.cell.object === given { return }
            if let cell = slot.cell.exchange(nil) { retired.append(cell) }
        }
    }

    private func put(_ slot: Slot, retired: inout [AnyObject]) {
        if let place = ownSlot(slot.key, hash: slot.placeHash), let old = array.object?.replace(slot, at: place.index) {
            // Readers that have found it may be loading its cell: both are released after them.
            if let cell = old.cell.exchange(nil) { retired.append(cell) }
            retired.append(old)
            return
        }
        add(slot, retired: &retired)
    }

    /// Adds a slot whose key has no place yet.
    private func add(_ slot: Slot, retired: inout [AnyObject]) {
        reserve(1, retired: &retired)
        array.object?.insert(slot)
        count += 1
    }

    /// The slot that a key has in this very table.
    private func ownSlot(_ key: ServiceKey, hash: UInt? = nil) -> (slot: Slot, index: Int)? {
        let hash = hash ?? key.fastHash
        // Mostly it is there under the very key, or not at all: the user's `==` runs only where another key has the
        // same hash.
        var found = slot(OwnSlotProbe(key, hash: hash, asksUser: false))
        if found == nil, key.details != nil { found = slot(OwnSlotProbe(key, hash: hash, asksUser: true)) }
        return found.map { ($0.slot.takeUnretainedValue(), $0.index) }
    }
}
