/// An event of a container.
///
/// New kinds may be added: a `switch` over events needs an `@unknown default`.
@nonexhaustive
public enum ContainerEvent: Sendable {
    /// A service was registered, or replaced.
    case registered(ServiceKey)
    /// A shared instance was created.
    ///
    /// `duration` is the time of factory and hooks by the container's clock, `waiters` the largest number of requests
    /// that waited at once, including the first one. The creation of a transient or graph instance, which has no
    /// waiters, is no event.
    case created(ServiceKey, duration: Duration, waiters: Int)
    /// The creation of a shared instance failed or was abandoned (then with a `CancellationError`), or an `onDispose`
    /// hook threw.
    ///
    /// Also an instance for which the disposal of a `withContainer` waited beyond its deadline, if the body threw. A
    /// process that ends at once may end before this event.
    case failed(ServiceKey, any Error)
    /// An instance was dropped from the cache: by a bound of its lifetime, a reset, or the end of its registration.
    case evicted(ServiceKey)
    /// The `onDispose` hooks of a created instance have run, whether they threw or not.
    ///
    /// An instance that was registered as such is neither created, evicted nor disposed for observers.
    case disposed(ServiceKey)
    /// A scope was opened in this container, under this name.
    case scopeOpened(String)
    /// A scope of this container was closed, and everything in it disposed.
    case scopeClosed(String)
    /// A request has been waiting for a service for longer than the observer's ``ContainerObserver/stallThreshold``.
    ///
    /// `waiting` is the service whose factory made the request, nil for a request from outside every factory; `since`
    /// is the length of the wait, by the container's clock. The factory of `for` is slow, or part of a cycle that the
    /// container cannot see: through a captured container in a detached task, a semaphore, a stream. Each pair is
    /// reported once.
    case stalled(waiting: ServiceKey?, for: ServiceKey, since: Duration)
}

extension ContainerEvent {
    /// The kinds of events that an observer wants.
    ///
    /// ```swift
    /// var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }
    /// ```
    public struct Kinds: OptionSet, Hashable, Sendable {
        /// A bit for each kind.
        public let rawValue: UInt32

        /// Creates a set of the kinds whose bits are set.
        ///
        /// - Parameter rawValue: A bit for each kind.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Events ``ContainerEvent/registered(_:)``.
        public static let registered = Kinds(rawValue: 1 << 0)
        /// Events ``ContainerEvent/created(_:duration:waiters:)``.
        public static let created = Kinds(rawValue: 1 << 1)
        /// Events ``ContainerEvent/failed(_:_:)``.
        public static let failed = Kinds(rawValue: 1 << 2)
        /// Events ``ContainerEvent/evicted(_:)``.
        public static let evicted = Kinds(rawValue: 1 << 3)
        /// Events ``ContainerEvent/disposed(_:)``.
        public static let disposed = Kinds(rawValue: 1 << 4)
        /// Events ``ContainerEvent/scopeOpened(_:)``.
        public static let scopeOpened = Kinds(rawValue: 1 << 5)
        /// Events ``ContainerEvent/scopeClosed(_:)``.
        public static let scopeClosed = Kinds(rawValue: 1 << 6)
        /// Events ``ContainerEvent/stalled(waiting:for:since:)``.
        public static let stalled = Kinds(rawValue: 1 << 7)
        /// Every kind, including those that later versions add.
        public static let all = Kinds(rawValue: .max)
    }

    /// The kind of the event.
    public var kind: Kinds {
        switch self {
        case .registered: .registered
        case .created: .created
        case .failed: .failed
        case .evicted: .evicted
        case .disposed: .disposed
        case .scopeOpened: .scopeOpened
        case .scopeClosed: .scopeClosed
        case .stalled: .stalled
        }
    }
}

extension ContainerEvent {
    /// Details of an event, beyond its labels in a metric.
    public struct Details: Sendable {
        let key: ArgumentKey
        /// The part of a creation's duration in which it did not wait for other shared instances; nil for other events.
        ///
        /// The service with the greatest own time is the one to optimize.
        public let ownDuration: Duration?

        init(key: ArgumentKey, ownDuration: Duration? = nil) {
            self.key = key
            self.ownDuration = ownDuration
        }

