/// A call of a factory or a hook, as a ``ContainerInterceptor`` sees it.
public struct InterceptedCall: Sendable, CustomStringConvertible {
    /// The kind of a call.
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

    /// The factory or the kind of hook.
    public let kind: Kind
    /// The service.
    public let key: ServiceKey
    /// The lifetime of the registration; the container's default lifetime for a registration without one.
    public let lifetime: Lifetime
    /// The file and line of the registration, nil when they are not known.
    public let site: RegistrationSite?
    /// The position of a hook among those of its kind; zero for a factory.
    public let index: Int
    /// The number of the container that holds the registration.
    public let owner: UInt64
    /// Whether the registration came with its instance, which no factory creates.
    package let isOfInstance: Bool
    /// Whether a caller gets the thrown error.
    ///
    /// False for the disposal hook of an instance that was evicted, unregistered or replaced, or whose scope was
    /// dropped, or ended because its body threw: observers alone are told.
    public internal(set) var hasCaller = true

    /// The service and the kind of call: `Database factory`.
    public var description: String {
        switch kind {
        case .factory: "\(key) factory"
        case .propertyHook: "\(key) injectProperties"
        case .creationHook: "\(key) onCreate"
        case .disposalHook: "\(key) onDispose"
        }
    }
}

/// An observer that also runs before and after each factory and hook, where it may suspend or throw.
///
/// ``AroundCreation`` is the same for whole creations of shared instances, and cheap enough for a running service. An
/// interceptor is one too, which sees every single call, also for transient and graph instances and in a disposal.
///
/// Use it in tests: to find instances that outlive their container, or to see an application's reaction to slow and
/// failing factories. A container with an interceptor calls it for its own registrations and those of its scopes,
/// present and future. Each call happens in the task of the factory or hook, inside the same creation, so that its
/// error is an error of that factory or hook.
/// ```swift
/// struct SlowFactories: ContainerInterceptor {
///     let clock: any Clock<Duration>
///     var wantedEvents: ContainerEvent.Kinds { [] }
///
///     nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {
///         if call.kind == .factory { try await clock.sleep(for: .milliseconds(20)) }
///     }
/// }
/// let container = Container(observers: [SlowFactories(clock: ContinuousClock())]) { AppModule() }
/// ```
/// Several interceptors are nested: the first one in the list is called first before a factory or hook, and last after
/// it. Without one, a container has no additional cost.
public protocol ContainerInterceptor: ContainerObserver, AroundCreation {
    /// Called before a factory or hook; an error is thrown in its place.
    ///
    /// - Parameter call: The call.
    /// - Throws: The error with which the factory or hook must fail.
    nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws

    /// Called after a factory or hook has returned; an error is thrown as if it had failed at its end.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - instance: The instance that a factory created, or that a hook was called with; nil for `making:` services.
    /// - Throws: The error with which the factory or hook must fail.
    nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws

    /// Called after a factory or hook has thrown.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - error: The error.
    func didFail(_ call: InterceptedCall, with error: any Error)

    /// Called when a registered instance, which has no factory, is resolved: at least for its first request.
    ///
    /// - Parameters:
    ///   - key: The service.
    ///   - site: The file and line of the registration.
    func didResolveInstance(of key: ServiceKey, at site: RegistrationSite?)

    /// Called when a request goes to a container or scope that is disposed: its task has outlived it.
    ///
    /// Not called for a request of a factory or hook that is still running, whose end the disposal awaits; nor for one
    /// that an open container receives, also if that refuses it because the service belonged to an ended scope.
    ///
    /// The request fails with ``ResolutionError/Code/disposed``, or is repeated in an open container around the scope.
    ///
    /// - Parameter key: The requested service.
    func didRefuse(_ key: ServiceKey)

    /// Called when a scope is to be opened in a disposed container, by a task that has outlived it.
    ///
    /// The call fails with ``ResolutionError/Code/disposed``.
    ///
    /// - Parameter name: The name of the scope.
    func didRefuseScope(named name: String)
}

extension ContainerInterceptor {
    /// All of them, as for every observer that does not say otherwise.
    public var wantedEvents: ContainerEvent.Kinds { .all }

    /// Wraps nothing.
    ///
    /// - Parameter creation: The instance that is to be created.
    /// - Returns: Nil.
    public func willCreate(_ creation: CreationRequest) -> CreationWrapper? { nil }

    /// Does nothing.
    ///
    /// - Parameter call: The call.
    /// - Throws: Nothing.
    public nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - instance: The instance.
    /// - Throws: Nothing.
    public nonisolated(nonsending) func didRun(_ call: InterceptedCall, for instance: (any Sendable)?) async throws {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - error: The error.
    public func didFail(_ call: InterceptedCall, with error: any Error) {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - key: The service.
    ///   - site: The file and line of the registration.
    public func didResolveInstance(of key: ServiceKey, at site: RegistrationSite?) {}

    /// Does nothing.
    ///
    /// - Parameter key: The requested service.
    public func didRefuse(_ key: ServiceKey) {}

    /// Does nothing.
    ///
    /// - Parameter name: The name of the scope.
    public func didRefuseScope(named name: String) {}
}
