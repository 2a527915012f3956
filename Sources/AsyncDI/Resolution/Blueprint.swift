/// A hook that runs after a factory, with the instance.
typealias InstanceHook = nonisolated(nonsending) @Sendable (Resolver, Cell, ArgumentPack) async throws -> Void
/// A hook that closes an instance.
typealias DisposalHook = nonisolated(nonsending) @Sendable (Cell, DisposalReason) async throws -> Void

/// A check of whether an instance works: throws when it does not.
typealias HealthCheck = nonisolated(nonsending) @Sendable (Cell) async throws -> Void

/// What happens to a creation when no request waits for it any more.
@nonexhaustive
public enum AbandonmentPolicy: Sendable, Hashable {
    /// The creation is cancelled, and started again by the next request.
    case cancel
    /// The creation runs to its end, and its instance is kept.
    case finish
}

/// Everything that a registration says, with the service type erased.
///
/// What most registrations say is in here; the rest is in ``Extras``, which most do not have.
@usableFromInline struct Blueprint: Sendable {
    var key: ServiceKey
    @usableFromInline var factory: Factory
    /// Where the registration stands in the source.
    var site: RegistrationSite?
    private(set) var extras: Shared<Extras>?
    var lifetime: Lifetime?

    init(key: ServiceKey, lifetime: Lifetime?, factory: Factory, site: RegistrationSite? = nil) {
        self.key = key
        self.factory = factory
        self.site = site
        self.lifetime = lifetime
    }

    private mutating func change(_ change: (inout Extras) -> Void) {
        var changed = extras?.value ?? Extras()
        change(&changed)
        extras = Shared(changed)
    }
}

/// What few registrations say.
struct Extras: Sendable {
    fileprivate(set) var keying: ArgumentKeying?
    fileprivate(set) var hookArguments: [ArgumentPack.Type] = []
    fileprivate(set) var propertyHooks: [InstanceHook] = []
    fileprivate(set) var creationHooks: [InstanceHook] = []
    fileprivate(set) var disposalHooks: [DisposalHook] = []
    fileprivate(set) var healthCheck: HealthCheck?
    fileprivate(set) var abandonment = AbandonmentPolicy.cancel
    fileprivate(set) var isEager = false
    fileprivate(set) var isHidden = false
    fileprivate(set) var isExpected = false
    fileprivate(set) var forwards: [Forward] = []
    fileprivate(set) var target: Forward?
    fileprivate(set) var underlying: ServiceKey?
    fileprivate(set) var dependencies: [ServiceKey]?
    fileprivate(set) var declaredDependencies: [ServiceKey]?
}

extension Blueprint {
    /// How instances for different arguments are told apart; nil where there are no arguments, or nothing is shared.
    var keying: ArgumentKeying? {
        get { extras?.value.keying }
        set { change { $0.keying = newValue } }
    }
    /// The instance itself, of a registration that was given one.
    var instance: Cell? { target == nil ? factory.instance : nil }
    /// The argument types that hooks take, where they take any: they must be those of the registration.
    var hookArguments: [ArgumentPack.Type] {
        get { extras?.value.hookArguments ?? [] }
        set { change { $0.hookArguments = newValue } }
    }
    var propertyHooks: [InstanceHook] {
        get { extras?.value.propertyHooks ?? [] }
        set { change { $0.propertyHooks = newValue } }
    }
    var creationHooks: [InstanceHook] {
        get { extras?.value.creationHooks ?? [] }
        set { change { $0.creationHooks = newValue } }
    }
    var disposalHooks: [DisposalHook] {
        get { extras?.value.disposalHooks ?? [] }
        set { change { $0.disposalHooks = newValue } }
    }
    var healthCheck: HealthCheck? {
        get { extras?.value.healthCheck }
        set { change { $0.healthCheck = newValue } }
    }
    var abandonment: AbandonmentPolicy {
        get { extras?.value.abandonment ?? .cancel }
        set { change { $0.abandonment = newValue } }
    }
    var isEager: Bool {
        get { extras?.value.isEager ?? false }
        set { change { $0.isEager = newValue } }
    }
    /// Whether this is the container's own business, of which observers hear nothing.
    var isHidden: Bool {
        get { extras?.value.isHidden ?? false }
        set { change { $0.isHidden = newValue } }
    }
    /// Whether this only announces what each scope supplies.
    var isExpected: Bool {
        get { extras?.value.isExpected ?? false }
        set { change { $0.isExpected = newValue } }
    }
    /// Other types under which the service can be resolved.
    var forwards: [Forward] {
        get { extras?.value.forwards ?? [] }
        set { change { $0.forwards = newValue } }
    }
    /// Set for the registration of a forwarded type: resolve this instead, and convert.
    var target: Forward? {
        get { extras?.value.target }
        set { change { $0.target = newValue } }
    }
    /// Set for a decorated forwarded type: the service behind it.
    var underlying: ServiceKey? {
        get { extras?.value.underlying }
        set { change { $0.underlying = newValue } }
    }
    /// What the factory is known to resolve: the parameters of an initializer; nil for a closure, which cannot be
    /// looked into.
    var dependencies: [ServiceKey]? {
        get { extras?.value.dependencies }
        set { change { $0.dependencies = newValue } }
    }
    /// What the registration says that a closure of it resolves; nil when it says nothing.
    var declaredDependencies: [ServiceKey]? {
        get { extras?.value.declaredDependencies }
        set { change { $0.declaredDependencies = newValue } }
    }
}

/// How a service is resolved under another type.
struct Forward: Sendable {
    let from: ServiceKey
    let to: ServiceKey
    let convert: @Sendable (Cell) throws(ResolutionError) -> Cell
}
