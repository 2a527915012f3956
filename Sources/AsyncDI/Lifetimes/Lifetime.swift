/// How long, and where, an instance is shared.
///
/// | lifetime | shared | cached in |
/// |---|---|---|
/// | ``transient`` | never | – |
/// | ``graph`` | within one resolution | the resolution |
/// | ``scoped`` | within one scope | the resolving container |
/// | ``singleton`` | by the owner and every scope below it | the owner |
/// | ``multiton`` | like a singleton, one for each argument pack | the owner |
/// | ``weak`` | while another reference holds it | the owner |
///
/// Arguments are part of every cache key: a singleton with arguments is one instance for each pack of equal arguments.
/// Declare a lifetime of your own, and end it with ``Container/reset(_:throughAncestors:)-(Lifetime,_)``:
/// ```swift
/// extension Lifetime {
///     static let session = Lifetime("session")
/// }
///
/// Registration(Cart.self, lifetime: .session) { _ in Cart() }
///
/// try await container.reset(.session)
/// ```
public struct Lifetime: Sendable, Hashable, CustomStringConvertible {
    /// Which container caches the instances of a custom lifetime.
    @nonexhaustive
    public enum Owner: Sendable, Hashable {
        /// The container that holds the registration, like a singleton.
        case registeringContainer
        /// The container that resolves it, as for a scoped service.
        case resolvingContainer
    }

    enum Kind: Sendable, Hashable {
        case transient, graph, scoped, singleton, multiton, weak
        case custom(Owner)

        /// The name of the lifetimes of this kind in messages, unless they have their own.
        var name: String {
            switch self {
            case .transient: "transient"
            case .graph: "graph"
            case .scoped: "scoped"
            case .singleton: "singleton"
            case .multiton: "multiton"
            case .weak: "weak"
            case .custom: "custom"
            }
        }
    }

    /// The properties of uncommon lifetimes.
    private struct Details: Sendable {
        var name: String
        var makeStorage: (@Sendable () -> any InstanceStorage)?
        var bounds = MultitonBounds()
    }
    /// Nil for the common ones, so that no reference is counted for them.
    ///
    /// A separate property, not one case of an enumeration with the kind as another: such a reference has the case in
    /// its upper bits, and LeakSanitizer, which looks for plain addresses, reports the object of every `static let` as
    /// a leak.
    private let details: Shared<Details>?
    let kind: Kind

    /// The name, as it appears in messages.
    public var name: String { details?.value.name ?? kind.name }
    var makeStorage: (@Sendable () -> any InstanceStorage)? { details?.value.makeStorage }
    /// The bounds of a multiton; ignored by `==`.
    var bounds: MultitonBounds { details?.value.bounds ?? MultitonBounds() }

    private init(_ kind: Kind, _ details: Details? = nil) {
        self.kind = kind
        self.details = details.map { Shared($0) }
    }

    /// Creates your own lifetime, which lasts until it is reset or its container is disposed.
    ///
    /// - Parameters:
    ///   - name: The name of the lifetime; two with the same name and owner are the same lifetime.
    ///   - owner: The container that caches its instances.
    public init(_ name: String, ownedBy owner: Owner = .registeringContainer) {
        self.init(.custom(owner), Details(name: name))
    }

    /// Creates your own lifetime with a custom storage of its instances.
    ///
    /// - Parameters:
    ///   - name: The name of the lifetime; two with the same name and owner are the same lifetime.
    ///   - owner: The container that caches its instances.
    ///   - storage: Creates the storage of one registration's instance; called once for each pack of arguments,
    ///     and again after a reset or a failed creation.
    public init(
        _ name: String, ownedBy owner: Owner = .registeringContainer,
        storage: @escaping @Sendable () -> any InstanceStorage
    ) {
        self.init(.custom(owner), Details(name: name, makeStorage: storage))
    }

