/// A dependency-injection container for concurrent code.
///
/// It resolves asynchronous, throwing factories, creates each shared instance once for any number of concurrent
/// requests, gives a server one scope for each request, and disposes its instances in order.
/// ```swift
/// let container = Container {
///     Registration(Database.self, lifetime: .singleton) { _ in
///         try await Database.open("app.sqlite")
///     }
///     .onDispose { database in try await database.close() }
///     Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
/// }
/// let users = try await container.resolve((any UserRepository).self)
/// try await container.dispose()
/// ```
/// A hit without arguments takes no lock and does not enter the actor. A container that is dropped without `dispose()`
/// releases its instances without running their hooks.
public actor Container: _ContainerInit, CustomStringConvertible, CustomDebugStringConvertible {
    /// The innermost scope of the current task, bound by ``withScope(_:registrations:operation:)``.
    ///
    /// A task that outlives the scope still finds it here, and resolves from the containers around it.
    @TaskLocal public static var current: Container?

    nonisolated let core: ContainerCore
    /// The core's table, one step nearer for the hot path.
    nonisolated let table: InstanceTable
    /// The task-locals that the hot path reads.
    ///
    /// Stored here because reaching a global costs a call each time.
    private nonisolated let currentRun = ImmortalReference(toConstant: ResolutionContext.$run)
    private nonisolated let currentContainer = ImmortalReference(toConstant: Container.$current)
    /// Keeps the core filled while references to this container exist.
    ///
    /// Taken out at the end only, like the parent: in this order, so that a container's instances are released before
    /// those of its parent.
    nonisolated let lifeline: AtomicReference<Lifeline>
    /// The container that this one is a scope or child of, and its fallbacks: kept alive by it.
    private nonisolated let parent: AtomicReference<Container>
    private nonisolated let fallbacks: AtomicReference<Shared<[Container]>>
    /// The containers that were current where this scope was opened for a body; nil for any other container.
    nonisolated let around: CurrentContainers?

    /// Whether the current task is outside every run.
    nonisolated var isOutsideRuns: Bool { currentRun.with { $0.get() } == nil }

    /// Whether no scope of the current task stands for the container: see ``_Requester/container(_:)``.
    nonisolated var standsForItself: Bool {
        let current = currentContainer.with { $0.get() }
        return current == nil || current === self
    }

    /// The name given to the container, or scope, at its creation.
    public nonisolated var name: String? { core.name }

    /// Creates a container with a collection of registrations.
    ///
    /// This does not throw: invalid registrations throw on the first resolve of their key.
    ///
    /// - Parameters:
    ///   - name: The name shown in messages.
    ///   - parent: The container that is searched after this one and its fallbacks. The parent does not keep this
    ///     container alive, but disposes it before itself.
    ///   - defaultLifetime: The lifetime of registrations without one.
    ///   - onDuplicate: The effect of registering a key twice.
    ///   - fallbacks: Containers that are searched, in this order, after this one.
    ///   - observers: Receive the container's events.
    ///   - clock: Measures durations; a test may pass one that it drives by hand.
    ///   - registrations: The container's registrations.
    public init(
        name: String? = nil, parent: Container? = nil, defaultLifetime: Lifetime = .graph,
        onDuplicate: DuplicatePolicy = .replace, fallbacks: [Container] = [], observers: [any ContainerObserver] = [],
        clock: any Clock<Duration> = ContinuousClock(), registrations: Registrations = Registrations()
    ) {
        let core = ContainerCore(
            name: name, parent: parent?.core,
            settings: ContainerCore.Settings(
                defaultLifetime: defaultLifetime, duplicatePolicy: onDuplicate, clock: clock, observers: observers),
            fallbacks: fallbacks.map(\.core))
        let lifeline = Lifeline(core)
        self.init(
            core: core, lifeline: lifeline, holding: parent, fallbacks: fallbacks.isEmpty ? nil : Shared(fallbacks))
        core.adopt(self, lifeline)
        core.setUp(registrations)
        parent?.core.addChild(core)
    }

    /// Creates a handle for an existing core, which does not know of it yet.
    ///
    /// - Parameters:
    ///   - core: The core.
    ///   - lifeline: The object that keeps the core filled.
    ///   - parent: The handle of its parent; looked up when nil.
    ///   - fallbacks: The handles of its fallbacks.
    ///   - around: The containers that are current where a scope is opened for a body.
    init(
        core: ContainerCore, lifeline: Lifeline, holding parent: Container? = nil,
        fallbacks: Shared<[Container]>? = nil, around: CurrentContainers? = nil
    ) {
        self.around = around
        self.core = core
        table = core.table
        self.lifeline = AtomicReference(lifeline)
        self.parent = AtomicReference(parent ?? core.parent?.handle())
        self.fallbacks = AtomicReference(fallbacks)
    }

    deinit {
        _ = lifeline.takeAtEnd()
        releaseInTurn(fallbacks.takeAtEnd())
        releaseInTurn(parent.takeAtEnd())
    }
}

/// Provides the container's initializer with a builder closure, which runs in the caller's isolation, even on the main
/// actor, and captures freely: an actor's own initializer could not.
public protocol _ContainerInit: Sendable {}

extension _ContainerInit where Self == Container {
    /// Creates a container with the registrations of a builder closure.
    ///
    /// This is synchronous, and does not throw: invalid registrations throw on the first resolve of their key.
    ///
    /// - Parameters:
    ///   - name: The name shown in messages.
    ///   - parent: The container that is searched after this one and its fallbacks. The parent does not keep this
    ///     container alive, but disposes it before itself.
    ///   - defaultLifetime: The lifetime of registrations without one.
    ///   - onDuplicate: The effect of registering a key twice.
    ///   - fallbacks: Containers that are searched, in this order, after this one.
    ///   - observers: Receive the container's events.
    ///   - clock: Measures durations; a test may pass one that it drives by hand.
    ///   - registrations: ``Registration`` and ``Module`` values.
    public init(
        name: String? = nil, parent: Container? = nil, defaultLifetime: Lifetime = .graph,
        onDuplicate: DuplicatePolicy = .replace, fallbacks: [Container] = [], observers: [any ContainerObserver] = [],
        clock: any Clock<Duration> = ContinuousClock(), @RegistrationBuilder _ registrations: () -> Registrations
    ) {
        self.init(
            name: name, parent: parent, defaultLifetime: defaultLifetime, onDuplicate: onDuplicate,
            fallbacks: fallbacks,
            observers: observers, clock: clock, registrations: registrations())
    }
}
