import Synchronization

/// One container's registrations and ready instances, published for readers who take no lock.
///
/// Open addressing over an array of slots; a slot is never reused for another key. Readers (`hit`, `find`) work inside a
/// ``ReadEpoch``. Writers are serialised by the lock of the container that owns the table; what they unpublish they
/// return, to be released once ``ReadEpoch/synchronize()`` has returned.
///
/// Tables form the search order: this container, its fallbacks, its parent.
///
/// `@unchecked Sendable` because `array` and the references in slots are atomic, `count` belongs to the writer's lock, and
/// `owner` is written once, before anybody else has the table.
@usableFromInline final class InstanceTable: @unchecked Sendable {
    /// The container behind this table, which owns it and therefore outlives it.
    var host: any ResolutionHost {
        guard let owner else { preconditionFailure("a container outlives its table") }
        return owner
    }
    private unowned var owner: (any ResolutionHost)?
    let parent: InstanceTable?
    let fallbacks: [InstanceTable]
    private let hasFallbacks: Bool

    private let epoch = ReadEpoch.shared
    private let array = AtomicReference<SlotArray>()
    /// Zero as long as nothing stands between a request and a hit.
    private let obstacles = Atomic<UInt8>(0)
    private static let closedBit: UInt8 = 1
    private static let pendingBit: UInt8 = 2
    private var count = 0

    init(parent: InstanceTable?, fallbacks: [InstanceTable]) {
        self.parent = parent
        self.fallbacks = fallbacks
        hasFallbacks = !fallbacks.isEmpty
    }

    /// Called once, by the initialiser of the container that owns the table.
    func attach(to host: any ResolutionHost) { owner = host }

    /// Whether the container was disposed: nothing is found through it any more.
    var isClosed: Bool { obstacles.load(ordering: .acquiring) & Self.closedBit != 0 }
    func close() { obstacles.bitwiseOr(Self.closedBit, ordering: .releasing) }

    /// Whether anything stands between a request and an instance.
    var hasObstacles: Bool { obstacles.load(ordering: .acquiring) != 0 }

    /// Whether modules are still to be told that they are loaded, here or where this container looks: requests from outside wait.
    var hasPendingModules: Bool {
        get { obstacles.load(ordering: .acquiring) & Self.pendingBit != 0 }
        set {
            if newValue {
                obstacles.bitwiseOr(Self.pendingBit, ordering: .releasing)
            } else {
                obstacles.bitwiseAnd(~Self.pendingBit, ordering: .releasing)
            }
        }
    }

    // MARK: Reading

    /// A published instance that is being read: the cell is valid until ``endHit(_:)``.
    @usableFromInline struct Hit {
        @usableFromInline let cell: Unmanaged<Cell>
        fileprivate let ticket: ReadEpoch.Ticket
    }

    /// Finds the instance for a request without qualifier and arguments: the hot path.
    ///
    /// Not generic, so that it needs no metadata at run time, and retains nothing: the caller copies the instance out of its
    /// cell. A weakly held instance is left to the slow path.
    func beginHit(_ service: any Any.Type) -> Hit? {
        if obstacles.load(ordering: .acquiring) != 0 { return nil }
        let ticket = epoch.enter()
        if case .cell(let cell, _)? = search(TypeProbe(service), asked: self),
            !cell._withUnsafeGuaranteedRef({ $0.isHeldWeakly })
        {
            return Hit(cell: cell, ticket: ticket)
        }
        epoch.exit(ticket)
        return nil
    }

    /// The registration of a service without qualifier and arguments, when a request is nothing but a call of its factory.
    func plainTransient(_ service: any Any.Type) -> Recipe? {
        if obstacles.load(ordering: .acquiring) != 0 { return nil }
        let ticket = epoch.enter()
        defer { epoch.exit(ticket) }
        guard case .notReady(let recipe?)? = search(TypeProbe(service), asked: self),
            recipe._withUnsafeGuaranteedRef({ $0.isPlainTransient })
        else { return nil }
        return recipe.takeUnretainedValue()
    }

    func endHit(_ hit: Hit) { epoch.exit(hit.ticket) }

    /// The instance that a request gets, in a cell that holds it, if it is there already.
    func hit(_ key: ServiceKey) -> Cell? { key.isPlain ? hit(TypeProbe(key.service)) : hit(KeyProbe(key)) }

    private func hit(_ probe: some SlotProbe) -> Cell? {
        if isClosed { return nil }
        let ticket = epoch.enter()
        defer { epoch.exit(ticket) }
        guard case .cell(let cell, _)? = search(probe, asked: self) else { return nil }
        return cell.takeUnretainedValue()
    }

    /// The same as `hit`, with what the captive rule must know.
    func hitCell(_ key: ServiceKey) -> (cell: Cell, table: InstanceTable)? {
        if isClosed { return nil }
        let ticket = epoch.enter()
        defer { epoch.exit(ticket) }
        guard case .cell(let cell, let table)? = search(KeyProbe(key), asked: self) else { return nil }
        return (cell.takeUnretainedValue(), table.takeUnretainedValue())
    }

    /// The nearest registration of the key, with the table that holds it.
    func registration(of key: ServiceKey) -> (recipe: Recipe, table: InstanceTable)? {
        let ticket = epoch.enter()
        defer { epoch.exit(ticket) }
        return nearestRecipe(KeyProbe(key)).map { ($0.takeUnretainedValue(), $1) }
    }

