import Synchronization

/// A hook that runs after a factory, with the instance.
typealias InstanceHook = nonisolated(nonsending) @Sendable (Resolver, Cell, ArgumentPack) async throws -> Void
/// A hook that closes an instance.
typealias DisposalHook = nonisolated(nonsending) @Sendable (Cell, DisposalReason) async throws -> Void

/// What happens to a creation when nobody waits for it any more.
public enum AbandonmentPolicy: Sendable, Hashable {
    /// The creation is cancelled, and started again when somebody asks.
    case cancel
    /// The creation runs to its end, and its instance is kept.
    case finish
}

/// Everything that a registration says, with the service type erased.
struct Blueprint: Sendable {
    var key: ServiceKey
    var lifetime: Lifetime?
    var factory: Factory
    var argumentKey: @Sendable (ArgumentPack) -> ArgumentKey = { _ in .none }
    /// Whether a function of the user's own computes the key from the arguments.
    var isKeyed = false
    /// The instance itself, of a registration that was given one.
    var instance: Cell?
    /// The argument types that hooks take, where they take any: they must be those of the registration.
    var hookArguments: [ArgumentPack.Type] = []
    var propertyHooks: [InstanceHook] = []
    var creationHooks: [InstanceHook] = []
    var disposalHooks: [DisposalHook] = []
    var abandonment = AbandonmentPolicy.cancel
    var isEager = false
    /// Whether this is the container's own business, of which observers hear nothing.
    var isHidden = false
    /// Whether this only announces what each scope supplies.
    var isExpected = false
    /// Other types under which the service can be resolved.
    var forwards: [Forward] = []
    /// Set for the registration of a forwarded type: resolve this instead, and convert.
    var target: Forward?
    /// Set for a decorated forwarded type: the service behind it.
    var underlying: ServiceKey?
    /// What the factory is known to resolve: the parameters of an initialiser; nil for a closure, which cannot be looked into.
    var dependencies: [ServiceKey]?
    /// What the registration says that a closure of it resolves; nil when it says nothing.
    var declaredDependencies: [ServiceKey]?
    /// Where the registration stands in the source.
    var site: RegistrationSite?
}

/// How a service is resolved under another type.
struct Forward: Sendable {
    let from: ServiceKey
    let to: ServiceKey
    let convert: @Sendable (Cell) throws(ResolutionError) -> Cell
}

/// A registration as one container holds it.
///
/// Its identity is part of every cache key: when a registration is replaced, nothing made by the old one is found any
/// more.
final class Recipe: Sendable {
    let blueprint: Blueprint
    let lifetime: Lifetime
    /// Thrown by every resolve of the key, because the registration was wrong where nothing could throw.
    let problem: ResolutionError?
    /// What this one decorates and asks for, where decorating the factory itself is not possible.
    let base: DecorationBase?
    /// Whether a request is nothing but a call of the factory.
    let isPlainTransient: Bool
    /// Whether a request for it asks its place and nothing else: shared, by itself, without arguments or a storage of its own.
    let isPlainShared: Bool
    private let current = Atomic(true)

    init(
        _ blueprint: Blueprint, defaultLifetime: Lifetime, problem: ResolutionError? = nil, base: DecorationBase? = nil
    ) {
        self.blueprint = blueprint
        self.lifetime = blueprint.lifetime ?? defaultLifetime
        self.problem = problem
        self.base = base
        isPlainShared =
            (lifetime.sharing == .asked || lifetime.sharing == .owner) && problem == nil && base == nil
            && blueprint.target == nil && blueprint.key.isPlain && lifetime.makeStorage == nil
        isPlainTransient =
            lifetime.sharing == .none && problem == nil && blueprint.target == nil && !blueprint.key.isMaking
            && blueprint.propertyHooks.isEmpty && blueprint.creationHooks.isEmpty && !blueprint.factory.isDecorated
    }

    var key: ServiceKey { blueprint.key }
    /// The service behind a forwarded type, decorated or not.
    var forwardedKey: ServiceKey? { blueprint.target?.from ?? blueprint.underlying }
    /// Whether the registration is still in its container.
    ///
    /// Written under that container's lock.
    var isCurrent: Bool { current.load(ordering: .acquiring) }
    func retire() { current.store(false, ordering: .releasing) }

    var hasHooks: Bool { !blueprint.propertyHooks.isEmpty || !blueprint.creationHooks.isEmpty }
    var hasDisposalHooks: Bool { !blueprint.disposalHooks.isEmpty }
}

/// Makes instances of a service whose type only subclasses know.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has no state, and its subclasses hold
/// nothing but a constant `@Sendable` function.
@usableFromInline class Factory: @unchecked Sendable {
    /// Runs the factory and puts the instance into a cell.
    ///
    /// What was made before a decorator fails is told, so that it can be disposed.
    nonisolated(nonsending) func makeCell(
        _ resolver: Resolver, _ pack: ArgumentPack, beforeDecoration: (Cell) -> Void
    ) async throws -> Cell {
        preconditionFailure("a factory that makes cells overrides makeCell")
    }

    /// A cell for an instance that a storage gave, nil when it is of another type.
    func cell(for instance: any Sendable) -> Cell? { nil }

    /// Whether what the factory makes is wrapped afterwards.
    final let isDecorated: Bool

    init(isDecorated: Bool = false) { self.isDecorated = isDecorated }
}

/// Wraps what a factory of `Service` makes.
typealias Decorator<Service> = nonisolated(nonsending) @Sendable (Resolver, Service) async throws -> Service

/// The factory of a `Sendable` service.
///
/// `@unchecked Sendable` because its superclass is; it adds constant `@Sendable` functions.
@usableFromInline final class ServiceFactory<Service: Sendable>: Factory, @unchecked Sendable {
    @usableFromInline let make: nonisolated(nonsending) @Sendable (Resolver, ArgumentPack) async throws -> Service
    private let decorators: [Decorator<Service>]

    init(
        _ make: nonisolated(nonsending) @escaping @Sendable (Resolver, ArgumentPack) async throws -> Service,
        decorators: [Decorator<Service>] = []
    ) {
        self.make = make
        self.decorators = decorators
        super.init(isDecorated: !decorators.isEmpty)
    }

    /// The same factory with one more decorator around it.
    func decorated(by decorator: @escaping Decorator<Service>) -> ServiceFactory {
        ServiceFactory(make, decorators: decorators + [decorator])
    }

    override nonisolated(nonsending) func makeCell(
        _ resolver: Resolver, _ pack: ArgumentPack, beforeDecoration: (Cell) -> Void
    ) async throws -> Cell {
        let original = StrongCell(try await make(resolver, pack))
        guard isDecorated else { return original }
        beforeDecoration(original)
        var instance = original.value
        for decorator in decorators { instance = try await decorator(resolver, instance) }
        return DecoratedCell(instance, original: original)
    }

    override func cell(for instance: any Sendable) -> Cell? { (instance as? Service).map(StrongCell.init) }
}

/// The factory of a service that need not be `Sendable`: what it makes is sent to the caller and stored nowhere.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant `@Sendable` function.
final class MakingFactory<Service>: Factory, @unchecked Sendable {
    let make: nonisolated(nonsending) @Sendable (Resolver, ArgumentPack) async throws -> sending Service

    init(_ make: nonisolated(nonsending) @escaping @Sendable (Resolver, ArgumentPack) async throws -> sending Service) {
        self.make = make
    }
}
