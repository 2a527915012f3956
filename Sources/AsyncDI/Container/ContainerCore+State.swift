extension ContainerCore {
    /// The state that the lock of a core protects.
    @dynamicMemberLookup
    struct State {
        typealias Work = LifeCycle<CheckedContinuation<Void, Never>>.Work
        typealias Postponed = (leased: LeasedCell?, place: DisposalLedger<Disposable>.ID, items: [Disposable])

        /// The container's table.
        let table: InstanceTable
        var life = LifeCycle<CheckedContinuation<Void, Never>>()
        /// The kinds of events that an observer wants.
        private(set) var observed: ContainerEvent.Kinds
        var registrations = RegistrationTable<Binding>()
        var instances = InstanceCache()
        var flights = Flights()
        var ledger = DisposalLedger<Disposable>()
        var leases = LeaseTable()
        /// The keys of the former registrations, after the disposal of a container with a parent.
        var formerKeys: [ServiceKey] = []
        /// The handle of a scope with a running body, which keeps the handle.
        var pinnedHandle: Container?
        /// Events that occurred under the lock.
        ///
        /// They are passed to the observers' queue, in their order, before its release.
        var events: [(ContainerEvent, ContainerEvent.Details)] = []
        /// Dropped references, released when no reader can have them.
        var retired: [AnyObject] = []
        /// State that few containers need, and request scopes hardly ever; created at the first write.
        private var extras: Extras?

        init(observed: ContainerEvent.Kinds, table: InstanceTable) {
            self.observed = observed
            self.table = table
        }

        /// Checks the uncommon state; returns false without any.
        func rarely(_ isSo: (Extras) -> Bool) -> Bool { extras.map(isSo) ?? false }

        subscript<Value>(dynamicMember member: ReferenceWritableKeyPath<Extras, Value>) -> Value {
            get { (extras ?? Extras.empty)[keyPath: member] }
            _modify {
                let extras = self.extras ?? Extras()
                self.extras = extras
                yield &extras[keyPath: member]
            }
        }
    }

    /// The part of the state that most containers do not need; it belongs to the lock like the rest.
    ///
    /// Objects may be known by identity here because each is removed before it is released, most of them by themselves.
    ///
    /// `@unchecked Sendable` because it is accessed only through the state, under the state's lock; the empty value
    /// never changes.
    final class Extras: @unchecked Sendable {
        fileprivate static let empty = Extras()

        var scopes = ScopeTree<OpenScope>()
        /// The order of use in multitons with bounds, by registration.
        var multitons: [ObjectIdentifier: MultitonCache<CreationKey>] = [:]
        var idleWatchers: [ObjectIdentifier: IdleWatcher] = [:]
        var decorations = Decorations()
        /// Containers that decorate registrations inherited from this one, and the names of the decorated services.
        var decorators: [ObjectIdentifier: (core: WeakCore, names: Set<ServiceName>)] = [:]
        /// The number of changes of which those containers have not heard yet.
        var announcements = 0
        /// The containers that fall back on this one.
        var dependents: [ObjectIdentifier: WeakCore] = [:]
        /// The containers whose registrations this one decorates.
        var followed: [ContainerCore] = []
        /// The objects that forget their instances when this container ends.
        var memos: [ObjectIdentifier: WeakInstanceMemo] = [:]
        var modules = PendingModules()
        /// The child containers.
        var children: [ObjectIdentifier: WeakCore] = [:]
        /// The other keys under which instances are published, and their converted cells, by the instance's entry.
        var aliases: [ObjectIdentifier: [(key: ServiceKey, cell: Cell)]] = [:]
        /// The number of weak entries that are added before the next search for dead ones.
        var weakEntriesBeforeSweep = 64
        /// See ``State/nextNumber()``.
        var lastNumber = 0
        /// The instances that have left the caches and are being closed.
        ///
        /// By identity, because several of one key may be closed at once.
        var closing: [ObjectIdentifier: Disposable] = [:]
        /// The pending calls of storages.
        var storageWork = StorageQueue<StoredProduct>()
        /// The instances that have left the caches and are not disposed yet: the latest one for each key.
        var endings: [EndingKey: Disposable] = [:]
        /// The creations that were invalidated after their beginning, have not ended, and hold off the next one.
        ///
        /// At most one for each key, because the next one waits for it.
        var earlierCreations: [EndingKey: EndOfCreation] = [:]
        /// Records requests between services, here and below; it remains after it is stopped.
        var recorder: Recorder?
        /// The bodies that run on although their scopes, below this container, are disposed; only in one without a
        /// parent.
        var bodiesCutShort = BodiesCutShort()
        /// The earliest deadline of the calls that have disposed this container, by its stopwatch; only in one without
        /// a parent.
        var earliestDeadline: Duration?
        /// The activity that the end of a `withContainer` waits for, up to that deadline.
        var limitedWait: Completion?
        /// Whether a registration with arguments has been replaced or removed.
        var hasFormerRegistrations = false
        /// The ends of the health checks that run.
        var checks: [CheckedInstance: Completion] = [:]
        /// The failure of the latest start, unless it succeeded.
        var startFailure: StartFailure?

        /// The part that is of use after the end of the container; nil without any.
        ///
        /// - Parameter hasHandle: Whether a handle remains that could be asked for it.
        /// - Returns: The part.
        fileprivate func survivors(hasHandle: Bool) -> Extras? {
            var survivors: Extras?
            func keep<Value>(_ member: ReferenceWritableKeyPath<Extras, Value>) {
                let extras = survivors ?? Extras()
                extras[keyPath: member] = self[keyPath: member]
                survivors = extras
            }
            // The deinitializer notifies these containers that this one no longer decorates their registrations.
            if !followed.isEmpty { keep(\.followed) }
            if !storageWork.isEmpty { keep(\.storageWork) }
            guard hasHandle else { return survivors }
            // A scope that is about to close removes itself.
            if !scopes.isEmpty { keep(\.scopes) }
            if modules.binding != nil { keep(\.modules) }
            if recorder != nil { keep(\.recorder) }
            if earliestDeadline != nil { keep(\.earliestDeadline) }
            if limitedWait != nil { keep(\.limitedWait) }
            if startFailure != nil { keep(\.startFailure) }
            if !bodiesCutShort.entries.isEmpty { keep(\.bodiesCutShort) }
            return survivors
        }
    }
}

