/// Creates instances of a service; only subclasses know its type.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has no state, and its subclasses hold
/// only constant `@Sendable` functions.
@usableFromInline class Factory: @unchecked Sendable {
    /// Runs the factory and puts the instance into a cell.
    ///
    /// An instance that was created before a decorator fails is reported, so that it can be disposed.
    nonisolated(nonsending) func makeCell(
        _ resolver: Resolver, _ pack: ArgumentPack, beforeDecoration: (Cell) -> Void
    ) async throws -> Cell {
        preconditionFailure("a factory that makes cells overrides makeCell")
    }

    /// A cell for an instance from a storage; nil when the instance is of another type.
    func cell(for instance: any Sendable) -> Cell? { nil }

    /// The same factory with interceptors.
    func intercepted(by interception: Interception) -> Factory { self }

    /// Whether the instances are sent to callers of `make` and never resolved.
    var onlyMakes: Bool { false }

    /// Whether decorators wrap the factory's instances.
    final let isDecorated: Bool
    /// Whether the factory was registered as one that needs no resolver.
    final let resolvesNothing: Bool
    /// The instance of a registration that was made with one.
    final let instance: Cell?

    @usableFromInline init(isDecorated: Bool = false, resolvesNothing: Bool = false, instance: Cell? = nil) {
        self.isDecorated = isDecorated
        self.resolvesNothing = resolvesNothing
        self.instance = instance
    }
}

/// Wraps the instances of a factory of `Service`.
@usableFromInline typealias Decorator<Service> =
    nonisolated(nonsending) @Sendable (Resolver, Service) async throws -> Service

/// The factory of a `Sendable` service.
///
/// `@unchecked Sendable` because its superclass is; it adds constant `@Sendable` functions.
@usableFromInline class ServiceFactory<Service: Sendable>: Factory, @unchecked Sendable {
    @usableFromInline final let make: nonisolated(nonsending) @Sendable (Resolver, ArgumentPack) async throws -> Service
    @usableFromInline final let decorators: [Decorator<Service>]
    /// Puts an instance into a cell; nil where the registering code does not know the service.
    ///
    /// Created in code that knows the service. In other code, each call would search for the cell's metadata, which
    /// takes as long as a look-up.
    @usableFromInline final let box: (@Sendable (Service) -> Cell)?

    /// A factory that takes no arguments.
    ///
    /// Inlined, so that code that knows the service also has its metadata, whose look-up takes half as long as a
    /// registration.
    @inlinable
    init(_ make: nonisolated(nonsending) @escaping @Sendable (Resolver) async throws -> Service) {
        self.make = { resolver, _ in try await make(resolver) }
        decorators = []
        box = { StrongCell($0) }
        super.init(isDecorated: false)
    }

    /// A factory that takes one argument; inlined for the same reason.
    @inlinable
    init<First: Sendable>(
        one make: nonisolated(nonsending) @escaping @Sendable (Resolver, First) async throws -> Service
    ) {
        self.make = { resolver, pack in try await make(resolver, Arguments<First>.of(pack).values) }
        decorators = []
        box = { StrongCell($0) }
        super.init(isDecorated: false)
    }

    /// A factory that takes any number of arguments.
    convenience init<each Argument: Sendable>(
        many make: nonisolated(nonsending) @escaping @Sendable (Resolver, repeat each Argument) async throws -> Service
    ) {
        self.init { resolver, pack in
            try await make(resolver, repeat each Arguments<repeat each Argument>.unpacked(pack))
        }
    }

    init(
        _ make: nonisolated(nonsending) @escaping @Sendable (Resolver, ArgumentPack) async throws -> Service,
        decorators: [Decorator<Service>] = [], resolvesNothing: Bool = false
    ) {
        self.make = make
        self.decorators = decorators
        box = nil
        super.init(isDecorated: !decorators.isEmpty, resolvesNothing: resolvesNothing)
    }

    /// A synchronous factory that needs no resolver.
    convenience init(withoutResolver make: @escaping @Sendable () throws -> Service) {
        self.init({ _, _ in try make() }, resolvesNothing: true)
    }

