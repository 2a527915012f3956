import Synchronization

/// One container's registrations and ready instances, published for readers who take no lock.
///
/// Open addressing over an array of slots; a slot is never reused for another key. Readers (`hit`, `find`) work inside a
/// ``ReadEpoch``. Writers are serialised by the lock of the container that owns the table; what they unpublish they
/// return, to be released once ``ReadEpoch/synchronize()`` has returned.
///
/// Tables form the search order: this container, its fallbacks, its parent.
///
/// `@unchecked Sendable` because `array` and the references in slots are atomic, and `count` belongs to the writer's lock.
final class InstanceTable: @unchecked Sendable {
    /// The container behind this table, which owns it and therefore outlives it.
    private(set) unowned var host: any ResolutionHost
    let parent: InstanceTable?
    let fallbacks: [InstanceTable]

    private let array = AtomicReference<SlotArray>()
    private let closed = Atomic(false)
    private var count = 0

    init(host: any ResolutionHost, parent: InstanceTable?, fallbacks: [InstanceTable]) {
        self.host = host
        self.parent = parent
        self.fallbacks = fallbacks
    }

    /// Whether the container was disposed: nothing is found through it any more.
    var isClosed: Bool { closed.load(ordering: .acquiring) }
    func close() { closed.store(true, ordering: .releasing) }

    // MARK: Reading

    /// The instance that a request of this container gets, if it is there already.
    func hit<Service: Sendable>(_ key: ServiceKey, as service: Service.Type) -> Service? {
        if isClosed { return nil }
        let ticket = ReadEpoch.enter()
        defer { ReadEpoch.exit(ticket) }
        guard case .cell(let cell, _)? = search(key, hash: key.fastHash, asked: self) else { return nil }
        return cell._withUnsafeGuaranteedRef { $0.load(as: service) }
    }

    /// The same as `hit`, with what the captive rule must know.
    func hitCell(_ key: ServiceKey) -> (cell: Cell, table: InstanceTable)? {
        if isClosed { return nil }
        let ticket = ReadEpoch.enter()
        defer { ReadEpoch.exit(ticket) }
        guard case .cell(let cell, let table)? = search(key, hash: key.fastHash, asked: self) else { return nil }
        return (cell.takeUnretainedValue(), table)
    }

    /// The nearest registration of the key, with the table that holds it.
    func registration(of key: ServiceKey) -> (recipe: Recipe, table: InstanceTable)? {
        let ticket = ReadEpoch.enter()
        defer { ReadEpoch.exit(ticket) }
        return nearestRecipe(key, hash: key.fastHash).map { ($0.takeUnretainedValue(), $1) }
    }

    private enum Answer {
        case cell(Unmanaged<Cell>, InstanceTable)
        /// The nearest registration has no instance for the container asked.
        case notReady
    }

    private func search(_ key: ServiceKey, hash: UInt, asked: InstanceTable) -> Answer? {
        if let slot = slot(key, hash: hash) {
            let isRegisteredHere = slot.recipe.load() != nil
            if isRegisteredHere, isClosed { return .notReady }
            if let cell = slot.cell.load() {
                let answers = cell._withUnsafeGuaranteedRef { cell in
                    if self !== asked { return isRegisteredHere && cell.isSharedBelow }
                    let stamp = cell.stamp
                    return stamp == 0 ? isRegisteredHere : stamp == RegistrationClock.now
                }
                if answers { return .cell(cell, self) }
            }
            if isRegisteredHere { return .notReady }
        }
        for fallback in fallbacks {
            if let answer = fallback.search(key, hash: hash, asked: asked) { return answer }
        }
        return parent?.search(key, hash: hash, asked: asked)
    }

    private func nearestRecipe(_ key: ServiceKey, hash: UInt) -> (Unmanaged<Recipe>, InstanceTable)? {
        if let recipe = slot(key, hash: hash)?.recipe.load() { return (recipe, self) }
        for fallback in fallbacks {
            if let found = fallback.nearestRecipe(key, hash: hash) { return found }
        }
        return parent?.nearestRecipe(key, hash: hash)
    }

    private func slot(_ key: ServiceKey, hash: UInt) -> Slot? {
        array.load()?._withUnsafeGuaranteedRef { $0.slot(key, hash: hash) }
    }

