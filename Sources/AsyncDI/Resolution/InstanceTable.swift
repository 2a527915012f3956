import Synchronization

/// One container's registrations and ready instances, published for readers without a lock.
///
/// In a ``PublishedArray``, each place of which stays with its key: its slot, a registration or only an instance, is
/// exchanged as a whole. Readers (`find`, `registration`) work inside a ``ReadEpoch``. Writers are
/// serialized by the lock of the container that owns the table; they return what they unpublish, to be released once
/// ``ReadEpoch/synchronize()`` has returned.
///
/// Tables form the search order: this container, its fallbacks, its parent.
///
/// `@unchecked Sendable` because `array` and the references in slots are atomic, `count` belongs to the writer's lock,
/// and `owner` is written once, before another thread has the table.
@usableFromInline final class InstanceTable: @unchecked Sendable {
    /// The container behind this table, which owns it and therefore outlives it.
    var host: any ResolutionHost {
        guard let owner else { preconditionFailure("a container outlives its table") }
        return owner
    }
    /// Unchecked because it is written once, before another task can have the table.
    @exclusivity(unchecked) private unowned var owner: (any ResolutionHost)?
    /// Not a constant, so that it can be released in turn at the end; nothing else changes it.
    private let parentReference: AtomicReference<InstanceTable>
    private let fallbackReference: AtomicReference<Shared<[InstanceTable]>>
    private let fallbackCount: Int
    /// The container's drains; empty before the first one.
    let endlessDrains = AtomicReference<EndlessDrains>()

    private let epoch = ImmortalReference(toConstant: ReadEpoch.shared)
    let array = AtomicReference<PublishedArray<Slot>>()
    /// Zero while no obstacle stands between a request and a hit.
    let obstacles = Atomic<UInt8>(0)
    static let closedBit: UInt8 = 1
    static let pendingBit: UInt8 = 2
    static let drainingBit: UInt8 = 4
    static let drainRootBit: UInt8 = 8
    static let droppedBit: UInt8 = 16
    static let announcingBit: UInt8 = 32
    static let cutShortBit: UInt8 = 64
    /// The number of occupied places.
    var count = 0

    init(parent: InstanceTable?, fallbacks: [InstanceTable]) {
        parentReference = AtomicReference(parent)
        fallbackReference = AtomicReference(fallbacks.isEmpty ? nil : Shared(fallbacks))
        fallbackCount = fallbacks.count
    }

    deinit {
        releaseInTurn(fallbackReference.takeAtEnd())
        releaseInTurn(parentReference.takeAtEnd())
    }

    var parent: InstanceTable? { parentReference.object }
    var fallbacks: [InstanceTable] { fallbackReference.object?.value ?? [] }

    /// Called once, by the initializer of the container that owns the table.
    func attach(to host: any ResolutionHost) { owner = host }

    // MARK: Reading

    /// Finds the instance, or the factory to call, for a request without qualifier and arguments: the hot path.
    ///
    /// Not generic, so that it needs no metadata at run time, and an instance is not retained: the caller copies it out
    /// of its cell. A weakly held instance is left to the slow path.
    func find(_ service: any Any.Type) -> Found? {
        if obstacles.load(ordering: .acquiring) != 0 { return nil }
        let ticket = epoch.with { $0.enter() }
        // With it the tables that it searches: the read keeps the found objects, but not the tables.
        defer { withExtendedLifetime(self) {} }
        switch search(TypeProbe(service)) {
        // The modules of the registration's container may be pending, although this one does not know of them yet.
        case .cell(_, let table)? where isHeldUp(by: table), .notReady(_, let table)? where isHeldUp(by: table):
            ticket.exit()
            return nil
        case .cell(let cell, _)? where !cell._withUnsafeGuaranteedRef { $0.isHeldWeakly }:
            return .hit(Hit(cell, readUntil: ticket))
        case .notReady(let binding?, _)? where binding._withUnsafeGuaranteedRef { $0.isPlainTransient }:
            defer { ticket.exit() }
            return .plainTransient(binding.takeUnretainedValue())
        case .notReady(let binding?, _)? where binding._withUnsafeGuaranteedRef { $0.isPlainGraph }:
            defer { ticket.exit() }
            return .plainGraph(binding.takeUnretainedValue())
        default:
            ticket.exit()
            return nil
        }
    }

