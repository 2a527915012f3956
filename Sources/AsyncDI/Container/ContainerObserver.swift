/// An event of a container.
///
/// New kinds may be added: the compiler asks for an `@unknown default` in a `switch` over events.
@nonexhaustive
public enum ContainerEvent: Sendable {
    /// A service was registered, or replaced.
    case registered(ServiceKey)
    /// A shared instance was created.
    ///
    /// `duration` is the time of factory and hooks by the container's clock, `waiters` the largest number of requests
    /// that waited at once: one for the first request alone. Transient and graph instances, which have no waiters, are
    /// no events.
    case created(ServiceKey, duration: Duration, waiters: Int)
    /// The creation of a shared instance failed or was abandoned (then with a `CancellationError`), or an `onDispose`
    /// hook threw.
    case failed(ServiceKey, any Error)
    /// An instance was dropped from the cache: by a bound of its lifetime, a reset, or the end of its registration.
    case evicted(ServiceKey)
    /// The `onDispose` hooks of an instance have run, whether they threw or not.
    case disposed(ServiceKey)
    /// A scope was opened in this container, under this name.
    case scopeOpened(String)
    /// A scope of this container was closed, and everything in it disposed.
    case scopeClosed(String)
    /// A request has been waiting for a service for longer than the observer's ``ContainerObserver/stallThreshold``.
    ///
    /// `waiting` is the service whose factory made the request, nil for a request from outside every factory; `since`
    /// is the length of the wait, by the container's clock. The factory of `for` is slow, or part of a cycle that the
    /// container cannot see: through a captured container in a detached task, a semaphore, a stream. Reported once for
    /// each pair.
    case stalled(waiting: ServiceKey?, for: ServiceKey, since: Duration)
}

extension ContainerEvent {
    /// Kinds of events: what an observer wants to be told of.
    ///
    /// ```swift
    /// var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }
    /// ```
    public struct Kinds: OptionSet, Hashable, Sendable {
        /// A bit for each kind.
        public let rawValue: UInt32

        /// Makes a set of the kinds whose bits are set.
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
        /// Every kind, those included that later versions add.
        public static let all = Kinds(rawValue: .max)
    }

    /// The one kind that the event is of.
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
    /// More about an event than its labels in a metric.
    public struct Details: Sendable {
        let key: ArgumentKey
        /// Of a creation, the part of its duration in which it did not wait for other shared instances; nil for other
        /// events.
        ///
        /// The service with the greatest own time is the one to make faster.
        public let ownDuration: Duration?

        init(key: ArgumentKey, ownDuration: Duration? = nil) {
            self.key = key
            self.ownDuration = ownDuration
        }

        /// Makes the details of an event, to test an observer with.
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

        /// The arguments of the instance that the event is about, or the key that `keyedBy:` computed from them; empty
        /// for services without arguments, and for events about no instance.
        ///
        /// They name a tenant in a log. A metric whose labels contained them would never end.
        public var arguments: [any Sendable] { key.list }
    }
}

extension ContainerEvent: CustomStringConvertible {
    /// The event as a line of a log.
    public var description: String {
        switch self {
        case .registered(let key): "registered \(key)"
        case .created(let key, let duration, let waiters):
            "created \(key) in \(duration) for \(waiters) \(waiters == 1 ? "waiter" : "waiters")"
        case .failed(let key, let error): "failed \(key): \(error)"
        case .evicted(let key): "evicted \(key)"
        case .disposed(let key): "disposed \(key)"
        case .scopeOpened(let name): "opened scope \"\(name)\""
        case .scopeClosed(let name): "closed scope \"\(name)\""
        case .stalled(let waiting, let key, let duration):
            "stalled: \(waiting.map(\.description) ?? "a request") has been waiting for \(key) for \(duration)"
        }
    }
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
/// Scopes have the observers of the container that they are opened in. Events are handed over one after the other, on a
/// thread that no task uses: an observer that is slow, or blocks to write to a socket, delays no resolution and
/// no other container's observers, only the events after it, which wait in memory, and the observers beside it. The
/// thread may be another one for the next event; there is none while nothing happens. A hit is no event and costs
/// nothing.
///
/// ``Container/dispose()`` and ``Container/drain(deadline:)`` of a container that is no scope return after observers
/// have had the last event. So an observer must not block until they return.
public protocol ContainerObserver: Sendable {
    /// After how long a wait is reported as ``ContainerEvent/stalled(waiting:for:since:)``; ten seconds unless
    /// declared.
    ///
    /// Of several observers that want to know, the shortest one counts for all.
    var stallThreshold: Duration { get }

    /// The kinds of events that the observer is told of; all of them unless declared.
    ///
    /// Asked once, when a container is made. An event that no observer wants is not made, and costs nothing.
    var wantedEvents: ContainerEvent.Kinds { get }

    /// Something happened.
    ///
    /// - Parameters:
    ///   - container: The container in which it happened.
    ///   - event: What happened.
    func container(_ container: Container, did event: ContainerEvent)

    /// Something happened, with its details: for observers that want more than the event.
    ///
    /// Calls ``container(_:did:)`` unless declared.
    ///
    /// - Parameters:
    ///   - container: The container in which it happened.
    ///   - event: What happened.
    ///   - details: The arguments.
    func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details)
}

extension ContainerObserver where Self: AroundCreation {
    /// None: an observer that does something around creations need not be told of events.
    public var wantedEvents: ContainerEvent.Kinds { [] }
}

extension ContainerObserver {
    /// Ten seconds.
    public var stallThreshold: Duration { .seconds(10) }

    /// All of them.
    public var wantedEvents: ContainerEvent.Kinds { .all }

    /// Nothing: for observers that declare ``container(_:did:details:)``.
    ///
    /// - Parameters:
    ///   - container: The container in which it happened.
    ///   - event: What happened.
    public func container(_ container: Container, did event: ContainerEvent) {}

    /// Passes the event on without its details.
    ///
    /// - Parameters:
    ///   - container: The container in which it happened.
    ///   - event: What happened.
    ///   - details: The arguments.
    public func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
        self.container(container, did: event)
    }
}
