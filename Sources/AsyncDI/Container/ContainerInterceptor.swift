/// A call of a factory or a hook, as a ``ContainerInterceptor`` sees it.
public struct InterceptedCall: Sendable, CustomStringConvertible {
    /// What is called.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// The factory.
        case factory
        /// A hook of ``Registration/injectProperties(_:)-((Resolver,Service)->Void)``.
        case propertyHook
        /// A hook of ``Registration/onCreate(_:)-((Resolver,Service)->Void)``.
        case creationHook
        /// A hook of ``Registration/onDispose(_:)-((Service)->Void)``.
        case disposalHook
    }

    /// What is called.
    public let kind: Kind
    /// The service.
    public let key: ServiceKey
    /// The lifetime of the registration; the container's default lifetime when it names none.
    public let lifetime: Lifetime
    /// The file and line of the registration, nil when they are not known.
    public let site: RegistrationSite?
    /// The position of a hook among those of its kind; zero for a factory.
    public let index: Int
    /// Tells the container that holds the registration from every other one.
    public let owner: UInt64

    /// The service and what is called: `Database factory`.
    public var description: String {
        switch kind {
        case .factory: "\(key) factory"
        case .propertyHook: "\(key) injectProperties"
        case .creationHook: "\(key) onCreate"
        case .disposalHook: "\(key) onDispose"
        }
    }
}

/// An observer that also takes part: it runs before and after each factory and hook, and may suspend or throw there.
///
/// ``AroundCreation`` is the same for whole creations of shared instances, and cheap enough for a running service; an
/// interceptor is one too, which sees every single call, also those for transient and graph instances and those of a
/// disposal. For tests: to find instances that outlive their container, or to see what an application does when a factory is slow
/// or fails. A container that has one among its observers calls it for its own registrations and those of its scopes,
/// also for those that are registered later. Each call happens in the task of the factory or hook, inside the same
/// creation, so that what is thrown is an error of that factory or hook.
/// ```swift
/// struct SlowFactories: ContainerInterceptor {
///     var wantedEvents: ContainerEvent.Kinds { [] }
///
///     nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
///         if call.kind == .factory { try await Task.sleep(for: .milliseconds(20)) }
///     }
/// }
/// let container = Container(observers: [SlowFactories()]) { AppModule() }
/// ```
/// Of several interceptors the first one in the list is used. A container without one pays nothing.
public protocol ContainerInterceptor: ContainerObserver, AroundCreation {
    /// A factory or hook is about to run; an error is thrown in its place.
    ///
    /// - Parameter call: The call.
    /// - Throws: An error that the factory or hook is to fail with.
    nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws

    /// A factory or hook has returned; an error is thrown as if it had failed at its end.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - instance: The instance that a factory made, or that a hook was called with; nil for `making:` services.
    /// - Throws: An error that the factory or hook is to fail with.
    nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws

    /// A factory or hook has thrown.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - error: The error.
    func didFail(_ call: InterceptedCall, with error: any Error)

    /// A registered instance is resolved, which no factory makes: from its first request on, at least once.
    ///
    /// - Parameters:
    ///   - key: The service.
    ///   - site: The file and line of the registration.
    func didResolveInstance(of key: ServiceKey, at site: RegistrationSite?)

    /// A request is refused with ``ResolutionError/Code/disposed``: its task has outlived the container or scope.
    ///
    /// - Parameter key: The requested service.
    func didRefuse(_ key: ServiceKey)
}

extension ContainerInterceptor {
    /// All of them, as for every observer that does not say otherwise.
    public var wantedEvents: ContainerEvent.Kinds { .all }

    /// Wraps nothing.
    ///
    /// - Parameter creation: The instance that is to be created.
    /// - Returns: Nil.
    public func willCreate(_ creation: CreationRequest) -> CreationWrapper? { nil }

    /// Nothing.
    ///
    /// - Parameter call: The call.
    /// - Throws: Nothing.
    public nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {}

    /// Nothing.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - instance: The instance.
    /// - Throws: Nothing.
    public nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws {}

    /// Nothing.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - error: The error.
    public func didFail(_ call: InterceptedCall, with error: any Error) {}

    /// Nothing.
    ///
    /// - Parameters:
    ///   - key: The service.
    ///   - site: The file and line of the registration.
    public func didResolveInstance(of key: ServiceKey, at site: RegistrationSite?) {}

    /// Nothing.
    ///
    /// - Parameter key: The requested service.
    public func didRefuse(_ key: ServiceKey) {}
}

extension ContainerInterceptor {
    /// Runs a hook between the two calls.
    nonisolated(nonsending) func run(
        _ call: InterceptedCall, for instance: (any Sendable)?, _ hook: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        do {
            try await willRun(call)
            try await hook()
            try await didRun(call, for: instance)
        } catch {
            didFail(call, with: error)
            throw error
        }
    }
}

extension ContainerInterceptor {
    func didResolve(_ binding: Binding) { didResolveInstance(of: binding.key, at: binding.blueprint.site) }
}

extension Blueprint {
    /// The same registration, whose factory and hooks an interceptor takes part in.
    func intercepted(by interceptor: any ContainerInterceptor, in core: ContainerCore) -> Blueprint {
        let (owner, lifetime) = (core.number, lifetime ?? core.defaultLifetime)
        let call = { [key, site] (kind: InterceptedCall.Kind, index: Int) in
            InterceptedCall(kind: kind, key: key, lifetime: lifetime, site: site, index: index, owner: owner)
        }
        var copy = self
        if instance == nil {
            let call = call(.factory, 0)
            copy.factory = factory.intercepted(
                by: Interception(
                    willRun: { try await interceptor.willRun(call) },
                    didRun: { try await interceptor.didRun(call, for: $0) },
                    didFail: { interceptor.didFail(call, with: $0) }))
        }
        guard extras != nil else { return copy }
        let wrapped = { (hooks: [InstanceHook], kind: InterceptedCall.Kind) -> [InstanceHook] in
            hooks.enumerated().map { index, hook in
                let call = call(kind, index)
                return { resolver, cell, pack in
                    try await interceptor.run(call, for: cell.undecorated.anyValue) {
                        try await hook(resolver, cell, pack)
                    }
                }
            }
        }
        if !propertyHooks.isEmpty { copy.propertyHooks = wrapped(propertyHooks, .propertyHook) }
        if !creationHooks.isEmpty { copy.creationHooks = wrapped(creationHooks, .creationHook) }
        if !disposalHooks.isEmpty {
            copy.disposalHooks = disposalHooks.enumerated().map { index, hook in
                let call = call(.disposalHook, index)
                return { cell, reason in
                    try await interceptor.run(call, for: cell.undecorated.anyValue) { try await hook(cell, reason) }
                }
            }
        }
        return copy
    }
}