    /// Whether a table found in a search, which this one keeps alive, leaves the request to the slow path.
    @inline(__always)
    private func isHeldUp(by table: Unmanaged<InstanceTable>) -> Bool {
        table._withUnsafeGuaranteedRef { $0.hasObstacles }
    }

    /// Finds an instance for a request with a qualifier; makes no key either.
    func find(_ probe: QualifierProbe) -> QualifiedHit? {
        if obstacles.load(ordering: .acquiring) != 0 { return nil }
        let ticket = epoch.with { $0.enter() }
        // With it the tables that it searches: the read keeps the found objects, but not the tables.
        defer { withExtendedLifetime(self) {} }
        if case .undecided(let slot, let table)? = search(probe), !isHeldUp(by: table),
            let cell = table._withUnsafeGuaranteedRef({ $0.cell(of: slot, asked: self) }),
            !cell._withUnsafeGuaranteedRef({ $0.isHeldWeakly }),
            let details = slot._withUnsafeGuaranteedRef({ $0.details })
        {
            return QualifiedHit(Hit(cell, readUntil: ticket), details: details)
        }
        ticket.exit()
        return nil
    }

    /// Whether a service without qualifier and arguments may have to be created first, and is shared.
    ///
    /// With `countingAll`, a transient one without a published instance counts too.
    ///
    /// - Returns: Nil for a service without a registration of its own, which may stand for others, as an optional does.
    func mayBeCreated(_ service: any Any.Type, countingAll: Bool) -> Bool? {
        reading {
            switch search(TypeProbe(service)) {
            // Whether a weakly held instance is gone cannot be seen without retaining it.
            case .cell(let cell, _)?: cell._withUnsafeGuaranteedRef { $0.isHeldWeakly }
            case .notReady(let binding?, _)?:
                countingAll || binding._withUnsafeGuaranteedRef { $0.lifetime.sharing.isShared }
            case .notReady(nil, _)?, .undecided?, nil: nil
            }
        }
    }

    /// The published instance for a request, and the table that holds it.
    func hit(_ key: ServiceKey) -> (cell: Cell, table: InstanceTable)? {
        if isClosed { return nil }
        return lookUp(key) { probe in
            switch search(probe) {
            // It may lack a decoration.
            case .cell(_, let table)? where table._withUnsafeGuaranteedRef({ $0.isAnnouncing }): .decided(nil)
            case .cell(let cell, let table)?: .decided((cell.takeUnretainedValue(), table.takeUnretainedValue()))
            case .undecided(_, let table)?: .undecided(in: table.takeUnretainedValue())
            case .notReady?, nil: .decided(nil)
            }
        }
    }

    /// The nearest registration of the key, with the table that holds it.
    func registration(of key: ServiceKey) -> (binding: Binding, table: InstanceTable)? {
        nearestRegistration(of: key, isOwnIncluded: true).map { ($0.binding, $0.table) }
    }

    /// The nearest registration of the key where this container looks when it has none itself.
    func registration(beyondFor key: ServiceKey) -> (binding: Binding, table: InstanceTable)? {
        nearestRegistration(of: key, isOwnIncluded: false).map { ($0.binding, $0.table) }
    }

