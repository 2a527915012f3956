/// How long, and where, an instance is shared.
///
/// | lifetime | shared | cached in |
/// |---|---|---|
/// | ``transient`` | never | – |
/// | ``graph`` | within one resolution | the resolution |
/// | ``scoped`` | within one scope | the container asked |
/// | ``singleton`` | by the owner and every scope below it | the owner |
/// | ``multiton`` | like a singleton, one for each argument pack | the owner |
/// | ``weak`` | while another reference holds it | the owner |
///
/// Arguments are part of every cache key: a singleton with arguments is one instance for each pack of equal arguments.
/// Declare a lifetime of your own, and end it with ``Container/reset(_:throughAncestors:)-(Lifetime,_)``:
/// ```swift
/// extension Lifetime { static let session = Lifetime("session") }
///
/// Registration(Cart.self, lifetime: .session) { _ in Cart() }
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

        /// What messages call the lifetimes of this kind, unless they have names of their own.
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

    /// What the lifetimes have that are not common.
    private struct Details: Sendable {
        var name: String
        var makeStorage: (@Sendable () -> any InstanceStorage)?
        var bounds = MultitonBounds()
    }
    /// Nil for the common ones, so that nothing is counted for them.
    ///
    /// By itself, not as one case of an enumeration with the kind as another: such a reference has the case in its
    /// upper bits, and LeakSanitizer, which looks for plain addresses, takes the object of every `static let` for a
    /// leak.
    private let details: Shared<Details>?
    let kind: Kind

    /// The name, as it appears in messages.
    public var name: String { details?.value.name ?? kind.name }
    var makeStorage: (@Sendable () -> any InstanceStorage)? { details?.value.makeStorage }
    /// How a multiton is bounded; not part of what makes two lifetimes the same.
    var bounds: MultitonBounds { details?.value.bounds ?? MultitonBounds() }

    private init(_ kind: Kind, _ details: Details? = nil) {
        self.kind = kind
        self.details = details.map { Shared($0) }
    }

    /// A lifetime of your own, which lasts until it is reset or its container is disposed.
    ///
    /// - Parameters:
    ///   - name: The name of the lifetime; two with the same name and owner are the same lifetime.
    ///   - owner: Which container caches its instances.
    public init(_ name: String, ownedBy owner: Owner = .registeringContainer) {
        self.init(.custom(owner), Details(name: name))
    }

    /// A lifetime of your own that decides how instances are kept.
    ///
    /// - Parameters:
    ///   - name: The name of the lifetime; two with the same name and owner are the same lifetime.
    ///   - owner: Which container caches its instances.
    ///   - storage: Makes the storage of one registration's instance; called once for each pack of arguments.
    public init(
        _ name: String, ownedBy owner: Owner = .registeringContainer,
        storage: @escaping @Sendable () -> any InstanceStorage
    ) {
        self.init(.custom(owner), Details(name: name, makeStorage: storage))
    }

    /// A new instance for every request.
    public static let transient = Lifetime(.transient)
    /// One instance within everything that one outermost `resolve` sets off; the default.
    public static let graph = Lifetime(.graph)
    /// One instance in each scope that resolves it.
    public static let scoped = Lifetime(.scoped)
    /// One instance in the container that holds the registration, shared by every scope below it.
    public static let singleton = Lifetime(.singleton)
    /// One instance for each pack of arguments, in the container that holds the registration.
    public static let multiton = Lifetime(.multiton)
    /// One instance for each pack of arguments, within bounds.
    ///
    /// What leaves the cache is disposed; an existing reference stays valid, but its `onDispose` hook
    /// has run. To keep an instance open, take a lease:
    /// ``Container/withInstance(_:qualifier:arguments:operation:)``.
    /// ```swift
    /// Registration(TenantPool.self, lifetime: .multiton(capacity: 100, idle: .seconds(600))) { _, tenant in
    ///     try await TenantPool(tenant)
    /// }
    /// .onDispose { pool in await pool.close() }
    /// ```
    /// Of two simultaneous requests, either may count as the later one: a hit notes its use without a lock.
    ///
    /// - Parameters:
    ///   - capacity: The number of instances that are kept, at least one. One more evicts the least recently used one
    ///     that is not leased.
    ///   - idle: How long an instance may go unused, by the container's clock; not negative. A lease counts as use.
    ///   - weak: Whether instances are held weakly: one exists as long as another reference holds it. Such instances
    ///     have no `onDispose`.
    /// - Returns: The lifetime; for `reset` it is the same as ``multiton``.
    public static func multiton(capacity: Int? = nil, idle: Duration? = nil, weak: Bool = false) -> Lifetime {
        // Not preconditions: their messages are left out of optimized programs.
        if let capacity, capacity < 1 { fatalError("a multiton's capacity must be at least 1, not \(capacity)") }
        if let idle, idle < .zero { fatalError("a multiton's idle time must not be negative, as \(idle) is") }
        let bounds = MultitonBounds(capacity: capacity, idle: idle?.addable, isWeak: weak)
        return Lifetime(.multiton, Details(name: multiton.name, bounds: bounds))
    }
    /// One instance for as long as a reference outside the container holds it; values are never shared.
    public static let weak = Lifetime(.weak)

    /// The name of the lifetime.
    public var description: String { name }

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
    /// Where the instances of a lifetime are cached, and whose dependencies they see.
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

    /// Whether an instance must not hold anything scoped to the root: a singleton, multiton or weak service.
    var outlivesScopes: Bool {
        switch kind {
        case .singleton, .multiton, .weak: true
        case .transient, .graph, .scoped, .custom: false
        }
    }

    /// Whether instances are there to be reset, and so must not be held by what outlives scopes: those of a custom
    /// lifetime.
    var isResettable: Bool {
        if case .custom = kind { true } else { false }
    }

    /// Whether the container owns the end of the instances, so that it can run `onDispose` hooks.
    var ownsInstances: Bool {
        switch kind {
        case .transient, .graph, .weak: false
        case .multiton: !bounds.isWeak
        case .scoped, .singleton, .custom: true
        }
    }

    /// Whether an instance stays in a container although no other reference holds it.
    var keepsInstances: Bool {
        switch sharing {
        case .none, .graph: false
        case .resolvingContainer, .registeringContainer: !isWeak
        }
    }

    /// Whether the container that holds the registration keeps an instance for each pack of arguments.
    var isCachedByArguments: Bool { kind == .multiton && !bounds.isWeak }

    /// Whether the container refers to instances weakly.
    var isWeak: Bool { kind == .weak || kind == .multiton && bounds.isWeak }
}

/// How many instances a multiton holds, for how long, and how strongly.
struct MultitonBounds: Sendable {
    var capacity: Int?
    var idle: Duration?
    var isWeak = false

    /// Whether uses must be noted.
    var needsOrder: Bool { capacity != nil || idle != nil }
}

/// `.transient` as a type of its own: nothing is cached, so the factory's arguments need not be `Hashable`.
///
/// ```swift
/// Registration(Button.self, lifetime: .transient) { (_, onTap: @escaping @Sendable () -> Void) in Button(onTap) }
/// ```
public struct TransientLifetime: Sendable {
    /// A new instance for every request.
    public static let transient = TransientLifetime()
}
