/// Returns an instance of a service from the current container, or else the default one.
///
/// - Parameters:
///   - service: The service type; may be inferred.
///   - qualifier: The qualifier that the service was registered with.
/// - Returns: The instance.
/// - Throws: ``ResolutionError/Code/noCurrentContainer`` without either, and the errors that
///   ``Container/resolve(_:qualifier:)`` throws.
public nonisolated(nonsending) func resolve<Service: Sendable>(
    _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
) async throws -> Service {
    let container = try CurrentContainer(Service.self, qualifier)
    guard let qualifier else { return try await container.resolve(service) }
    return try await container.resolve(service, qualifier: qualifier)
}

/// Returns an instance of a service created with arguments from the current container, or else the default one.
///
/// - Parameters:
///   - service: The service type; may be inferred.
///   - qualifier: The qualifier that the service was registered with.
///   - first: The first argument.
///   - rest: The other arguments.
/// - Returns: The instance for these arguments.
/// - Throws: ``ResolutionError/Code/noCurrentContainer`` without either, and the errors that
///   ``Container/resolve(_:qualifier:arguments:_:)`` throws.
public nonisolated(nonsending) func resolve<Service: Sendable, First: Sendable, each Argument: Sendable>(
    _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
    arguments first: First, _ rest: repeat each Argument
) async throws -> Service {
    try await CurrentContainer(Service.self, qualifier).resolve(
        service, qualifier: qualifier, arguments: first, repeat each rest)
}

/// Returns an instance of a service from the current container, or else the default one; nil without a registration.
///
/// - Parameters:
///   - service: The service type; may be inferred.
///   - qualifier: The qualifier that the service was registered with.
/// - Returns: The instance, nil when nothing is registered under the key, or when it is expected of each scope and not
///   supplied.
/// - Throws: ``ResolutionError/Code/noCurrentContainer`` without either, and the errors that
///   ``Container/optional(_:qualifier:)`` throws.
public nonisolated(nonsending) func optional<Service: Sendable>(
    _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
) async throws -> Service? {
    try await CurrentContainer(Service.self, qualifier).optional(service, qualifier: qualifier)
}

/// Returns an instance of a service created with arguments from the current container, or else the default one; nil
/// without a registration.
///
/// - Parameters:
///   - service: The service type; may be inferred.
///   - qualifier: The qualifier that the service was registered with.
///   - first: The first argument.
///   - rest: The other arguments.
/// - Returns: The instance, nil when the service is not registered at all.
/// - Throws: ``ResolutionError/Code/noCurrentContainer`` without either, and the errors that
///   ``Container/optional(_:qualifier:arguments:_:)`` throws.
public nonisolated(nonsending) func optional<Service: Sendable, First: Sendable, each Argument: Sendable>(
    _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
    arguments first: First, _ rest: repeat each Argument
) async throws -> Service? {
    try await CurrentContainer(Service.self, qualifier).optional(
        service, qualifier: qualifier, arguments: first, repeat each rest)
}

/// Returns every contribution to a service in the current container, or else the default one.
///
/// - Parameters:
///   - service: The service type; may be inferred.
///   - qualifier: The qualifier that the contributions were registered with.
/// - Returns: An instance of each contribution, an ancestor's first.
/// - Throws: ``ResolutionError/Code/noCurrentContainer`` without either, and the errors that
///   ``Container/resolveMany(_:qualifier:)`` throws.
public nonisolated(nonsending) func resolveMany<Service: Sendable>(
    _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil
) async throws -> [Service] {
    try await CurrentContainer(Service.self, qualifier).resolveMany(service, qualifier: qualifier)
}

/// Diagnoses a request whose type the compiler cannot infer.
@available(*, unavailable, message: "name the service, resolve(Service.self), or give the result a type")
public nonisolated(nonsending) func resolve() async throws -> Never { fatalError() }

/// Diagnoses a request whose type the compiler cannot infer.
@available(*, unavailable, message: "name the service, resolve(Service.self, qualifier: …), or give the result a type")
public nonisolated(nonsending) func resolve(qualifier: any Qualifier) async throws -> Never { fatalError() }

/// Diagnoses a request whose type the compiler cannot infer.
@available(*, unavailable, message: "name the service, resolve(Service.self, arguments: …), or give the result a type")
public nonisolated(nonsending) func resolve<First: Sendable, each Argument: Sendable>(
    arguments first: First, _ rest: repeat each Argument
) async throws -> Never { fatalError() }

/// The container of code without one at hand: the task's current one, or else the default one.
struct CurrentContainer: _Resolving {
    let _requester: _Requester

    /// Requests go to the requester that an object was created for; without one, to that of the caller's task.
    init(_ service: any Any.Type, _ qualifier: (any Qualifier)?, from requester: _Requester? = nil) throws {
        guard let requester = requester ?? Injection.requester() else {
            throw Injection.noContainer(ServiceKey(service, qualifier: qualifier))
        }
        _requester = requester
    }
}
