/// How far the loading of a service is, for a view that shows it.
public enum InjectionPhase<Service: Sendable>: Sendable {
    /// The service is being resolved, or nobody has asked for it yet.
    case loading
    /// The service.
    case ready(Service)
    /// Resolving the service threw this error.
    case failed(any Error)

    /// The service, when it is ready.
    public var service: Service? {
        guard case .ready(let service) = self else { return nil }
        return service
    }

    /// The error, when resolving failed.
    public var error: (any Error)? {
        guard case .failed(let error) = self else { return nil }
        return error
    }
}

/// Which attempt to load a service counts: the latest one.
///
/// A pure value: what an earlier attempt gives, which was overtaken by another container or by a retry, is ignored.
struct InjectionLoading<Service: Sendable>: Sendable {
    private(set) var phase = InjectionPhase<Service>.loading
    private var attempt = 0
    private var source: ObjectIdentifier?

    enum BeginAction: Equatable {
        /// Resolve, and report the result of this attempt.
        case resolve(attempt: Int)
        /// The service is there, or on its way, or failed and nobody asked again.
        case none
    }

    /// A view that asks this container is shown.
    mutating func begin(asking source: ObjectIdentifier?) -> BeginAction {
        if self.source == source, attempt > 0 { return .none }
        self.source = source
        return retry()
    }

    /// Somebody asks again.
    mutating func retry() -> BeginAction {
        attempt += 1
        phase = .loading
        return .resolve(attempt: attempt)
    }

    /// An attempt has ended; the result of one that was cancelled is none.
    mutating func finish(attempt: Int, _ result: Result<Service, any Error>) {
        guard attempt == self.attempt else { return }
        switch result {
        case .success(let service): phase = .ready(service)
        case .failure(let error): phase = error is CancellationError ? .loading : .failed(error)
        }
    }
}
