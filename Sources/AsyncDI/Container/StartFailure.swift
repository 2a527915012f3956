/// The service whose failure ended a ``Container/start()``, and what the start had done until then.
///
/// The start throws the error of the factory unchanged, so that a program can catch it by its type. That error seldom
/// names the service. The container keeps this value beside it, which does:
/// ```swift
/// do {
///     try await container.start()
/// } catch {
///     // start failed after 2.1 s: Catalogue → Database: connection refused
///     throw container.startFailure ?? error
/// }
/// ```
public struct StartFailure: Error, CustomStringConvertible {
    /// The error that the start threw.
    public let underlying: any Error
    /// The services that failed, each one because of the next: the eager service first, the origin of the failure last.
    ///
    /// Shared services only: a transient or graph instance is created as a part of them. For an error that has no
    /// service, such as that of a module, the path is empty.
    public let path: [ServiceKey]
    /// The module whose ``Module/loaded(_:)`` threw; nil when a service failed.
    public let module: (any Module.Type)?
    /// The services that the start created or tried to create, and how long each took.
    public let report: StartReport

    /// The service in whose factory or hooks the failure arose.
    public var service: ServiceKey? { path.last }

    /// The duration of the start, the services that failed, and the error.
    public var description: String {
        let place =
            if let module { "the loading of \(readableName(of: module))" } else {
                path.map(\.description).joined(separator: " → ")
            }
        let text = escaped("\(underlying)")
        let failure = place.isEmpty ? text : "\(place): \(text)"
        return "start failed after \(report.duration.readable): \(failure)"
    }
}

extension StartFailure {
    init(of error: any Error, _ failure: StartMeter.Failure, module: (any Module.Type)?) {
        // The run that the error arose in leads to the container, which keeps this.
        underlying = ResolutionError.withoutOrigins(error)
        path = failure.path
        report = failure.report
        self.module = module
    }
}

extension Container {
    /// The failure of the latest ``start()``, with the service that failed; nil when that start succeeded, or when the
    /// container was never started.
    public nonisolated var startFailure: StartFailure? {
        core.withState { $0.startFailure }
    }
}