        /// Creates the details of an event, for a test of an observer.
        ///
        /// - Parameters:
        ///   - arguments: The arguments of the instance.
        ///   - ownDuration: The own time of a creation.
        public init<each Argument: Hashable & Sendable>(
            arguments: repeat each Argument, ownDuration: Duration? = nil
        ) {
            self.ownDuration = ownDuration
            key = Arguments<repeat each Argument>.count == 0 ? .none : ArgumentKey(Arguments(repeat each arguments))
        }

        /// The arguments of the event's instance, or the key that `keyedBy:` computed from them; empty for services
        /// without arguments, and for events without an instance.
        ///
        /// Use them to name a tenant in a log. As labels of a metric they would be unbounded.
        public var arguments: [any Sendable] { key.list }
    }
}

extension ContainerEvent: CustomStringConvertible {
    /// The event as a line of a log.
    public var description: String {
        switch self {
        case .registered(let key): "registered \(key)"
        case .created(let key, let duration, let waiters):
            "created \(key) in \(duration.readable) for \(counted(waiters, "waiter"))"
        case .failed(let key, let error): "failed \(key): \(escaped("\(error)"))"
        case .evicted(let key): "evicted \(key)"
        case .disposed(let key): "disposed \(key)"
        case .scopeOpened(let name): "opened scope \"\(singleLine(name))\""
        case .scopeClosed(let name): "closed scope \"\(singleLine(name))\""
        case .stalled(let waiting, let key, let duration):
            "stalled: \(waiting.map(\.description) ?? "a request") has been waiting for \(key) for \(duration.readable)"
        }
    }
}

extension Container {
    /// Whether this container and another one have the same observers: one is a scope of the other, or both are.
    package nonisolated func hasObservers(of other: Container) -> Bool { core.settings === other.core.settings }

    /// A number that no other container ever has.
    package nonisolated var number: UInt64 { core.number }
}

/// Receives the events of a container and of its scopes, in their order.
///
/// ```swift
/// struct EventLog: ContainerObserver {
///     func container(_ container: Container, did event: ContainerEvent) {
///         print(container.name ?? "container", event)
///     }
/// }
/// let container = Container(name: "app", observers: [EventLog()]) { AppModule() }
/// ```
/// Scopes have the observers of the container that they are opened in. Events are delivered one after the other, on a
/// thread that no task uses: an observer that is slow, or blocks to write to a socket, delays no resolution and no
/// other container's observers. It delays only later events, which wait in memory, and the other observers of its
/// container. The next event may arrive on another thread; without events no such thread exists. A hit is no event and
/// costs nothing.
///
/// ``Container/dispose()`` and ``Container/drain(deadline:)`` return after observers have received the last event. An
/// observer must therefore not block until they return. The end of a `withScope` does not wait for observers.
public protocol ContainerObserver: Sendable {
    /// The length of a wait that is reported as ``ContainerEvent/stalled(waiting:for:since:)``; ten seconds by default.
    ///
    /// The shortest threshold among several observers applies to all.
    var stallThreshold: Duration { get }

    /// The kinds of events that the observer receives; all of them by default.
    ///
    /// The container reads it once, at its creation. An event that no observer wants is not created, and costs nothing.
    var wantedEvents: ContainerEvent.Kinds { get }

    /// Called for each event.
    ///
    /// - Parameters:
    ///   - container: The container that sent the event.
    ///   - event: The event.
    func container(_ container: Container, did event: ContainerEvent)

    /// Called for each event with its details, for observers that need more than the event.
    ///
    /// The default implementation calls ``container(_:did:)``.
    ///
    /// - Parameters:
    ///   - container: The container that sent the event.
    ///   - event: The event.
    ///   - details: The details of the event.
    func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details)
}

extension ContainerObserver where Self: AroundCreation {
    /// No events: an observer of creations need not receive any.
    public var wantedEvents: ContainerEvent.Kinds { [] }
}

extension ContainerObserver {
    /// Ten seconds.
    public var stallThreshold: Duration { .seconds(10) }

    /// All kinds.
    public var wantedEvents: ContainerEvent.Kinds { .all }

    /// Does nothing, for observers that implement ``container(_:did:details:)``.
    ///
    /// - Parameters:
    ///   - container: The container that sent the event.
    ///   - event: The event.
    public func container(_ container: Container, did event: ContainerEvent) {}

    /// Passes the event on without its details.
    ///
    /// - Parameters:
    ///   - container: The container that sent the event.
    ///   - event: The event.
    ///   - details: The details of the event.
    public func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
        self.container(container, did: event)
    }
}
