/// What is behind a ``Container``: registrations, instances, creations in flight and open scopes.
///
/// The container is a handle over its core, so that what the core makes (resolvers kept by instances, scopes, tasks) can refer to the core
/// without keeping the instances alive: when the last handle goes, the ``Lifeline`` empties the core.
///
/// State is changed through one door, ``withState(_:)``: it locks, lets value types decide, unlocks, and only then releases
/// what was dropped. Continuations are resumed and user code is called outside it.
final class ContainerCore: ResolutionHost {
    @dynamicMemberLookup
    struct State {
        var phase = Phase.open
        /// Whether anybody is told of events.
        var isObserved = false
        var registrations = RegistrationTable<Recipe>()
        var instances: [CreationKey: Kept] = [:]
        var flights = SingleFlight<CreationKey, Creation, Waiter>()
        var ledger = DisposalLedger<Disposable>()
        var scopes = ScopeTree<OpenScope>()
        /// The order of use in multitons with bounds, by registration.
        var multitons: [ObjectIdentifier: MultitonCache<CreationKey>] = [:]
        var idleWatchers: [ObjectIdentifier: IdleWatcher] = [:]
        var leases = LeaseTable()
        /// How many instances have left the caches and the ledger, but are not disposed yet.
        ///
        /// Counted in the step that drops them, so that a disposal which begins before their hooks do waits for them too.
        var owed = 0
        /// The handle of a scope that somebody's body is running in, who has it all that time.
        var pinnedHandle: Container?
        /// What happened under the lock, to be handed to the observers' queue before it is released: in the order in which it happened.
        var events: [ContainerEvent] = []
        /// What was dropped and is released once nobody can be reading it.
        var retired: [AnyObject] = []
        /// What few containers need, and a request's scope hardly ever; made when it is first written.
        private var rare: RareState?

        init(isObserved: Bool = false) { self.isObserved = isObserved }

        subscript<Value>(dynamicMember member: ReferenceWritableKeyPath<RareState, Value>) -> Value {
            get { (rare ?? RareState.empty)[keyPath: member] }
            _modify {
                let rare = rare ?? RareState()
                self.rare = rare
                yield &rare[keyPath: member]
            }
        }
    }

    /// The part of the state that most containers do without; belongs to the lock like the rest.
    ///
    /// `@unchecked Sendable` because it is reached through the state only, whose lock is held then; the empty one never changes.
    final class RareState: @unchecked Sendable {
        fileprivate static let empty = RareState()

        /// In the order in which they came: the last one is outermost.
        var decorations: [Decoration] = []
        /// Containers that decorate what they inherit from this one.
        var decorators: [ObjectIdentifier: WeakCore] = [:]
        /// The containers whose registrations this one decorates.
        var followed: [ContainerCore] = []
        /// What was wrong with the registrations given to the initialiser, in their order.
        var setUpProblems: [ResolutionError] = []
        var modules = PendingModules()
        var children: [ObjectIdentifier: WeakCore] = [:]
        /// How many weak entries there are before the next search for dead ones.
        var weakSweepThreshold = 64
        var weakCount = 0
        var nextIdleWatcher = 0
        /// How many instances were put into storages.
        var storedCount = 0
        /// Resumed when a last lease ends.
        var leaseWaiters: [CheckedContinuation<Void, Never>] = []
        /// Resumed when nothing is owed any more.
        var owedWaiters: [CheckedContinuation<Void, Never>] = []
        /// Resumed when the last creation in flight has ended.
        var drained: [CheckedContinuation<Void, Never>] = []
        var disposal: Disposal?
        /// Records who asks for what, here and below; stays when it is stopped.
        var recorder: Recorder?
    }

    enum Phase {
        case open, disposing, disposed
    }

