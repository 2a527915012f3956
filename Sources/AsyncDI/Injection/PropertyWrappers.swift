/// Injects a service that is ready: created by ``Container/start()`` or an earlier resolve, or registered as an
/// `instance:`.
///
/// ```swift
/// struct ProfileModel {
///     @Inject var api: any API
///     @Inject(qualifier: Env.prod) var url: URL
/// }
/// ```
/// The container is chosen when the wrapper is initialized: the one given, or the current one, or else the default.
/// Reading a property that is not ready ends the process with a message that says how to make it ready. `try $api()`
/// throws the same message as a ``ResolutionError``, which tests can check. Pass a mock with `Inject(instance:)`.
///
/// A stored property with a wrapper is a `var`: in a `final class: Sendable` use ``Injected`` as a plain `let`.
@propertyWrapper public struct Inject<Service: Sendable>: Sendable {
    /// The same as a function that throws instead of ending the process.
    public let projectedValue: Injected<Service>

    /// Injects a service.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default one.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil
    ) {
        projectedValue = Injected(service, qualifier: qualifier, from: container)
    }

    /// Injects a given instance, such as a mock.
    ///
    /// - Parameter instance: The value of the property.
    public init(instance: Service) { projectedValue = Injected(instance: instance) }

    /// The instance.
    public var wrappedValue: Service { projectedValue.required }
}

/// Injects a service that is ready, or nil when it is not registered, not supplied by the scope, or would have to come
/// from a container that has ended.
///
/// A service that is registered but not ready ends the process, like ``Inject``: nil would hide the mistake.
/// `try $metrics()` throws instead.
@propertyWrapper public struct OptionalInject<Service: Sendable>: Sendable {
    /// The same as a function that throws, even when the service is not registered.
    public let projectedValue: Injected<Service>

    /// Injects a service, if it is registered.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default one.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil
    ) {
        projectedValue = Injected(service, qualifier: qualifier, from: container)
    }

    /// Injects a given instance, such as a mock.
    ///
    /// - Parameter instance: The value of the property.
    public init(instance: Service) { projectedValue = Injected(instance: instance) }

    /// The instance; nil without a container, when the service is not registered or not supplied, or when it would have
    /// to come from a container that has ended.
    public var wrappedValue: Service? { projectedValue.optional }
}

/// Injects a service that is resolved when it is first called, with `await`.
///
/// ```swift
/// struct Report {
///     @LazyInject var printer: Lazy<any Printer>
///
///     func print() async throws { try await printer().print(self) }
/// }
/// ```
/// The service need not be ready, arguments can be set before the first use, and the instance can be released: see
/// ``Lazy``.
@propertyWrapper public struct LazyInject<Service: Sendable>: Sendable {
    /// The service, which resolves when it is called.
    public let wrappedValue: Lazy<Service>

    /// Injects a service.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default one.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil
    ) {
        wrappedValue = Lazy(service, qualifier: qualifier, from: container)
    }

    /// Injects a service created with arguments.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default one.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    public init<First: Sendable, each Argument: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil,
        arguments first: First, _ rest: repeat each Argument
    ) {
        wrappedValue = Lazy(service, qualifier: qualifier, from: container, arguments: first, repeat each rest)
    }
}

/// Injects a ready service without keeping it alive: nil before it exists and after it has gone.
///
/// Each reading looks the service up and keeps nothing, so that an instance that was reset, replaced or disposed is not
/// returned again. A reading costs what ``Container/ready(_:qualifier:)`` does, and counts as a use of the instance.
@propertyWrapper public struct WeakInject<Service: Sendable>: Sendable {
    /// The same as a function that throws when the instance does not exist.
    public let projectedValue: Injected<Service>

    /// Injects a service weakly.
    ///
    /// - Parameters:
    ///   - service: The service type, such as `(any P).self`; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default one.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil
    ) {
        projectedValue = Injected(service, qualifier: qualifier, from: container)
    }

    /// The instance that the container has at this time.
    public var wrappedValue: Service? { try? projectedValue() }
}
