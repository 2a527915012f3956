/// How far the loading of a service for a view has come.
///
/// What `@InjectState` gives, where there is SwiftUI; `InjectedView` has a view for each phase.
public enum InjectionPhase<Service: Sendable>: Sendable {
    /// The service is being resolved.
    case loading
    /// The service is there.
    case ready(Service)
    /// Resolving the service failed.
    case failed(any Error)

    /// The service, when it is there.
    public var service: Service? {
        if case .ready(let service) = self { service } else { nil }
    }

    /// The error, when resolving failed.
    public var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }

    init(_ result: Result<Service, any Error>) {
        switch result {
        case .success(let service): self = .ready(service)
        case .failure(let error): self = .failed(error)
        }
    }
}
