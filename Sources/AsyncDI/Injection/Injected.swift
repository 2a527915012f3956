/// An injected service as a plain value, for types that cannot have property wrappers: a `final class: Sendable`, or an
/// actor's `let`.
///
/// ```swift
/// final class Client: Sendable {
///     let api = Injected<any API>()
///
///     func load() async throws -> Data { try await api().load() }
/// }
/// ```
/// It keeps the container that was current at its creation, or else the default one, and returns a ready instance:
/// created by ``Container/start()`` or an earlier resolve, or registered as an `instance:`.
public struct Injected<Service: Sendable>: Sendable {
    private enum Source {
        case instance(Service)
        /// The requester that it was created for; nil for that of the time of use.
        case requester(_Requester?, (any Qualifier)?)
    }

    private let source: Source

    /// Injects a service of a container.
    ///
    /// Without `container`, an object that was created outside every factory, and outlives its scope, is answered by
    /// the next open container around that scope. Only the scope's own services are refused, with
    /// ``ResolutionError/Code/disposed``. An object that a factory created belongs to the factory's container.
    ///
    /// - Parameters:
    ///   - service: The service type; may be inferred.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - container: The container to resolve from; when nil, the current one, or else the default; without either,
    ///     the container at the time of use.
    public init(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil, from container: Container? = nil
    ) {
        if container == nil, let maker = Injection.maker {
            // By its host, which keeps neither the container nor the factory's run alive.
            source = .requester(.keeper(of: Resolver(host: maker.host, run: nil)), qualifier)
        } else {
            source = .requester(Injection.requester(from: container), qualifier)
        }
    }

    /// Injects a given instance, such as a mock.
    ///
    /// - Parameter instance: The instance that it returns.
    public init(instance: Service) { source = .instance(instance) }

    /// Returns the instance.
    ///
    /// - Returns: The instance.
    /// - Throws: ``ResolutionError`` with the code `notReady`, `notRegistered`, `disposed` or `noCurrentContainer`.
    public func callAsFunction() throws -> Service {
        switch source {
        case .instance(let instance): return instance
        case .requester(let requester, let qualifier):
            let container = try CurrentContainer(Service.self, qualifier, from: requester)
            return try container.ready(qualifier: qualifier)
        }
    }

    /// The instance; when it is not ready, ends the process with a message that says how to make it ready.
    var required: Service {
        do {
            return try self()
        } catch {
            fatalError("@Inject: \(error)\(Self.remedy(for: error))")
        }
    }

    /// The instance; nil when it is not registered or not supplied, or would have to come from a container that has
    /// ended.
    ///
    /// Ends the process when it is not ready.
    var optional: Service? {
        do {
            return try self()
        } catch ResolutionError.Code.notRegistered {
            return nil
        } catch ResolutionError.Code.noCurrentContainer {
            return nil
        } catch ResolutionError.Code.disposed {
            return nil
        } catch {
            fatalError("@OptionalInject: \(error)\(Self.remedy(for: error))")
        }
    }

    /// The way out that the error itself does not know of; empty for an error that another wrapper would meet, too.
    private static func remedy(for error: any Error) -> String {
        guard ResolutionError.Code.notReady ~= error else { return "" }
        return " An injected property is read synchronously; @LazyInject resolves the service at its first use."
    }
}