    /// The nearest registration of the key, and whether containers that decorate it may not have heard of it yet.
    func nearestRegistration(
        of key: ServiceKey, isOwnIncluded: Bool
    ) -> (binding: Binding, table: InstanceTable, isAnnounced: Bool)? {
        lookUp(key) { probe in
            func own(_ table: InstanceTable) -> LookUp<(binding: Binding, table: InstanceTable, isAnnounced: Bool)?>? {
                guard let found = table.slot(probe) else { return nil }
                if found.isUndecided { return .undecided(in: table) }
                return found.slot.takeUnretainedValue().binding.map { .decided(($0, table, table.isAnnouncing)) }
            }
            return (isOwnIncluded ? firstTable(own) : firstTableBeyond(own)) ?? .decided(nil)
        }
    }

    /// The nearest registration of a service without qualifier and arguments, if no obstacle stands before it.
    func unobstructedRegistration(of service: any Any.Type) -> (binding: Binding, table: InstanceTable)? {
        if hasObstacles { return nil }
        let probe = TypeProbe(service)
        return reading {
            let found = firstTable { table in
                table.slot(probe)?.slot.takeUnretainedValue().binding.map { (binding: $0, table: table) }
            }
            return found.flatMap { $0.table.hasObstacles ? nil : $0 }
        }
    }

    /// The table that holds a registration, among those that this one looks in; nil when none does any more.
    func holder(of binding: Binding) -> InstanceTable? {
        // A registration is there under its own key, so that nothing is left to compare but addresses.
        let probe = OwnSlotProbe(binding.key, hash: binding.placeHash, asksUser: false)
        return reading {
            firstTable { $0.slot(probe)?.slot.toOpaque() == Unmanaged.passUnretained(binding).toOpaque() ? $0 : nil }
        }
    }

    // MARK: Inside

    /// Runs the body in a read that keeps this table, and the tables that it searches, until its end.
    ///
    /// The body's result must be retained.
    func reading<Answer>(_ body: () -> Answer) -> Answer {
        let ticket = epoch.with { $0.enter() }
        defer {
            ticket.exit()
            withExtendedLifetime(self) {}
        }
        return body()
    }

    private enum LookUp<Answer> {
        case decided(Answer)
        /// Only the user's `==` can tell whether a slot in this table has the key.
        case undecided(in: InstanceTable)
    }

    /// Looks a key up in reads, and runs the user's `==` between them, until nothing is undecided.
    ///
    /// A second read usually suffices. Another one follows only when keys were registered meanwhile.
    private func lookUp<Answer>(_ key: ServiceKey, _ body: (KeyProbe) -> LookUp<Answer>) -> Answer {
        var probe = KeyProbe(key)
        while true {
            let (answer, undecided): (Answer?, [KeyDetails]) = reading {
                switch body(probe) {
                case .decided(let decided):
                    (decided, [])
                case .undecided(let table):
                    (nil, table.array.load()?._withUnsafeGuaranteedRef { $0.undecided(probe) } ?? [])
                }
            }
            if let answer { return answer }
            probe.decide(undecided)
        }
    }

    /// The result of a search: cells, bindings and slots are valid until the read ends, tables as long as the searched
    /// one.
    enum SearchResult {
        case cell(Unmanaged<Cell>, Unmanaged<InstanceTable>)
        /// The nearest registration has no instance for the container asked; nil when its container is closed.
        case notReady(Unmanaged<Binding>?, Unmanaged<InstanceTable>)
        /// Whether this slot has the key remains to be compared.
        case undecided(Unmanaged<Slot>, Unmanaged<InstanceTable>)
    }

    /// Searches this table, its fallbacks and its parent, inside a read.
    func search(_ probe: some SlotProbe) -> SearchResult? {
        if let answer = answer(probe, asked: self) { return answer }
        return searchBeyond(probe, asked: self)
    }

    /// A separate function, so that a hit in the first table runs little code.
    @inline(never)
    private func searchBeyond(_ probe: some SlotProbe, asked: InstanceTable) -> SearchResult? {
        firstTableBeyond { $0.answer(probe, asked: asked) }
    }

    /// The first answer among the tables in the search order.
    func firstTable<Answer>(_ body: (InstanceTable) -> Answer?) -> Answer? {
        if let answer = body(self) { return answer }
        return firstTableBeyond(body)
    }

