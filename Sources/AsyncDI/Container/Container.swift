/// A dependency-injection container that assumes concurrency.
///
/// It resolves asynchronous, throwing factories, makes each shared instance once however many tasks ask, hands a server one
/// scope for each request, and closes what it opened, in order.
/// ```swift
/// let container = Container {
///     Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
///         .onDispose { database in try await database.close() }
///     Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
/// }
/// let users = try await container.resolve((any UserRepository).self)
/// try await container.dispose()
/// ```
/// Registering, resetting and scopes are serialised by the actor; asking for an instance that is there enters neither the
/// actor nor a lock. A container that is dropped without `dispose()` lets its instances go, without running their hooks.
public actor Container: _ContainerInit {
    /// The innermost scope of the current task, bound by ``withScope(_:registrations:operation:)``.
    ///
    /// A task that outlives the scope still has it here, and asks the containers around it.
    @TaskLocal public static var current: Container?

    nonisolated let core: ContainerCore
    /// The core's table, one step nearer for the hot path.
    nonisolated let table: InstanceTable
    /// The task-locals that the hot path looks at.
    ///
    /// Kept here because reaching a global costs a call each time.
    nonisolated let frame = TaskLocalPeek(ResolutionContext.$frame)
    nonisolated let currentContainer = TaskLocalPeek(Container.$current)
    /// Keeps the core filled for as long as anybody has this container.
    ///
    /// Taken out at the end only, like the parent: in this order, so that a container's instances go before those of its parent.
    private nonisolated let lifeline: AtomicReference<Lifeline>
    /// The container that this one is a scope or child of, and its fallbacks: kept alive by it.
    private nonisolated let parent: AtomicReference<Container>
    private let fallbacks: [Container]

    /// The name given when the container, or scope, was made.
    public nonisolated var name: String? { core.name }

    /// A container with registrations that were collected elsewhere.
    ///
    /// Does not throw: what is wrong with its registrations is thrown by the first resolve of their key.
    ///
    /// - Parameters:
    ///   - name: How messages call the container.
    ///   - parent: The container that is asked for what neither this one nor its fallbacks have. The parent does not keep
    ///     this container alive, but disposes it before itself.
    ///   - defaultLifetime: The lifetime of registrations that name none.
    ///   - onDuplicate: What happens when a key is registered twice.
    ///   - fallbacks: Containers that are asked, in this order, for what is not registered here.
    ///   - observers: Are told what happens.
    ///   - clock: Measures durations; a test may pass one that it drives by hand.
    ///   - registrations: What the container is made of.
    public init(
        name: String? = nil, parent: Container? = nil, defaultLifetime: Lifetime = .graph,
        onDuplicate: DuplicatePolicy = .replace, fallbacks: [Container] = [], observers: [any ContainerObserver] = [],
        clock: any Clock<Duration> = ContinuousClock(), registrations: Registrations = Registrations()
    ) {
        let core = ContainerCore(
            name: name, parent: parent?.core,
            settings: ContainerCore.Settings(
                defaultLifetime: defaultLifetime, duplicatePolicy: onDuplicate, clock: clock,
                events: observers.isEmpty ? nil : EventQueue(for: observers)),
            fallbacks: fallbacks.map(\.core))
        self.core = core
        table = core.table
        let lifeline = Lifeline(core)
        self.lifeline = AtomicReference(lifeline)
        self.parent = AtomicReference(parent)
        self.fallbacks = fallbacks
        core.adopt(self, lifeline)
        core.setUp(registrations)
        parent?.core.addChild(core)
    }

    /// A handle over a core that is there already, which does not know of it yet.
    ///
    /// - Parameters:
    ///   - core: The core.
    ///   - lifeline: What keeps it filled.
    ///   - parent: The handle of its parent; found when nil.
    init(core: ContainerCore, lifeline: Lifeline, holding parent: Container? = nil) {
        self.core = core
        table = core.table
        self.lifeline = AtomicReference(lifeline)
        self.parent = AtomicReference(parent ?? core.parent?.handle())
        fallbacks = []
    }

    deinit {
        _ = lifeline.takeAtEnd()
        releaseInTurn(parent.takeAtEnd())
    }

    /// The body that a pinned handle was for is over: who kept it beyond that is still found.
    nonisolated func adoptAgain() {
        if let lifeline = lifeline.object { core.adopt(self, lifeline) }
    }
}

/// Exists so that the initialiser with a builder closure is not the actor's own: its closure then runs at the caller, also on the
/// main actor, and captures freely.
public protocol _ContainerInit: Sendable {}

extension _ContainerInit where Self == Container {
    /// A container and what it is made of.
    ///
    /// Synchronous, and does not throw: what is wrong with its registrations is thrown by the first resolve of their key.
    ///
    /// - Parameters:
    ///   - name: How messages call the container.
    ///   - parent: The container that is asked for what neither this one nor its fallbacks have. The parent does not keep
    ///     this container alive, but disposes it before itself.
    ///   - defaultLifetime: The lifetime of registrations that name none.
    ///   - onDuplicate: What happens when a key is registered twice.
    ///   - fallbacks: Containers that are asked, in this order, for what is not registered here.
    ///   - observers: Are told what happens.
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
