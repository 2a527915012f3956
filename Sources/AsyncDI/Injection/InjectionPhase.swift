/// The phase in which the loading of a service for a view is.
///
/// The value of `@InjectState`, where SwiftUI exists; `InjectedView` has a view for each phase.
public enum InjectionPhase<Service: Sendable>: Sendable {
    /// The service is being resolved.
    case loading
    /// The service has been loaded.
    case ready(Service)
    /// Resolving the service failed.
    case failed(any Error)

    /// The service, when it has been loaded.
    public var service: Service? {
        if case .ready(let service) = self { service } else { nil }
    }

    /// The error, when resolving failed.
    public var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