    /// A loop, because scopes and fallbacks may be nested very deep.
    private func firstTableBeyond<Answer>(_ body: (InstanceTable) -> Answer?) -> Answer? {
        // Unretained because this table, kept until the end, keeps its fallbacks and its parent, and they their own.
        defer { withExtendedLifetime(self) {} }
        var current = Unmanaged.passUnretained(self)
        // The next fallback of the current table; its parent follows after the last one.
        var index = 0
        // Outer tables with sources left to search; empty, and not allocated, unless a chain branches.
        var left: [(table: Unmanaged<InstanceTable>, index: Int)] = []
        while true {
            if let fallback = current._withUnsafeGuaranteedRef({ $0.fallback(index) }) {
                if let answer = fallback._withUnsafeGuaranteedRef({ body($0) }) { return answer }
                index += 1
                guard fallback._withUnsafeGuaranteedRef({ $0.hasSource(0) }) else { continue }
                if current._withUnsafeGuaranteedRef({ $0.hasSource(index) }) { left.append((current, index)) }
                (current, index) = (fallback, 0)
            } else if let parent = current._withUnsafeGuaranteedRef({ $0.parentReference.load() }) {
                if let answer = parent._withUnsafeGuaranteedRef({ body($0) }) { return answer }
                (current, index) = (parent, 0)
            } else if let outer = left.popLast() {
                (current, index) = outer
            } else {
                return nil
            }
        }
    }

    @inline(__always)
    private func fallback(_ index: Int) -> Unmanaged<InstanceTable>? {
        guard index < fallbackCount else { return nil }
        return fallbackReference.load()?._withUnsafeGuaranteedRef { Unmanaged.passUnretained($0.value[index]) }
    }

    /// Whether this table searches another one, from the given fallback on.
    private func hasSource(_ index: Int) -> Bool { index < fallbackCount || parentReference.load() != nil }

    /// The answer of this very table.
    @inline(__always)
    private func answer(_ probe: some SlotProbe, asked: InstanceTable) -> SearchResult? {
        guard let found = slot(probe) else { return nil }
        if found.isUndecided { return .undecided(found.slot, Unmanaged.passUnretained(self)) }
        return found.slot._withUnsafeGuaranteedRef { slot in
            if slot.isRegistered, isClosed { return .notReady(nil, Unmanaged.passUnretained(self)) }
            if let cell = slot.cell.load(), cell._withUnsafeGuaranteedRef({ answers($0, slot.isRegistered, asked) }) {
                return .cell(cell, Unmanaged.passUnretained(self))
            }
            return slot.isRegistered ? .notReady(slot.unretainedBinding, Unmanaged.passUnretained(self)) : nil
        }
    }

    /// The published instance in a slot of this table, if a request of `asked` gets it.
    private func cell(of slot: Unmanaged<Slot>, asked: InstanceTable) -> Unmanaged<Cell>? {
        slot._withUnsafeGuaranteedRef { slot in
            if slot.isRegistered, isClosed { return nil }
            guard let cell = slot.cell.load() else { return nil }
            return cell._withUnsafeGuaranteedRef { answers($0, slot.isRegistered, asked) } ? cell : nil
        }
    }

    /// Whether a published instance is the one for a request of `asked`.
    private func answers(_ cell: Cell, _ isRegisteredHere: Bool, _ asked: InstanceTable) -> Bool {
        let stamp = cell.stamp
        let isCurrent = stamp == 0 ? isRegisteredHere : stamp == RegistrationCounter.now
        return self === asked ? isCurrent : isCurrent && isRegisteredHere && cell.isSharedBelow
    }

    /// The place of a slot in this very table, inside a read or under the container's lock, which keep the array and
    /// the slot.
    func slot(_ probe: some SlotProbe) -> PublishedArray<Slot>.Found? {
        array.load()?._withUnsafeGuaranteedRef { $0.find(probe) }
    }
}