    /// The same factory with one more decorator around it.
    func decorated(by decorator: @escaping Decorator<Service>) -> ServiceFactory {
        ServiceFactory(make, decorators: decorators + [decorator], resolvesNothing: resolvesNothing)
    }

    override nonisolated(nonsending) func makeCell(
        _ resolver: Resolver, _ pack: ArgumentPack, beforeDecoration: (Cell) -> Void
    ) async throws -> Cell {
        let instance = try await make(resolver, pack)
        let original = box?(instance) ?? StrongCell(instance)
        guard isDecorated else { return original }
        beforeDecoration(original)
        return try await decorated(original, resolver)
    }

    // Not inlined, because most factories have no decorators, and their runs should not reserve space for this.
    fileprivate final nonisolated(nonsending) func decorated(
        _ original: Cell, _ resolver: Resolver
    ) async throws -> Cell {
        var instance = original.value(as: Service.self)
        for decorator in decorators { instance = try await decorator(resolver, instance) }
        return DecoratedCell(instance, original: original)
    }

    override func intercepted(by interception: Interception) -> Factory {
        InterceptedFactory(make, interception, decorators, resolvesNothing: resolvesNothing)
    }

    override func cell(for instance: any Sendable) -> Cell? { (instance as? Service).map(StrongCell.init) }
}

/// The factory of a `Sendable` service with interceptors.
///
/// `@unchecked Sendable` because its superclass is; it adds constant `@Sendable` functions.
private final class InterceptedFactory<Service: Sendable>: ServiceFactory<Service>, @unchecked Sendable {
    private let interception: Interception
    /// The factory alone.
    private let original: nonisolated(nonsending) @Sendable (Resolver, ArgumentPack) async throws -> Service

    init(
        _ make: nonisolated(nonsending) @escaping @Sendable (Resolver, ArgumentPack) async throws -> Service,
        _ interception: Interception, _ decorators: [Decorator<Service>], resolvesNothing: Bool
    ) {
        self.interception = interception
        original = make
        super.init(
            { resolver, pack in
                try await interception.run({ $0 }) { try await make(resolver, pack) }
            }, decorators: decorators, resolvesNothing: resolvesNothing)
    }

    override func decorated(by decorator: @escaping Decorator<Service>) -> ServiceFactory<Service> {
        InterceptedFactory(original, interception, decorators + [decorator], resolvesNothing: resolvesNothing)
    }

    override nonisolated(nonsending) func makeCell(
        _ resolver: Resolver, _ pack: ArgumentPack, beforeDecoration: (Cell) -> Void
    ) async throws -> Cell {
        let made: Cell = try await interception.run({ $0.anyValue }) {
            let cell = StrongCell(try await original(resolver, pack))
            // Reported, so that it is disposed if an interceptor fails the creation.
            beforeDecoration(cell)
            return cell
        }
        return isDecorated ? try await decorated(made, resolver) : made
    }
}

/// The factory of a registered instance, which is never called.
///
/// Not generic, because a request's scope creates several of these.
///
/// `@unchecked Sendable` because its superclass is; it adds nothing.
@usableFromInline final class InstanceFactory: Factory, @unchecked Sendable {
    @usableFromInline init(_ instance: Cell) {
        // Here, because several containers may publish the cell.
        instance.isSharedBelow = true
        super.init(instance: instance)
    }

    override nonisolated(nonsending) func makeCell(
        _ resolver: Resolver, _ pack: ArgumentPack, beforeDecoration: (Cell) -> Void
    ) async throws -> Cell {
        guard let instance else { preconditionFailure("the factory of an instance has one") }
        return instance
    }
}

/// The factory of a service that need not be `Sendable`: its product is sent to the caller and never stored.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant `@Sendable` function.
final class MakingFactory<Service>: Factory, @unchecked Sendable {
    let make: nonisolated(nonsending) @Sendable (Resolver, ArgumentPack) async throws -> sending Service

    init(_ make: nonisolated(nonsending) @escaping @Sendable (Resolver, ArgumentPack) async throws -> sending Service) {
        self.make = make
    }

    override var onlyMakes: Bool { true }

    override func intercepted(by interception: Interception) -> Factory {
        let make = make
        return MakingFactory { resolver, pack in
            try await interception.run({ _ in nil }) { try await make(resolver, pack) }
        }
    }
}