    /// A new instance for every request.
    public static let transient = Lifetime(.transient)
    /// One instance within everything that one outermost `resolve` creates; the default.
    public static let graph = Lifetime(.graph)
    /// One instance in each scope that resolves it.
    public static let scoped = Lifetime(.scoped)
    /// One instance in the container that holds the registration, shared by every scope below it.
    public static let singleton = Lifetime(.singleton)
    /// One instance for each pack of arguments, in the container that holds the registration.
    public static let multiton = Lifetime(.multiton)
    /// One instance for each pack of arguments, within bounds.
    ///
    /// An instance that leaves the cache is disposed: an existing reference stays valid, but its `onDispose` hook has
    /// run. To keep an instance open, take a lease: ``Container/withInstance(_:qualifier:arguments:operation:)``.
    /// ```swift
    /// Registration(TenantPool.self, lifetime: .multiton(capacity: 100, idle: .seconds(600))) { _, tenant in
    ///     try await TenantPool(tenant)
    /// }
    /// .onDispose { pool in await pool.close() }
    /// ```
    /// Of two simultaneous requests, either may count as the later one: a hit notes its use without a lock.
    ///
    /// - Parameters:
    ///   - capacity: The number of cached instances, at least one. One more evicts the least recently used instance
    ///     that is not leased.
    ///   - idle: The time that an instance may go unused, by the container's clock; not negative. A lease counts as
    ///     use. A bound that is out of range, perhaps out of a configuration, is an
    ///     ``ResolutionError/Code/invalidRegistration``.
    ///   - weak: Whether instances are held weakly: one exists as long as another reference holds it. Such instances
    ///     have no `onDispose`.
    /// - Returns: The lifetime; for `reset` it is the same as ``multiton``.
    public static func multiton(capacity: Int? = nil, idle: Duration? = nil, weak: Bool = false) -> Lifetime {
        let bounds = MultitonBounds(
            capacity: capacity, idle: idle.map { $0 < .zero ? $0 : $0.addable }, isWeak: weak)
        return Lifetime(.multiton, Details(name: multiton.name, bounds: bounds))
    }
    /// One instance for as long as a reference outside the container holds it; values are never shared.
    public static let weak = Lifetime(.weak)

    /// The name of the lifetime, in one line.
    public var description: String { singleLine(name) }

    /// Whether the two are the same lifetime: the same name, owner and kind, whatever their storage.
    public static func == (first: Lifetime, second: Lifetime) -> Bool {
        first.kind == second.kind && first.name == second.name
    }

    /// Hashes the name and kind.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(kind)
    }
}

extension Lifetime {
    /// The place that caches the instances of a lifetime, and that resolves their dependencies.
    enum Sharing: Sendable {
        case none, graph, resolvingContainer, registeringContainer

        /// Whether a container caches the instances.
        var isShared: Bool { self == .resolvingContainer || self == .registeringContainer }
    }

    var sharing: Sharing {
        switch kind {
        case .transient: .none
        case .graph: .graph
        case .scoped, .custom(.resolvingContainer): .resolvingContainer
        case .singleton, .multiton, .weak, .custom(.registeringContainer): .registeringContainer
        }
    }

    /// Whether an instance must not hold scoped instances: a singleton, multiton or weak service.
    var outlivesScopes: Bool {
        switch kind {
        case .singleton, .multiton, .weak: true
        case .transient, .graph, .scoped, .custom: false
        }
    }

    /// Whether instances can be reset by lifetime, so that instances that outlive scopes must not hold them: those of a
    /// custom lifetime.
    var isResettable: Bool {
        if case .custom = kind { true } else { false }
    }

    /// Whether an instance stays in a container without other references: the container determines its end, so that it
    /// can run `onDispose` hooks.
    var ownsInstances: Bool {
        switch kind {
        case .transient, .graph, .weak: false
        case .multiton: !bounds.isWeak
        case .scoped, .singleton, .custom: true
        }
    }

    /// Whether the container that holds the registration keeps an instance for each pack of arguments.
    var isCachedByArguments: Bool { kind == .multiton && !bounds.isWeak }

    /// Whether the container refers to instances weakly.
    var isWeak: Bool { kind == .weak || kind == .multiton && bounds.isWeak }
}

/// The bounds of a multiton: number, idle time and strength of its references.
struct MultitonBounds: Sendable {
    var capacity: Int?
    var idle: Duration?
    var isWeak = false

    /// Whether uses must be noted.
    var needsOrder: Bool { capacity != nil || idle != nil }

    /// The bound that no cache can have; nil if both are in range.
    var problem: String? {
        if let capacity, capacity < 1 { return "its capacity is \(capacity), and must be at least 1" }
        if let idle, idle < .zero { return "its idle time is \(idle), and must not be negative" }
        return nil
    }
}

/// `.transient` as a separate type: instances are not cached, so the factory's arguments need not be `Hashable`.
///
/// ```swift
/// Registration(Button.self, lifetime: .transient) { (_, onTap: @escaping @Sendable () -> Void) in
///     Button(onTap)
/// }
/// ```
public struct TransientLifetime: Sendable {
    /// A new instance for every request.
    public static let transient = TransientLifetime()
}