    let name: String?
    let parent: ContainerCore?
    let settings: Settings
    /// Reports who waits too long; there is none without observers.
    let stalls: StallMonitor?
    let table: InstanceTable
    /// Keeps the fallbacks' tables alive.
    let fallbacks: [ContainerCore]
    /// Whether this was opened in its parent, which then holds it.
    let isScope: Bool
    /// Where this scope stands in its parent.
    ///
    /// Unsafe because it is written once, by ``openScope(key:name:holder:isPinned:registrations:)`` under the parent's lock, before
    /// anybody else can have the scope.
    nonisolated(unsafe) var scopeID: ScopeTree<OpenScope>.ID?
    /// How to find the handle; none for a scope whose handle is pinned.
    private let handleReference = AtomicReference<HandleReference>()
    private let state: Locked<State>

    init(
        name: String?, parent: ContainerCore?, settings: Settings, fallbacks: [ContainerCore] = [],
        isScope: Bool = false
    ) {
        self.name = name
        self.parent = parent
        self.settings = settings
        self.fallbacks = fallbacks
        self.isScope = isScope
        state = Locked(State(isObserved: settings.events != nil))
        table = InstanceTable(parent: parent?.table, fallbacks: fallbacks.isEmpty ? [] : fallbacks.map(\.table))
        if let events = settings.events {
            let core = Locked(WeakCore(core: nil))
            stalls = StallMonitor(threshold: events.stallThreshold, clock: settings.clock) { wait, duration in
                core.withLock { $0.core }?.tell(wait, lasting: duration)
            }
            core.withLock { $0 = WeakCore(core: self) }
        } else {
            stalls = nil
        }
        table.attach(to: self)
        if parent?.table.hasPendingModules == true || fallbacks.contains(where: { $0.table.hasPendingModules }) {
            table.hasPendingModules = true
        }
    }

    deinit {
        if !isScope { parent?.forgetChild(ObjectIdentifier(self)) }
        for core in withState({ $0.followed }) { core.forgetDecorator(ObjectIdentifier(self)) }
    }

    var defaultLifetime: Lifetime { settings.defaultLifetime }
    var duplicatePolicy: DuplicatePolicy { settings.duplicatePolicy }
    var clock: any Clock<Duration> { settings.clock }
    var events: EventQueue? { settings.events }
    /// Tells the time since the container, or the one that its scopes are opened in, was made.
    var stopwatch: Stopwatch { settings.stopwatch }

    var parentHost: (any ResolutionHost)? { parent }
    var displayName: String {
        if let name { return "container \"\(name)\"" }
        return parent == nil ? "the root container" : "an unnamed scope"
    }

    func makeStopwatch() -> Stopwatch { Stopwatch(clock) }

    /// The one door to the state.
    ///
    /// What `body` retires is released afterwards, once no reader can hold it. What it notes for observers is handed over before
    /// anybody else can change the state: their order is the order of changes.
    func withState<R, Failure: Error>(_ body: (inout State) throws(Failure) -> R) throws(Failure) -> R {
        var retired: [AnyObject] = []
        // Perhaps the last handle: released outside the lock, because its end takes the lock.
        var handle: Container?
        defer {
            withExtendedLifetime(handle) {}
            if !retired.isEmpty {
                ReadEpoch.shared.synchronize()
                retired = []
            }
        }
        return try state.withLock { (state) throws(Failure) in
            defer {
                if !state.retired.isEmpty { swap(&retired, &state.retired) }
                if !state.events.isEmpty { handle = handOver(&state) }
            }
            return try body(&state)
        }
    }

    /// Whether `other` is this container or one below it.
    func isAboveOrSame(_ other: ContainerCore) -> Bool {
        var core: ContainerCore? = other
        while let current = core {
            if current === self { return true }
            core = current.parent
        }
        return false
    }
}

extension ContainerCore {
    /// What a container is told when it is made, and its scopes share with it.
    final class Settings: Sendable {
        let defaultLifetime: Lifetime
        let duplicatePolicy: DuplicatePolicy
        let clock: any Clock<Duration>
        let stopwatch: Stopwatch
        let events: EventQueue?

