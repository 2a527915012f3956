/// A hook that runs after a factory, with the instance.
typealias InstanceHook = nonisolated(nonsending) @Sendable (Resolver, Cell, ArgumentPack) async throws -> Void
/// A hook that closes an instance.
typealias DisposalHook = nonisolated(nonsending) @Sendable (Cell, DisposalReason) async throws -> Void

/// A check of whether an instance works: throws when it does not.
typealias HealthCheck = nonisolated(nonsending) @Sendable (Cell) async throws -> Void

/// The fate of a creation after its last waiter has left.
@nonexhaustive
public enum AbandonmentPolicy: Sendable, Hashable {
    /// The creation is cancelled, and started again by the next request.
    case cancel
    /// The creation runs to its end, and its instance is kept.
    case finish
}

/// The content of a registration, with the service type erased.
///
/// The common part of it; ``Extras`` has the rest, which most registrations do not need.
@usableFromInline struct Blueprint: Sendable {
    var key: ServiceKey
    @usableFromInline var factory: Factory
    /// The source location of the registration.
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

/// The uncommon part of a registration.
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
    fileprivate(set) var leasedDependencies: [ServiceKey] = []
    fileprivate(set) var parametersOfOneSource: Int?
}

extension Blueprint {
    /// The way to distinguish instances for different arguments; nil without arguments or sharing.
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
    /// Whether this is internal to the container, and hidden from observers.
    var isHidden: Bool {
        get { extras?.value.isHidden ?? false }
        set { change { $0.isHidden = newValue } }
    }
    /// Whether this only declares a value that each scope supplies.
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
    /// The dependencies of an initializer, by its parameters; nil for a closure, which cannot be inspected.
    var dependencies: [ServiceKey]? {
        get { extras?.value.dependencies }
        set { change { $0.dependencies = newValue } }
    }
    /// The declared dependencies of a closure; nil without a declaration.
    var declaredDependencies: [ServiceKey]? {
        get { extras?.value.declaredDependencies }
        set { change { $0.declaredDependencies = newValue } }
    }
    /// The parameters that the factory is known to lease.
    var leasedDependencies: [ServiceKey] {
        get { extras?.value.leasedDependencies ?? [] }
        set { change { $0.leasedDependencies = newValue } }
    }
    /// The number of an initializer's parameters, where a single source was given for several.
    var parametersOfOneSource: Int? {
        get { extras?.value.parametersOfOneSource }
        set { change { $0.parametersOfOneSource = newValue } }
    }
}

/// How a service is resolved under another type.
struct Forward: Sendable {
    let from: ServiceKey
    let to: ServiceKey
    let convert: @Sendable (Cell) throws(ResolutionError) -> Cell
}
