import Synchronization

/// The content of a ``Container``: registrations, instances, creations in flight and open scopes.
///
/// The container is a handle over its core. Objects that the core creates (resolvers kept by instances, scopes, tasks)
/// can therefore refer to the core without keeping the instances alive: when the last handle is released, the
/// ``Lifeline`` empties the core.
///
/// Only ``withState(_:)`` changes the state: it locks, lets value types decide, unlocks, and then releases dropped
/// references. Continuations are resumed, and user code is called, outside it.
final class ContainerCore: ResolutionHost {
    let name: String?
    /// Distinguishes the container from every other one, including former ones: see ``CreationKey/asked``.
    let number = ContainerCore.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    private static let lastNumber = Atomic<UInt64>(0)
    /// Whether it has created scoped instances without being a scope, and instances of custom lifetimes.
    private let madeScoped = Atomic(false)
    private let madeResettable = Atomic(false)
    var parent: ContainerCore? { parentReference.object }
    /// This container and those above it, the nearest first.
    var lineage: UnfoldFirstSequence<ContainerCore> { sequence(first: self) { $0.parent } }
    var outermost: ContainerCore { lineage.reduce(self) { $1 } }
    /// Whether it has a parent: without counting a reference, because all scopes of a server share theirs.
    var hasParent: Bool {
        defer { withExtendedLifetime(self) {} }
        return parentReference.load() != nil
    }
    /// A reference that can be cleared, so that nested containers are released in turn; no other code changes it.
    private let parentReference: AtomicReference<ContainerCore>
    let settings: Settings
    /// Reports waits that take too long; nil unless an observer wants them.
    var stalls: StallMonitor? { settings.stalls }
    let table: InstanceTable
    /// Whether any container has fallbacks, or had some.
    static var haveFallbacks: Bool { madeWithFallbacks.load(ordering: .acquiring) }
    private static let madeWithFallbacks = Atomic(false)
    /// Keeps the fallbacks' tables alive; an object, so that a long chain of containers is released in turn.
    private let fallbackReference: AtomicReference<Shared<[ContainerCore]>>
    /// The kind of the scope, which its parent holds; nil for a container that is no scope.
    let scopeKind: ScopeKind?
    /// The position of this scope in its parent.
    ///
    /// Unsafe because ``openScope(_:key:name:holder:registrations:)`` writes it once, under the parent's lock, before
    /// another task can have the scope.
    @exclusivity(unchecked) nonisolated(unsafe) var scopeID: ScopeTree<OpenScope>.ID?
    /// The containers around the body in which this scope was opened: those of its handle.
    ///
    /// Weak because the list lives as long as that handle: it names containers, which no core must keep. Unsafe because
    /// it is written before another task can have the scope.
    nonisolated(unsafe) weak var around: CurrentContainers?
    /// The container's disposal, created at the first wait for it.
    let disposalReference = AtomicReference<Disposal>()
    let startReference = AtomicReference<StartMeter>()
    /// Whether the body of this scope has returned or thrown.
    var bodyHasReturned: Bool { bodyReturned.load(ordering: .relaxed) }
    private let bodyReturned = Atomic(false)
    /// The body of the scope; empty before the graph of waits, or a lease of the scope's instances, needs it.
    let bodyReference = AtomicReference<ScopeBody>()
    /// The reference to the handle; empty for a scope whose handle is pinned.
    let handleReference = AtomicReference<Shared<Locked<HandleReference>>>()
    private let state: Locked<State>

    init(
        name: String?, parent: ContainerCore?, settings: Settings, fallbacks: [ContainerCore] = [],
        scopeKind: ScopeKind? = nil
    ) {
        self.name = name
        parentReference = AtomicReference(parent)
        self.settings = settings
        fallbackReference = AtomicReference(fallbacks.isEmpty ? nil : Shared(fallbacks))
        if !fallbacks.isEmpty { Self.madeWithFallbacks.store(true, ordering: .releasing) }
        self.scopeKind = scopeKind
        table = InstanceTable(parent: parent?.table, fallbacks: fallbacks.map(\.table))
        state = Locked(State(observed: settings.events?.wanted ?? [], table: table))
        table.attach(to: self)
        // Before the check: modules that are registered from now on are announced here.
        for core in fallbacks { core.withState { $0.dependents[ObjectIdentifier(self)] = WeakCore(core: self) } }
        if parent?.table.hasPendingModules == true || fallbacks.contains(where: { $0.table.hasPendingModules }) {
            table.hasPendingModules = true
        }
    }

    deinit {
        if !isScope { parent?.forget(ObjectIdentifier(self), in: \.children) }
        for core in withState({ state in state.rarely { !$0.followed.isEmpty } ? state.followed : [] }) {
            core.forget(ObjectIdentifier(self), in: \.decorators)
        }
        for core in fallbacks { core.forget(ObjectIdentifier(self), in: \.dependents) }
        releaseInTurn(fallbackReference.takeAtEnd())
        releaseInTurn(parentReference.takeAtEnd())
    }

    var fallbacks: [ContainerCore] { fallbackReference.object?.value ?? [] }

    func noteReturnOfBody() { bodyReturned.store(true, ordering: .relaxed) }

    var defaultLifetime: Lifetime { settings.defaultLifetime }
    var duplicatePolicy: DuplicatePolicy { settings.duplicatePolicy }
    var clock: any Clock<Duration> { settings.clock }
    var events: EventQueue? { settings.events }
    var aroundCreations: [any AroundCreation] { settings.aroundCreations }
    var reportsCreations: Bool { settings.events?.wanted.contains(.created) == true }
    /// Measures creations while the container starts; nil for a container without a start.
    var startMeter: StartMeter? { startReference.object }
    /// Measures the time since the container, or the one that its scopes are opened in, was created.
    var stopwatch: Stopwatch { settings.stopwatch }

