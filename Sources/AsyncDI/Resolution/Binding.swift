import Synchronization

/// A registration as one container holds it, in the place that its key has in the container's table.
///
/// Its identity is part of every cache key: after a replacement, no instance of the old registration is found.
///
/// Created with the registration, as a draft, it becomes the binding of the first container that receives it; other
/// containers copy it. Most registrations are given to one container only, and need one object less.
///
/// `@unchecked Sendable` because its superclass is; it adds constants and atomics, `position`, which the container's
/// lock protects, and what ``apply(defaultLifetime:)`` writes once, before the container that has taken the draft
/// publishes it.
@usableFromInline final class Binding: Slot, @unchecked Sendable {
    // In this order, because the small ones fill a gap: there may be very many bindings.
    /// Whether a request is nothing but a call of the factory.
    @exclusivity(unchecked) private(set) final var isPlainTransient = false
    /// The same for a request that is one more step: the factory's product is shared within a graph.
    @exclusivity(unchecked) private(set) final var isPlainGraph = false
    /// Whether a request for it asks its place and nothing else: shared, by itself, without arguments or a storage of
    /// its own.
    @exclusivity(unchecked) private(set) final var isPlainShared = false
    private let current = Atomic(true)
    /// Whether a container has it.
    private let taken: Atomic<Bool>
    private let held = Atomic(false)
    /// Whether a shared instance has received one of its instances without a lease, and may use it until its own end.
    var isHeld: Bool { held.load(ordering: .acquiring) }
    /// Where the container's ``RegistrationTable`` has it.
    var position: Int32 = 0
    /// The instances that readers find without a lock; made with the first one, for a registration whose `isIndexed`
    /// says so.
    let index = AtomicReference<InstanceIndex>()
    private let taskNameReference = AtomicReference<Shared<String>>()
    /// The name of tasks that create its instances; described once, because a request creates instances of the same
    /// few registrations.
    var taskName: String { taskNameReference.loadOrInitialize { Shared("creating \(key)") }.value }
    /// The content of the registration.
    @usableFromInline let blueprint: Blueprint
    private let extras: Shared<Extras>?
    @exclusivity(unchecked) private(set) final var lifetime: Lifetime

    /// The uncommon part of a registration in its container.
    private struct Extras: Sendable {
        var problem: ResolutionError?
        var base: DecorationBase?
    }

    /// A draft, for the first container that takes it.
    init(draft blueprint: Blueprint) {
        self.blueprint = blueprint
        extras = nil
        taken = Atomic(false)
        lifetime = .transient
        super.init(blueprint.key, isRegistered: true)
    }

    /// A draft of the common registrations: in parts, because otherwise a whole blueprint is copied on its way.
    init(draft key: ServiceKey, lifetime: Lifetime?, factory: Factory, site: RegistrationSite) {
        blueprint = Blueprint(key: key, lifetime: lifetime, factory: factory, site: site)
        extras = nil
        taken = Atomic(false)
        self.lifetime = .transient
        super.init(key, isRegistered: true)
    }

    /// The binding of a container.
    init(
        _ blueprint: Blueprint, defaultLifetime: Lifetime, problem: ResolutionError? = nil, base: DecorationBase? = nil
    ) {
        self.blueprint = blueprint
        extras = problem == nil && base == nil ? nil : Shared(Extras(problem: problem, base: base))
        taken = Atomic(true)
        lifetime = .transient
        super.init(blueprint.key, isRegistered: true)
        apply(defaultLifetime: defaultLifetime)
    }

    /// The binding for a container that is given a draft: the draft itself, once.
    func taken(defaultLifetime: Lifetime) -> Binding {
        if isTakenAgain { return Binding(blueprint, defaultLifetime: defaultLifetime) }
        apply(defaultLifetime: defaultLifetime)
        return self
    }

    /// Whether a container has been given this draft before; true from the second call on.
    var isTakenAgain: Bool { taken.exchange(true, ordering: .acquiringAndReleasing) }

    /// The consequences of the lifetime are known once the container is.
    private func apply(defaultLifetime: Lifetime) {
        let lifetime = blueprint.lifetime ?? defaultLifetime
        self.lifetime = lifetime
        switch lifetime.sharing {
        case .none: isPlainTransient = isPlain
        case .graph: isPlainGraph = isPlain && extras == nil && key.isPlain
        case .resolvingContainer, .registeringContainer:
            isPlainShared =
                extras == nil && blueprint.target == nil && key.isPlain && lifetime.makeStorage == nil
        }
    }

    /// Whether an instance is created by a mere call of the factory.
    private var isPlain: Bool {
        problem == nil && blueprint.target == nil && !key.isMaking && !hasHooks && !blueprint.factory.isDecorated
    }
    /// Thrown by every resolve of the key, because the registration was wrong where nothing could throw.
    var problem: ResolutionError? { extras?.value.problem }
    /// The object of this decoration and its request, where decorating the factory itself is not possible.
    var base: DecorationBase? { extras?.value.base }
    /// The instance that the registration was given, decorated or not.
    var givenInstance: Cell? {
        if case .instance(let given)? = base { given.blueprint.instance } else { blueprint.instance }
    }
    /// The service behind a forwarded type, decorated or not.
    var forwardedKey: ServiceKey? { blueprint.target?.from ?? blueprint.underlying }
    /// The same of the inherited forwarded type that this decorates, or of this one.
    var innermostForwardedKey: ServiceKey? {
        var next: Binding? = self
        while let binding = next {
            if let key = binding.forwardedKey { return key }
            next = binding.base?.isInherited == true ? binding.base?.binding : nil
        }
        return nil
    }
    /// Notes that a shared instance will hold one of its instances without a lease.
    func noteHolder() {
        if !held.load(ordering: .relaxed) { held.store(true, ordering: .releasing) }
    }
    /// Whether the registration is still in its container.
    ///
    /// Written under that container's lock.
    var isCurrent: Bool { current.load(ordering: .acquiring) }
    func retire() { current.store(false, ordering: .releasing) }

    /// Whether instances are found by their arguments, in the container that holds the registration.
    ///
    /// Readers know how to ask with one or two.
    var isIndexed: Bool {
        guard lifetime.isCachedByArguments, let arguments = key.arguments else { return false }
        return arguments.count <= 2 && blueprint.keying?.isComputed == false && problem == nil && base == nil
    }

    var hasHooks: Bool { !blueprint.propertyHooks.isEmpty || !blueprint.creationHooks.isEmpty }
    var hasDisposalHooks: Bool { !blueprint.disposalHooks.isEmpty }
}