    // MARK: Writing, under the container's lock

    /// Publishes a registration, or takes it back with nil; what it had published goes too.
    func publish(_ recipe: Recipe?, for key: ServiceKey) -> [AnyObject] {
        var retired: [AnyObject] = []
        let slot = slotForWriting(key, retired: &retired)
        // The cell goes first: a reader that finds the new registration must not find the old one's instance.
        if let cell = slot.cell.exchange(nil) { retired.append(cell) }
        if let old = slot.recipe.exchange(recipe) { retired.append(old) }
        return retired
    }

    /// Publishes a ready instance.
    func publish(_ cell: Cell, for key: ServiceKey) -> [AnyObject] {
        var retired: [AnyObject] = []
        if let old = slotForWriting(key, retired: &retired).cell.exchange(cell) { retired.append(old) }
        return retired
    }

    /// Takes a ready instance back, unless another one has taken its place.
    func unpublish(_ cell: Cell, for key: ServiceKey) -> [AnyObject] {
        guard let slot = slot(key, hash: key.fastHash),
            slot.cell.load()?.toOpaque() == Unmanaged.passUnretained(cell).toOpaque()
        else { return [] }
        return slot.cell.exchange(nil).map { [$0] } ?? []
    }

    /// Takes everything back.
    func unpublishAll() -> [AnyObject] {
        count = 0
        return array.exchange(nil).map { [$0] } ?? []
    }

    private func slotForWriting(_ key: ServiceKey, retired: inout [AnyObject]) -> Slot {
        let hash = key.fastHash
        if let slot = slot(key, hash: hash) { return slot }
        let slot = Slot(key: key, hash: hash)
        if let slots = array.load()?.takeUnretainedValue(), (count + 1) * 4 <= slots.capacity * 3 {
            slots.insert(slot)
            count += 1
        } else {
            retired += grow(toHold: slot)
        }
        return slot
    }

    private func grow(toHold slot: Slot) -> [AnyObject] {
        let living = array.load()?.takeUnretainedValue().slots.filter { !$0.isEmpty } ?? []
        var capacity = 8
        while (living.count + 1) * 2 > capacity { capacity *= 2 }
        let larger = SlotArray(capacity: capacity)
        for slot in living { larger.insert(slot) }
        larger.insert(slot)
        count = living.count + 1
        return array.exchange(larger).map { [$0] } ?? []
    }
}

/// What one key has in one table.
private final class Slot: Sendable {
    let key: ServiceKey
    let hash: UInt
    let recipe = AtomicReference<Recipe>()
    let cell = AtomicReference<Cell>()

    init(key: ServiceKey, hash: UInt) {
        self.key = key
        self.hash = hash
    }

    var isEmpty: Bool { recipe.load() == nil && cell.load() == nil }
}

/// A power of two of places for slots, filled but never emptied.
///
/// `@unchecked Sendable` because the places are atomic and the pointer never changes.
private final class SlotArray: @unchecked Sendable {
    let capacity: Int
    private let places: UnsafeMutablePointer<AtomicReference<Slot>>

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
        for index in 0..<capacity { (places + index).initialize(to: AtomicReference()) }
    }

    deinit {
        places.deinitialize(count: capacity)
        places.deallocate()
    }

    func slot(_ key: ServiceKey, hash: UInt) -> Slot? {
        var index = Int(truncatingIfNeeded: hash) & (capacity - 1)
        while let place = places[index].load() {
            let isMatch = place._withUnsafeGuaranteedRef { $0.hash == hash && $0.key == key }
            if isMatch { return place.takeUnretainedValue() }
            index = (index + 1) & (capacity - 1)
        }
        return nil
    }

    /// Only the writer calls this, and only while at least one place stays free.
    func insert(_ slot: Slot) {
        var index = Int(truncatingIfNeeded: slot.hash) & (capacity - 1)
        while places[index].load() != nil { index = (index + 1) & (capacity - 1) }
        _ = places[index].exchange(slot)
    }

    var slots: [Slot] {
        (0..<capacity).compactMap { places[$0].load()?.takeUnretainedValue() }
    }
}