extension ContainerCore.State {
    /// Notes an event of the instance for these arguments.
    ///
    /// It costs nothing if no observer wants events of its kind.
    mutating func note(
        _ kind: ContainerEvent.Kinds, of arguments: ArgumentKey = .none,
        ownDuration: @autoclosure () -> Duration? = nil, _ event: @autoclosure () -> ContainerEvent
    ) {
        guard observed.contains(kind) else { return }
        events.append((event(), ContainerEvent.Details(key: arguments, ownDuration: ownDuration())))
    }

    /// The problems of invalid registrations, which only an initializer accepts.
    var invalidRegistrations: [ResolutionError] {
        registrations.inOrder.compactMap { $0.base?.isInherited == true ? nil : $0.problem }
    }
}

/// The end of a container, as far as its state decides it.
extension ContainerCore.State {
    /// Whether a new disposal can end at once, without a hook, creation, lease, scope or child to wait for.
    var hasNothingToWaitFor: Bool {
        hasHooksOnly && !hasDecorators
            && (ledger.isEmpty || observed.contains(.disposed) && ledger.inOrder.allSatisfy(\.isSilent))
    }

    /// Whether a disposal that has just begun waits only for hooks.
    var hasHooksOnly: Bool {
        flights.isEmpty && leases.isEmpty && life.removals == 0
            && !rarely { !$0.scopes.isEmpty || !$0.children.isEmpty || !$0.idleWatchers.isEmpty }
    }

    /// The next step of a disposal.
    enum NextStep {
        case recorded(Disposable, isLeased: Bool)
        /// A wait for an instance that was dropped while it was leased: the end of its last lease closes it.
        case postponed(LeasedCell)
        /// A wait for a dropped instance that another task is closing.
        case closing(Disposable)
    }