        init(
            defaultLifetime: Lifetime, duplicatePolicy: DuplicatePolicy, clock: any Clock<Duration>, events: EventQueue?
        ) {
            self.defaultLifetime = defaultLifetime
            self.duplicatePolicy = duplicatePolicy
            self.clock = clock
            self.events = events
            stopwatch = Stopwatch(clock)
        }
    }
}

struct WeakCore: Sendable {
    weak let core: ContainerCore?
}

/// How a core finds its handle without keeping it.
private final class HandleReference: Sendable {
    struct Weak: Sendable {
        weak var container: Container?
        /// Not set where the parent can be asked for it.
        weak var lifeline: Lifeline?
    }

    let value = Locked(Weak())
}

extension ContainerCore.State {
    /// Notes an event for the observers; costs nothing when there are none.
    mutating func note(_ event: @autoclosure () -> ContainerEvent) {
        if isObserved { events.append(event()) }
    }
}

/// One cached instance of a container.
struct Kept {
    var cell: Cell?
    var storage: (any InstanceStorage)?
    /// Which of all stored instances of the container this is, zero before the first: a request that asked the storage knows
    /// whether what it found is still true, also when a lifetime gives the same storage again after a reset.
    var generation = 0
    var ledgerID: DisposalLedger<Disposable>.ID?
    /// Under which keys the instance is published, and in which cells: converted ones for other types.
    var published: [Publication] = []
    /// Whether readers are to find it from the second request on: most of what a request's scope makes is asked for once.
    var isToBePublished = false
    /// The arguments that it was made with, if it has any.
    var pack: ArgumentPack?
    /// Notes its uses, in a multiton with bounds.
    var use: Use?
    /// The instance as readers find it by its arguments.
    var indexed: IndexedInstance?
    /// Whether resets leave it alone: an instance that was registered as such.
    var isFixed = false
}

/// A cell that readers find under a key.
struct Publication {
    let key: ServiceKey
    let cell: Cell
}

/// An instance that is to be disposed.
struct Disposable: Sendable {
    let cell: Cell
    let recipe: Recipe
    /// What the instance's factory leased: ends after the instance.
    var leases: [any HeldLease] = []
}

/// Held by a container's handles, and by its parent while it is an open scope; when nobody holds it, the core is emptied.
final class Lifeline: Sendable {
    let core: ContainerCore

    init(_ core: ContainerCore) { self.core = core }
    deinit { core.abandon() }
}

extension ContainerCore {
    // MARK: Handles

    func adopt(_ container: Container, _ lifeline: Lifeline) {
        handleReference.loadOrInitialize { HandleReference() }.value.withLock {
            $0.container = container
            // A scope's parent has it, but is not to be asked under the lock of the scope, which is when observers are told.
            if !isScope || events != nil { $0.lifeline = lifeline }
        }
    }

    /// Until ``unpin(_:)``, this is the handle, and somebody's body keeps it.
    func pin(_ container: Container) { withState { $0.pinnedHandle = container } }

    /// The body is over: the handle is found only while somebody else has it.
    func unpin(_ container: inout Container) {
        // Not the last reference: the caller has one.
        withState { $0.pinnedHandle = nil }
        // Looking for it costs two more allocations: not for a request's scope, which nobody has any more.
        if !isKnownUniquelyReferenced(&container) { container.adoptAgain() }
    }

    /// The container's handle, a new one when nobody has one; nil when the container is gone.
    func handle() -> Container? { withState { $0.pinnedHandle } ?? unpinnedHandle() }

    private func unpinnedHandle() -> Container? {
        // The lock is not held while a handle is made: it is adopted through the same lock.
        let reference = handleReference.load()?.takeUnretainedValue()
        let (container, known) = reference?.value.withLock { ($0.container, $0.lifeline) } ?? (nil, nil)
        if let container { return container }
        let lifeline = known ?? (events == nil ? lifelineOfScope : nil)
        return lifeline.map { Container(core: self, lifeline: $0, isPinned: false) }
    }