    /// The nearest registration of the key where this container looks when it has none itself.
    func registration(beyondFor key: ServiceKey) -> (recipe: Recipe, table: InstanceTable)? {
        let ticket = epoch.enter()
        defer { epoch.exit(ticket) }
        return nearestRecipe(beyond: KeyProbe(key)).map { ($0.takeUnretainedValue(), $1) }
    }

    /// The table that holds a registration, among those that this one looks in; nil when none does any more.
    func holder(of recipe: Recipe) -> InstanceTable? {
        let ticket = epoch.enter()
        defer { epoch.exit(ticket) }
        return holder(of: recipe, KeyProbe(recipe.key))
    }

    private func holder(of recipe: Recipe, _ probe: KeyProbe) -> InstanceTable? {
        if slot(probe)?._withUnsafeGuaranteedRef({ $0.recipe.load()?.toOpaque() })
            == Unmanaged.passUnretained(recipe).toOpaque()
        {
            return self
        }
        for fallback in fallbacks {
            if let holder = fallback.holder(of: recipe, probe) { return holder }
        }
        return parent?.holder(of: recipe, probe)
    }

    private enum Answer {
        case cell(Unmanaged<Cell>, Unmanaged<InstanceTable>)
        /// The nearest registration has no instance for the container asked; nil when its container is closed.
        case notReady(Unmanaged<Recipe>?)
    }

    private func search(_ probe: some SlotProbe, asked: InstanceTable) -> Answer? {
        if let slot = slot(probe) {
            let answer: Answer? = slot._withUnsafeGuaranteedRef { slot in
                let recipe = slot.recipe.load()
                let isRegisteredHere = recipe != nil
                if isRegisteredHere, isClosed { return .notReady(nil) }
                if let cell = slot.cell.load(), cell._withUnsafeGuaranteedRef({ answers($0, isRegisteredHere, asked) })
                {
                    return .cell(cell, Unmanaged.passUnretained(self))
                }
                return isRegisteredHere ? .notReady(recipe) : nil
            }
            if let answer { return answer }
        }
        if hasFallbacks {
            for fallback in fallbacks {
                if let answer = fallback.search(probe, asked: asked) { return answer }
            }
        }
        return parent?.search(probe, asked: asked)
    }

    /// Whether a published instance is what a request of `asked` gets.
    private func answers(_ cell: Cell, _ isRegisteredHere: Bool, _ asked: InstanceTable) -> Bool {
        let stamp = cell.stamp
        let isCurrent = stamp == 0 ? isRegisteredHere : stamp == RegistrationClock.now
        return self === asked ? isCurrent : isCurrent && isRegisteredHere && cell.isSharedBelow
    }

    private func nearestRecipe(_ probe: some SlotProbe) -> (Unmanaged<Recipe>, InstanceTable)? {
        if let recipe = slot(probe)?._withUnsafeGuaranteedRef({ $0.recipe.load() }) { return (recipe, self) }
        return nearestRecipe(beyond: probe)
    }

    private func nearestRecipe(beyond probe: some SlotProbe) -> (Unmanaged<Recipe>, InstanceTable)? {
        for fallback in fallbacks {
            if let found = fallback.nearestRecipe(probe) { return found }
        }
        return parent?.nearestRecipe(probe)
    }

    private func slot(_ probe: some SlotProbe) -> Unmanaged<Slot>? {
        array.load()?._withUnsafeGuaranteedRef { $0.slot(probe) }
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
        guard let slot = slot(KeyProbe(key))?.takeUnretainedValue(),
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
        if let slot = slot(KeyProbe(key))?.takeUnretainedValue() { return slot }
        let slot = Slot(key)
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

/// What a slot is looked for by.
private protocol SlotProbe {
    var hash: UInt { get }
    func matches(_ slot: Slot) -> Bool
}

/// Looks for a service without qualifier and arguments: compares addresses.
private struct TypeProbe: SlotProbe {
    let hash: UInt
    private let service: ObjectIdentifier

    init(_ service: any Any.Type) {
        self.service = ObjectIdentifier(service)
        hash = ServiceKey.fastHash(plain: service)
    }

    func matches(_ slot: Slot) -> Bool { slot.plainService == service }
}

/// Looks for any key.
private struct KeyProbe: SlotProbe {
    let hash: UInt
    private let key: ServiceKey

    init(_ key: ServiceKey) {
        self.key = key
        hash = key.fastHash
    }

    func matches(_ slot: Slot) -> Bool { slot.hash == hash && slot.key == key }
}

/// What one key has in one table.
private final class Slot: Sendable {
    let key: ServiceKey
    let hash: UInt
    /// The service type when the key has neither qualifier nor arguments.
    let plainService: ObjectIdentifier?
    let recipe = AtomicReference<Recipe>()
    let cell = AtomicReference<Cell>()

    init(_ key: ServiceKey) {
        self.key = key
        hash = key.fastHash
        plainService = key.isPlain ? ObjectIdentifier(key.service) : nil
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

    func slot(_ probe: some SlotProbe) -> Unmanaged<Slot>? {
        var index = Int(truncatingIfNeeded: probe.hash) & (capacity - 1)
        while let place = places[index].load() {
            if place._withUnsafeGuaranteedRef({ probe.matches($0) }) { return place }
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