    /// The instances that have left the caches and are not closed yet, the latest in the order of completion last.
    var dropped: [Postponed] {
        let postponed = leases.postponed
        let leased = Set(postponed.flatMap(\.items).map(ObjectIdentifier.init))
        let closing = self.closing.values.compactMap { item -> Postponed? in
            item.hasEnded || leased.contains(ObjectIdentifier(item)) ? nil : item.place.map { (nil, $0, [item]) }
        }
        return closing.isEmpty ? postponed : (postponed + closing).sorted { $0.place < $1.place }
    }

    /// The next step of a disposal, the latest instance first: older ones, which it may use, are closed after it.
    ///
    /// - Parameter postponed: The instances that had been dropped, and not closed, when the container's work had ended;
    ///   none is added later.
    /// - Returns: The step; nil when no recorded instance is left.
    mutating func nextStep(beside postponed: inout [Postponed]) -> NextStep? {
        while let (leased, place, items) = postponed.last {
            let isLeased = leased.map { leases.isLeased($0.cell) } ?? false
            let open = items.first { !$0.hasEnded }
            guard isLeased || open != nil else {
                postponed.removeLast()
                continue
            }
            if place < ledger.latest ?? -1 { break }
            return isLeased ? leased.map { .postponed($0) } : open.map { .closing($0) }
        }
        return ledger.takeNewest().map { .recorded($0, isLeased: $0.cell.map(leases.isLeased) == true) }
    }

    /// Whether work of a kind is unfinished.
    func isUnfinished(_ work: Work) -> Bool {
        switch work {
        case .bodies: life.bodies > 0
        case .creations: !flights.isEmpty
        case .leases: !leases.isEmpty
        case .removals: life.removals > 0
        case .storages: rarely { !$0.storageWork.isEmpty }
        }
    }

    /// Marks the container as disposed, and takes its content.
    ///
    /// Unfinished work remains: creations, leases, disposals of removed instances, calls of storages.
    ///
    /// - Parameters:
    ///   - content: Receives the content.
    ///   - hasParent: Whether messages for requests through a parent may still name the registrations.
    ///   - hasHandle: Whether a handle remains.
    mutating func end(into content: inout Content, hasParent: Bool, hasHandle: Bool = true) {
        content.drains = life.end()
        if !registrations.isEmpty {
            if hasParent, hasHandle { formerKeys.reserveCapacity(registrations.count) }
            registrations.forEach { binding in
                binding.retire()
                if hasParent, hasHandle { formerKeys.append(binding.key) }
            }
            content.registrations = registrations
            registrations.removeAll()
        }
        table.unpublishAll(retired: &retired)
        clearIndexes()
        swap(&content.instances, &instances)
        if !ledger.isEmpty { swap(&content.ledger, &ledger) }
        guard let extras else { return }
        content.extras = extras
        self.extras = extras.survivors(hasHandle: hasHandle)
    }

    /// Ends the events of a container without handles.
    ///
    /// - Returns: The events that no observer has received.
    mutating func silence() -> [(ContainerEvent, ContainerEvent.Details)] {
        observed = []
        return exchange(&events, with: [])
    }

    /// The content of a disposed container, to be released outside its lock: deinitializers are user code.
    struct Content {
        fileprivate var registrations: RegistrationTable<Binding>?
        fileprivate(set) var instances = InstanceCache()
        fileprivate(set) var ledger = DisposalLedger<Disposable>()
        fileprivate var extras: ContainerCore.Extras?
        /// The drains to resume.
        fileprivate(set) var drains: [CheckedContinuation<Void, Never>] = []
        /// Published objects, and instances whose disposal is only an event: released once the scope's key is free.
        var retired: [AnyObject] = []
        var events: [(ContainerEvent, ContainerEvent.Details)] = []

        var idleWatchers: [IdleWatcher] { extras.map { Array($0.idleWatchers.values) } ?? [] }
        var memos: [any InstanceMemo] { extras.map { $0.memos.values.compactMap(\.memo) } ?? [] }
        /// The references that keep open scopes, the first one last.
        var scopes: [Lifeline] { extras.map { $0.scopes.newestFirst.map(\.lifeline) } ?? [] }
    }
}
