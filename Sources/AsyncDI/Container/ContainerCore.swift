/// What is behind a ``Container``: registrations, instances, creations in flight and open scopes.
///
/// The container is a handle over its core, so that what the core makes (resolvers kept by instances, scopes, tasks) can refer to the core
/// without keeping the instances alive: when the last handle goes, the ``Lifeline`` empties the core.
///
/// State is changed through one door, ``withState(_:)``: it locks, lets value types decide, unlocks, and only then releases
/// what was dropped. Continuations are resumed and user code is called outside it.
final class ContainerCore: ResolutionHost {
    struct State {
        var phase = Phase.open
        var registrations = RegistrationTable<Recipe>()
        /// In the order in which they came: the last one is outermost.
        var decorations: [Decoration] = []
        /// Containers that decorate what they inherit from this one.
        var decorators: [ObjectIdentifier: WeakCore] = [:]
        /// What was wrong with the registrations given to the initialiser, in their order.
        var setUpProblems: [ResolutionError] = []
        var instances: [CreationKey: Kept] = [:]
        /// How many weak entries there are before the next search for dead ones.
        var weakSweepThreshold = 64
        var weakCount = 0
        var flights = SingleFlight<CreationKey, Creation, Waiter>()
        var ledger = DisposalLedger<Disposable>()
        var modules = PendingModules()
        var scopes = ScopeTree<OpenScope>()
        var children: [ObjectIdentifier: WeakCore] = [:]
        /// The order of use in multitons with bounds, by registration.
        var multitons: [ObjectIdentifier: MultitonCache<CreationKey, Duration>] = [:]
        var idleWatchers: [ObjectIdentifier: IdleWatcher] = [:]
        var nextIdleWatcher = 0
        /// How many instances were put into storages.
        var storedCount = 0
        var leases = LeaseTable()
        /// Resumed when a last lease ends.
        var leaseWaiters: [CheckedContinuation<Void, Never>] = []
        /// How many instances have left the caches and the ledger, but are not disposed yet.
        ///
        /// Counted in the step that drops them, so that a disposal which begins before their hooks do waits for them too.
        var owed = 0
        /// Resumed when nothing is owed any more.
        var owedWaiters: [CheckedContinuation<Void, Never>] = []
        /// Resumed when the last creation in flight has ended.
        var drained: [CheckedContinuation<Void, Never>] = []
        var disposal: Disposal?
        /// Records who asks for what, here and below; stays when it is stopped.
        var recorder: Recorder?
        /// Whether anybody is told of events.
        var isObserved = false
        /// What happened under the lock, to be handed to the observers' queue before it is released: in the order in which it happened.
        var events: [ContainerEvent] = []
        /// What was dropped and is released once nobody can be reading it.
        var retired: [AnyObject] = []
    }

    enum Phase {
        case open, disposing, disposed
    }

    let name: String?
    let parent: ContainerCore?
    let defaultLifetime: Lifetime
    let duplicatePolicy: DuplicatePolicy
    let clock: any Clock<Duration>
    /// Tells the time since the container was made.
    let stopwatch: Stopwatch
    let events: EventQueue?
    /// Reports who waits too long; there is none without observers.
    let stalls: StallMonitor?
    /// The containers whose registrations this one decorates.
    let followed = Locked<[ContainerCore]>([])
    /// Where this scope stands in its parent, nil for what is not an opened scope.
    let scopeID = Locked<ScopeTree<OpenScope>.ID?>(nil)
    let table: InstanceTable
    private let handleReference = Locked(WeakHandle())
    private let state = Locked(State())

    init(
        name: String?, parent: ContainerCore?, defaultLifetime: Lifetime, duplicatePolicy: DuplicatePolicy,
        fallbacks: [ContainerCore], events: EventQueue?, clock: any Clock<Duration>
    ) {
        self.name = name
        self.parent = parent
        self.defaultLifetime = defaultLifetime
        self.duplicatePolicy = duplicatePolicy
        self.clock = clock
        stopwatch = Stopwatch(clock)
        self.events = events
        let core = events.map { _ in Locked(WeakCore(core: nil)) }
        stalls = events.map { events in
            StallMonitor(threshold: events.stallThreshold, clock: clock) { wait, duration in
                core?.withLock { $0.core }?.tell(wait, lasting: duration)
            }
        }
        self.fallbacks = fallbacks
        table = InstanceTable(parent: parent?.table, fallbacks: fallbacks.map(\.table))
        table.attach(to: self)
        table.hasPendingModules = ([parent].compactMap(\.self) + fallbacks).contains { $0.table.hasPendingModules }
        core?.withLock { $0 = WeakCore(core: self) }
        let isObserved = events != nil
        state.withLock { $0.isObserved = isObserved }
    }

    /// Keeps the fallbacks' tables alive.
    let fallbacks: [ContainerCore]

    deinit {
        parent?.forgetChild(ObjectIdentifier(self))
        for core in followed.withLock({ $0 }) { core.forgetDecorator(ObjectIdentifier(self)) }
    }

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
                if !state.events.isEmpty { handle = handOver(&state.events) }
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

struct WeakCore: Sendable {
    weak let core: ContainerCore?
}

private struct WeakHandle: Sendable {
    weak var container: Container?
    weak var lifeline: Lifeline?
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
    /// The arguments that it was made with, if it has any.
    var pack: ArgumentPack?
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
        handleReference.withLock {
            $0.container = container
            $0.lifeline = lifeline
        }
    }

    /// The container's handle, a new one when nobody has one; nil when the container is gone.
    func handle() -> Container? {
        // The lock is not held while a handle is made: it is adopted through the same lock.
        let (container, lifeline) = handleReference.withLock { ($0.container, $0.lifeline) }
        if let container { return container }
        guard let lifeline else { return nil }
        return Container(core: self, lifeline: lifeline)
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
    private func handOver(_ noted: inout [ContainerEvent]) -> Container? {
        guard let events, let container = handle() else { return nil }
        events.append(noted, from: container)
        noted = []
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
        var dropped: State?
        let stopped: (waiters: [Waiter], flights: [Creation])? = withState { state in
            guard state.phase == .open else { return nil }
            table.close()
            let stopped = state.flights.close()
            for (_, recipe) in state.registrations.inOrder { recipe.retire() }
            state.retired += table.unpublishAll()
            // Nothing may be released under the lock: deinitialisers are user code, and those of scopes come back here.
            dropped = state
            dropped?.retired = []
            var empty = State()
            empty.phase = .disposed
            empty.flights = state.flights
            empty.retired = state.retired
            empty.leases = state.leases
            empty.leaseWaiters = state.leaseWaiters
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
