import Synchronization

/// A registration as one container holds it, in the place that its key has in the container's table.
///
/// Its identity is part of every cache key: when a registration is replaced, nothing made by the old one is found any
/// more.
///
/// `@unchecked Sendable` because its superclass is; it adds constants, an atomic, and `position`, which the container's lock protects.
final class Recipe: Slot, @unchecked Sendable {
    // In this order, because the small ones fill a gap: there may be very many recipes.
    /// Whether a request is nothing but a call of the factory.
    let isPlainTransient: Bool
    /// The same for a request that is one more step: the factory's product is shared within a graph.
    let isPlainGraph: Bool
    /// The instances that readers find without a lock; made with the first one, for a registration whose `isIndexed` says so.
    let index = AtomicReference<InstanceIndex>()
    /// Whether a request for it asks its place and nothing else: shared, by itself, without arguments or a storage of its own.
    let isPlainShared: Bool
    private let current = Atomic(true)
    /// Where the container's ``RegistrationTable`` has it.
    var position: Int32 = 0
    private let shared: Shared<Blueprint>
    private let oddity: Shared<Oddity>?
    let lifetime: Lifetime

    /// What is unusual about a registration in its container.
    private struct Oddity: Sendable {
        var problem: ResolutionError?
        var base: DecorationBase?
    }

    /// What a registration says may be shared with other recipes of it.
    private init(_ shared: Shared<Blueprint>, defaultLifetime: Lifetime, oddity: Shared<Oddity>?) {
        self.shared = shared
        self.oddity = oddity
        let lifetime = shared.value.lifetime ?? defaultLifetime
        self.lifetime = lifetime
        let sharing = lifetime.sharing
        isPlainShared =
            (sharing == .asked || sharing == .owner) && oddity == nil && shared.value.target == nil
            && shared.value.key.isPlain && lifetime.makeStorage == nil
        let isPlain =
            oddity?.value.problem == nil && shared.value.target == nil && !shared.value.key.isMaking
            && shared.value.propertyHooks.isEmpty && shared.value.creationHooks.isEmpty
            && !shared.value.factory.isDecorated
        isPlainTransient = sharing == .none && isPlain
        isPlainGraph = sharing == .graph && isPlain && oddity == nil && shared.value.key.isPlain
        super.init(shared.value.key, isRegistered: true)
    }

    /// The recipe of a registration about which nothing is odd.
    convenience init(_ shared: Shared<Blueprint>, defaultLifetime: Lifetime) {
        self.init(shared, defaultLifetime: defaultLifetime, oddity: nil)
    }

    convenience init(
        _ shared: Shared<Blueprint>, defaultLifetime: Lifetime, problem: ResolutionError?, base: DecorationBase? = nil
    ) {
        let isOdd = problem != nil || base != nil
        self.init(
            shared, defaultLifetime: defaultLifetime,
            oddity: isOdd ? Shared(Oddity(problem: problem, base: base)) : nil)
    }

    convenience init(
        _ blueprint: Blueprint, defaultLifetime: Lifetime, problem: ResolutionError? = nil, base: DecorationBase? = nil
    ) {
        self.init(Shared(blueprint), defaultLifetime: defaultLifetime, problem: problem, base: base)
    }

    /// What the registration says.
    var blueprint: Blueprint { shared.value }
    var factory: Factory { shared.value.factory }
    /// Thrown by every resolve of the key, because the registration was wrong where nothing could throw.
    var problem: ResolutionError? { oddity?.value.problem }
    /// What this one decorates and asks for, where decorating the factory itself is not possible.
    var base: DecorationBase? { oddity?.value.base }
    /// The service behind a forwarded type, decorated or not.
    var forwardedKey: ServiceKey? { blueprint.target?.from ?? blueprint.underlying }
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
        return arguments.count <= 2 && !blueprint.isKeyed && problem == nil && base == nil
    }

    var hasHooks: Bool { !blueprint.propertyHooks.isEmpty || !blueprint.creationHooks.isEmpty }
    var hasDisposalHooks: Bool { !blueprint.disposalHooks.isEmpty }
}
