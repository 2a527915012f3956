import Synchronization

/// One container's registrations and ready instances, published for readers who take no lock.
///
/// Open addressing over an array of places, each of which stays with its key: what is in it, a registration or only an instance, is
/// exchanged as a whole. Readers (`hit`, `registration`) work inside a ``ReadEpoch``. Writers are serialised by the lock of
/// the container that owns the table; what they unpublish they hand back, to be released once ``ReadEpoch/synchronize()`` has
/// returned.
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
    private static let drainingBit: UInt8 = 4
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

    /// Whether the container is being drained: requests from outside begin nothing new, which the slow path looks after.
    var isDraining: Bool {
        get { obstacles.load(ordering: .acquiring) & Self.drainingBit != 0 }
        set {
            if newValue {
                obstacles.bitwiseOr(Self.drainingBit, ordering: .releasing)
            } else {
                obstacles.bitwiseAnd(~Self.drainingBit, ordering: .releasing)
            }
        }
    }

    // MARK: Reading

    /// A published instance that is being read: the cell is valid until ``end()``.
    @usableFromInline struct Hit {
        @usableFromInline let cell: Unmanaged<Cell>
        fileprivate let ticket: ReadEpoch.Ticket

        @usableFromInline func end() { ticket.exit() }
    }

    /// What the hot path finds.
    enum Found: ~Copyable {
        case hit(Hit)
        /// The registration, when the request is nothing but a call of its factory.
        case plainTransient(Recipe)
        /// The registration, when the request is nothing but a call of its factory for a graph.
        case plainGraph(Recipe)
    }

    /// Finds the instance, or the factory to call, for a request without qualifier and arguments: the hot path.
    ///
    /// Not generic, so that it needs no metadata at run time, and an instance is not retained: the caller copies it out of its
    /// cell. A weakly held instance is left to the slow path.
    func find(_ service: any Any.Type) -> Found? {
        if obstacles.load(ordering: .acquiring) != 0 { return nil }
        let ticket = epoch.enter()
        switch search(TypeProbe(service), asked: self) {
        case .cell(let cell, _)? where !cell._withUnsafeGuaranteedRef { $0.isHeldWeakly }:
            return .hit(Hit(cell: cell, ticket: ticket))
        case .notReady(let recipe?)? where recipe._withUnsafeGuaranteedRef { $0.isPlainTransient }:
            defer { ticket.exit() }
            return .plainTransient(recipe.takeUnretainedValue())
        case .notReady(let recipe?)? where recipe._withUnsafeGuaranteedRef { $0.isPlainGraph }:
            defer { ticket.exit() }
            return .plainGraph(recipe.takeUnretainedValue())
        default:
            ticket.exit()
            return nil
        }
    }

    /// Finds the instance for a request with a qualifier; makes no key either.
    func beginHit(_ probe: QualifierProbe) -> Hit? {
        if obstacles.load(ordering: .acquiring) != 0 { return nil }
        let ticket = epoch.enter()
        if case .cell(let cell, _)? = search(probe, asked: self),
            !cell._withUnsafeGuaranteedRef({ $0.isHeldWeakly })
        {
            return Hit(cell: cell, ticket: ticket)
        }
        ticket.exit()
        return nil
    }

    /// Whether instances of the service are found by the hash of arguments of this type.
    func isIndexed(_ service: any Any.Type, _ arguments: ArgumentPack.Type) -> Bool {
        let ticket = epoch.enter()
        defer { ticket.exit() }
        guard case .notReady(let recipe?)? = search(ArgumentsProbe(service, arguments), asked: self) else {
            return false
        }
        return recipe._withUnsafeGuaranteedRef { $0.index.load() != nil }
    }

    /// What the registration of a service with arguments, but without qualifier, offers to a request that takes the short way.
    enum Shortcut: ~Copyable {
        /// An instance whose arguments have the same types and hash: whether they are equal is for the caller to compare.
        case instance(IndexedInstance)
        /// The request is nothing but a call of the factory.
        case plainTransient(Recipe)
    }

    /// The short way to an instance with arguments, if there is one.
    ///
    /// Not generic, so that it needs no metadata at run time. The hash is asked for only where instances are found by it, and while the
    /// table is read: it must run no code of the user's.
    func shortcut(_ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int) -> Shortcut? {
        if obstacles.load(ordering: .acquiring) != 0 { return nil }
        let ticket = epoch.enter()
        defer { ticket.exit() }
        guard case .notReady(let recipe?)? = search(ArgumentsProbe(service, arguments), asked: self) else { return nil }
        var shortcut: Shortcut?
        recipe._withUnsafeGuaranteedRef { recipe in
            if let index = recipe.index.load() {
                let instance = index._withUnsafeGuaranteedRef {
                    $0.instance(withHash: UInt32(truncatingIfNeeded: hash()))
                }
                if let instance { shortcut = .instance(instance) }
            } else if recipe.isPlainTransient {
                shortcut = .plainTransient(recipe)
            }
        }
        return shortcut
    }

    /// The instance that a request gets, in a cell that holds it, if it is there already.
    func hit(_ key: ServiceKey) -> Cell? { key.isPlain ? hit(TypeProbe(key.service)) : hit(KeyProbe(key)) }

    private func hit(_ probe: some SlotProbe) -> Cell? {
        if isClosed { return nil }
        let ticket = epoch.enter()
        defer { ticket.exit() }
        guard case .cell(let cell, _)? = search(probe, asked: self) else { return nil }
        return cell.takeUnretainedValue()
    }

    /// The same as `hit`, with what the captive rule must know.
    func hitCell(_ key: ServiceKey) -> (cell: Cell, table: InstanceTable)? {
        if isClosed { return nil }
        let ticket = epoch.enter()
        defer { ticket.exit() }
        guard case .cell(let cell, let table)? = search(KeyProbe(key), asked: self) else { return nil }
        return (cell.takeUnretainedValue(), table.takeUnretainedValue())
    }

    /// The nearest registration of the key, with the table that holds it.
    func registration(of key: ServiceKey) -> (recipe: Recipe, table: InstanceTable)? {
        let ticket = epoch.enter()
        defer { ticket.exit() }
        return nearestRecipe(KeyProbe(key)).map { ($0.takeUnretainedValue(), $1) }
    }

    /// The nearest registration of the key where this container looks when it has none itself.
    func registration(beyondFor key: ServiceKey) -> (recipe: Recipe, table: InstanceTable)? {
        let ticket = epoch.enter()
        defer { ticket.exit() }
        return nearestRecipe(beyond: KeyProbe(key)).map { ($0.takeUnretainedValue(), $1) }
    }

    /// The table that holds a registration, among those that this one looks in; nil when none does any more.
    func holder(of recipe: Recipe) -> InstanceTable? {
        let ticket = epoch.enter()
        defer { ticket.exit() }
        return holder(of: recipe, KeyProbe(recipe.key))
    }

    private func holder(of recipe: Recipe, _ probe: KeyProbe) -> InstanceTable? {
        if slot(probe)?.toOpaque() == Unmanaged.passUnretained(recipe).toOpaque() { return self }
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
                let isRegisteredHere = slot.isRegistered
                if isRegisteredHere, isClosed { return .notReady(nil) }
                if let cell = slot.cell.load(), cell._withUnsafeGuaranteedRef({ answers($0, isRegisteredHere, asked) })
                {
                    return .cell(cell, Unmanaged.passUnretained(self))
                }
                return isRegisteredHere ? .notReady(slot.recipe) : nil
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
        if let recipe = slot(probe)?._withUnsafeGuaranteedRef({ $0.recipe }) { return (recipe, self) }
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

    /// The registration of the key in this very container.
    func ownRegistration(of key: ServiceKey) -> Recipe? {
        slot(KeyProbe(key))?._withUnsafeGuaranteedRef { $0.recipe?.takeUnretainedValue() }
    }

    /// What a key has in this very container, for who is about to publish a registration of it.
    func ownPlace(of key: ServiceKey) -> OwnPlace {
        let probe = KeyProbe(key)
        guard let slot = slot(probe) else { return OwnPlace(hash: probe.hash, isTaken: false, recipe: nil) }
        return OwnPlace(
            hash: probe.hash, isTaken: true,
            recipe: slot._withUnsafeGuaranteedRef { $0.recipe?.takeUnretainedValue() })
    }

    struct OwnPlace {
        fileprivate let hash: UInt
        /// Whether there is a place, perhaps an empty one.
        fileprivate let isTaken: Bool
        let recipe: Recipe?
    }

    /// Makes room for keys that are about to come.
    func reserve(_ additional: Int, retired: inout [AnyObject]) {
        if array.load()?._withUnsafeGuaranteedRef({ (count + additional) * 4 <= $0.capacity * 3 }) == true { return }
        let old = array.load()?.takeUnretainedValue()
        var living = 0
        old?.forEach { slot, _ in if !slot.isEmpty { living += 1 } }
        var capacity = 8
        while (living + additional) * 2 > capacity { capacity *= 2 }
        let larger = SlotArray(capacity: capacity)
        old?.forEach { slot, hash in if !slot.isEmpty { larger.insert(slot, hash: hash) } }
        count = living
        if let old = array.exchange(larger) { retired.append(old) }
    }

    /// Publishes a registration; what its key had before goes.
    func publish(_ recipe: Recipe, retired: inout [AnyObject]) { put(recipe, retired: &retired) }

    /// The same where the key has been looked for already; a place that it had then stays with it.
    func publish(_ recipe: Recipe, at place: OwnPlace, retired: inout [AnyObject]) {
        if place.isTaken { put(recipe, retired: &retired) } else { add(recipe, hash: place.hash, retired: &retired) }
    }

    /// Takes the registration of a key back, and what it had published.
    func unpublish(_ key: ServiceKey, retired: inout [AnyObject]) {
        // The place stays with the key: others may be found behind it.
        if slot(KeyProbe(key)) != nil { put(Slot(key), retired: &retired) }
    }

    /// Publishes a ready instance.
    func publish(_ cell: Cell, for key: ServiceKey, retired: inout [AnyObject]) {
        let slot: Slot
        if let found = self.slot(KeyProbe(key))?.takeUnretainedValue() {
            slot = found
        } else {
            slot = Slot(key)
            put(slot, retired: &retired)
        }
        if let old = slot.cell.exchange(cell) { retired.append(old) }
    }

    /// Takes a ready instance back, unless another one has taken its place.
    func unpublish(_ cell: Cell, for key: ServiceKey, retired: inout [AnyObject]) {
        guard let slot = slot(KeyProbe(key))?.takeUnretainedValue(),
            slot.cell.load()?.toOpaque() == Unmanaged.passUnretained(cell).toOpaque()
        else { return }
        if let old = slot.cell.exchange(nil) { retired.append(old) }
    }

    /// Takes everything back.
    func unpublishAll(retired: inout [AnyObject]) {
        count = 0
        guard let slots = array.exchange(nil) else { return }
        retired.append(slots)
        // Who still has a registration must not keep its instance.
        slots.forEach { slot, _ in
            if let cell = slot.cell.exchange(nil) { retired.append(cell) }
        }
    }

    private func put(_ slot: Slot, retired: inout [AnyObject]) {
        let probe = KeyProbe(slot.key)
        if let old = array.load()?._withUnsafeGuaranteedRef({ $0.replace(slot, where: probe) }) {
            // Readers that have found it may be loading its cell: both are released after them.
            if let cell = old.cell.exchange(nil) { retired.append(cell) }
            retired.append(old)
            return
        }
        add(slot, hash: probe.hash, retired: &retired)
    }

    /// Gives the key of a slot a place; it has none yet.
    private func add(_ slot: Slot, hash: UInt, retired: inout [AnyObject]) {
        reserve(1, retired: &retired)
        array.load()?._withUnsafeGuaranteedRef { $0.insert(slot, hash: hash) }
        count += 1
    }
}