    var parentHost: (any ResolutionHost)? { parent }
    var soleSource: (any ResolutionHost)? {
        let fallbacks = fallbacks
        guard fallbacks.count + (hasParent ? 1 : 0) == 1, withState({ $0.registrations.isEmpty }) else { return nil }
        return parent ?? fallbacks.first
    }
    var hasScopedInstances: Bool { madeScoped.load(ordering: .relaxed) }
    var hasResettableInstances: Bool { searches { $0.madeResettable.load(ordering: .relaxed) } }

    /// Notes that an instance of a lifetime is about to be created.
    ///
    /// From now on, graph instances may hold instances that the holders of those must not hold.
    func noteCreation(of lifetime: Lifetime) {
        if !hasParent, lifetime.sharing == .resolvingContainer { madeScoped.store(true, ordering: .relaxed) }
        if lifetime.isResettable { madeResettable.store(true, ordering: .relaxed) }
    }
    var title: ContainerTitle { ContainerTitle(name: name, isRoot: !hasParent) }

    func makeStopwatch() -> Stopwatch { Stopwatch(clock) }

    /// Gives `body` exclusive access to the state; no other code changes it.
    ///
    /// References that `body` retires are released afterwards, when no reader can hold them. Its events are passed on
    /// before another task can change the state, so that they are in the order of the changes.
    func withState<R, Failure: Error>(_ body: (inout State) throws(Failure) -> R) throws(Failure) -> R {
        var retired: [AnyObject] = []
        // This may be the last handle. It is released outside the lock, because its end takes the lock.
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
                if state.registrations.hasDropped { state.retired.append(state.registrations.takeDropped()) }
                if !state.retired.isEmpty { swap(&retired, &state.retired) }
                if !state.events.isEmpty { handle = handOver(&state) }
            }
            return try body(&state)
        }
    }

    /// The first result that is not nil for this container and those above it, the nearest first.
    ///
    /// It counts no reference to the containers, because all scopes of a server share those above them.
    @inline(__always)
    func firstUpwards<Found>(_ find: (ContainerCore) -> Found?) -> Found? {
        // Unretained because each container keeps the one above it, and this one is kept.
        defer { withExtendedLifetime(self) {} }
        var next: Unmanaged<ContainerCore>? = .passUnretained(self)
        while let current = next {
            if let found = current._withUnsafeGuaranteedRef(find) { return found }
            next = current._withUnsafeGuaranteedRef { $0.parentReference.load() }
        }
        return nil
    }

    /// Whether `other` is this container or one below it.
    func isAboveOrSame(_ other: ContainerCore) -> Bool { other.firstUpwards { $0 === self ? true : nil } == true }

    /// The containers around the body in which this container, or else the nearest scope above it, was opened; nil
    /// without any.
    var containersAround: CurrentContainers? { firstUpwards { $0.around } }

    /// Passes the parent to `body` without counting a reference to it; nil without a parent.
    func withParent<R>(_ body: (ContainerCore) -> R) -> R? {
        // Unretained because this container keeps its parent.
        defer { withExtendedLifetime(self) {} }
        return parentReference.load()?._withUnsafeGuaranteedRef(body)
    }

    /// Whether no scope below `other` contains this container, so that its instances may live as long as `other`.
    ///
    /// A container that the application created with a parent or a fallback, and not as a scope, ends when the
    /// application says so.
    func isOutsideScopes(of other: ContainerCore) -> Bool {
        firstUpwards { core in core === other ? true : core.isScope ? false : nil } ?? true
    }
}

extension ContainerCore {
    /// The scope of a `withScope` that ends this container, which is no scope itself and was created inside that one,
    /// below `other`; nil for any other container.
    ///
    /// The owner of a scope without a body may end it at any time.
    func scopeAround(below other: ContainerCore) -> ContainerCore? {
        guard !isScope, let scope = lineage.first(where: \.isScope), scope.hasBody else { return nil }
        return other.isAboveOrSame(scope) ? scope : nil
    }

    /// The settings of a container, which its scopes share.
    final class Settings: Sendable {
        let defaultLifetime: Lifetime
        let duplicatePolicy: DuplicatePolicy
        let clock: any Clock<Duration>
        let stopwatch: Stopwatch
        let events: EventQueue?
        let stalls: StallMonitor?
        let aroundCreations: [any AroundCreation]
        /// The observers that intercept factories and hooks, outermost first.
        let interceptors: [any ContainerInterceptor]

        init(
            defaultLifetime: Lifetime, duplicatePolicy: DuplicatePolicy, clock: any Clock<Duration>,
            observers: [any ContainerObserver]
        ) {
            let events = observers.isEmpty ? nil : EventQueue(observers: observers)
            aroundCreations = observers.compactMap { $0 as? any AroundCreation }
            interceptors = observers.compactMap { $0 as? any ContainerInterceptor }
            self.defaultLifetime = defaultLifetime
            self.duplicatePolicy = duplicatePolicy
            self.clock = clock
            self.events = events
            stopwatch = Stopwatch(clock)
            if let events, events.wanted.contains(.stalled) {
                stalls = StallMonitor(threshold: events.stallThreshold, clock: clock) { wait, duration in
                    (wait.reporter as? ContainerCore)?.tell(wait, lasting: duration)
                }
            } else {
                stalls = nil
            }
        }

        /// Whether a registration becomes one binding, unchanged and without a mistake, as most do.
        func takesAsItIs(_ draft: Binding) -> Bool {
            draft.blueprint.isSimple && interceptors.isEmpty
                && (draft.blueprint.lifetime ?? defaultLifetime).bounds.problem == nil
        }
    }
}

struct WeakCore: Sendable {
    weak let core: ContainerCore?
}
