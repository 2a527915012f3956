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

    /// Changes the uncommon part.
    mutating func change(_ change: (inout Extras) -> Void) {
        var changed = extras?.value ?? Extras()
        change(&changed)
        extras = Shared(changed)
    }

    /// The uncommon part of a registration.
    struct Extras: Sendable {
        var keying: ArgumentKeying?
        var hookArguments: [ArgumentPack.Type] = []
        var propertyHooks: [InstanceHook] = []
        var creationHooks: [InstanceHook] = []
        var disposalHooks: [DisposalHook] = []
        var healthCheck: HealthCheck?
        var abandonment = AbandonmentPolicy.cancel
        var isEager = false
        var isHidden = false
        var isExpected = false
        var forwards: [Forward] = []
        var target: Forward?
        var underlying: ServiceKey?
        var dependencies: [ServiceKey]?
        var declaredDependencies: [ServiceKey]?
        var leasedDependencies: [ServiceKey] = []
        var parametersOfOneSource: Int?
        var givenType: (any Any.Type)?
    }
}

extension Blueprint {
    /// The instance itself, of a registration that was given one.
    var instance: Cell? { target == nil ? factory.instance : nil }

    /// The way to distinguish instances for different arguments; nil without arguments or sharing.
    var keying: ArgumentKeying? { extras?.value.keying }
    /// The argument types that hooks take, where they take any: they must be those of the registration.
    var hookArguments: [ArgumentPack.Type] { extras?.value.hookArguments ?? [] }
    var propertyHooks: [InstanceHook] { extras?.value.propertyHooks ?? [] }
    var creationHooks: [InstanceHook] { extras?.value.creationHooks ?? [] }
    var disposalHooks: [DisposalHook] { extras?.value.disposalHooks ?? [] }
    var healthCheck: HealthCheck? { extras?.value.healthCheck }
    var abandonment: AbandonmentPolicy { extras?.value.abandonment ?? .cancel }
    /// Whether a start creates its instance; a forwarded type has one only if it is decorated.
    var isEager: Bool { extras.map { $0.value.isEager && $0.value.target == nil } ?? false }
    /// Whether this is internal to the container, and hidden from observers.
    var isHidden: Bool { extras?.value.isHidden ?? false }
    /// The service as observers and snapshots name it: that of a ``Lazy`` is the one that it resolves.
    var shownKey: ServiceKey { isHidden ? underlying ?? key : key }
    /// Whether this only declares a value that each scope supplies.
    var isExpected: Bool { extras?.value.isExpected ?? false }
    /// Other types under which the service can be resolved.
    var forwards: [Forward] { extras?.value.forwards ?? [] }
    /// Set for the registration of a forwarded type: resolve this instead, and convert.
    var target: Forward? { extras?.value.target }
    /// Set for a decorated forwarded type and for the hidden resolution of a ``Lazy``: the service behind it.
    var underlying: ServiceKey? { extras?.value.underlying }
    /// The dependencies of an initializer, by its parameters; nil for a closure, which cannot be inspected.
    var dependencies: [ServiceKey]? { extras?.value.dependencies }
    /// The declared dependencies of a closure; nil without a declaration.
    var declaredDependencies: [ServiceKey]? { extras?.value.declaredDependencies }
    /// The parameters that the factory is known to lease.
    var leasedDependencies: [ServiceKey] { extras?.value.leasedDependencies ?? [] }
    /// The number of an initializer's parameters, where a single source was given for several.
    var parametersOfOneSource: Int? { extras?.value.parametersOfOneSource }
    /// The type that was given for the service, if it is a subclass that the compiler does not know.
    var givenType: (any Any.Type)? { extras?.value.givenType }
}

/// How a service is resolved under another type.
struct Forward: Sendable {
    let from: ServiceKey
    let to: ServiceKey
    let convert: @Sendable (Cell) throws(ResolutionError) -> Cell
}