    private var lifelineOfScope: Lifeline? {
        guard let parent, let scopeID else { return nil }
        return parent.withState { $0.scopes[scopeID]?.lifeline }
    }

    /// Tells the observers of something that changes no state.
    func send(_ event: @autoclosure () -> ContainerEvent) {
        guard events != nil else { return }
        withState { $0.note(event()) }
    }

    /// Tells the observers of a long wait, unless it is over.
    ///
    /// The creation's own end is told under the lock of the container that it belongs to, in the step that takes it out of flight:
    /// looking whether it is in flight and telling of the wait are one step under the same lock, so that no wait is told after its end.
    func tell(_ wait: StallMonitor.Wait, lasting duration: Duration) {
        let creation = wait.creation
        let event = ContainerEvent.stalled(waiting: wait.waiting, for: creation.recipe.key, since: duration)
        guard let owner = creation.place as? ContainerCore else { return send(event) }
        if owner === self {
            return withState { if $0.flights.entries[creation] != nil { $0.note(event) } }
        }
        // The queue is that of the container asked; a scope that is being opened has no handle yet.
        guard let events, let container = handle() else { return send(event) }
        owner.withState { if $0.flights.entries[creation] != nil { events.append([event], from: container) } }
    }

    /// Puts events into the observers' queue.
    ///
    /// A scope that is being opened has no handle yet: what happens in it meanwhile waits until it has.
    ///
    /// - Returns: The handle that the queue was given, to be released outside the lock.
    private func handOver(_ state: inout State) -> Container? {
        guard let events, let container = state.pinnedHandle ?? unpinnedHandle() else { return nil }
        events.append(state.events, from: container)
        state.events = []
        return container
    }

    // MARK: Children

    func addChild(_ child: ContainerCore) {
        let isOpen = withState { state in
            state.children[ObjectIdentifier(child)] = WeakCore(core: child)
            return state.phase == .open
        }
        if !isOpen { child.abandon() }
    }

    fileprivate func forgetChild(_ id: ObjectIdentifier) {
        _ = withState { $0.children.removeValue(forKey: id) }
    }

    /// The containers directly below this one.
    var childCores: [ContainerCore] {
        withState { state in
            state.scopes.newestFirst.map(\.core) + state.children.values.compactMap(\.core)
        }
    }

    // MARK: Abandonment

    /// The last handle is gone: instances go too, without their hooks; who still waits is told.
    ///
    /// A container that is being disposed finishes that instead: its disposal keeps the core.
    func abandon() {
        // Mostly it is disposed by now.
        if table.isClosed { return }
        var dropped: State?
        let stopped: (waiters: [Waiter], flights: [Creation])? = withState { state in
            guard state.phase == .open else { return nil }
            table.close()
            let stopped = state.flights.close()
            for recipe in state.registrations.inOrder { recipe.retire() }
            table.unpublishAll(retired: &state.retired)
            state.clearIndexes()
            // Nothing may be released under the lock: deinitialisers are user code, and those of scopes come back here.
            dropped = state
            dropped?.retired = []
            var empty = State()
            empty.phase = .disposed
            empty.flights = state.flights
            empty.retired = state.retired
            empty.leases = state.leases
            if !state.leaseWaiters.isEmpty { empty.leaseWaiters = state.leaseWaiters }
            empty.owed = state.owed
            state = empty
            return stopped
        }
        for waiter in stopped?.waiters ?? [] { waiter.resume(.disposed) }
        for creation in stopped?.flights ?? [] { creation.cancel() }
        for watcher in (dropped?.idleWatchers ?? [:]).values { watcher.task.cancel() }
        for item in dropped?.ledger.inOrder ?? [] { for lease in item.leases { lease.end() } }
        withExtendedLifetime(dropped) {}
    }
}
