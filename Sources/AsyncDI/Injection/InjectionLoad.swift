/// A view's request: a service, and its qualifier and arguments.
struct InjectionQuery<Service: Sendable>: Sendable {
    fileprivate let key: ServiceKey
    fileprivate let pack: ArgumentPack
    private let resolve: @Sendable (Container) async throws -> Service

    init(_ service: Service.Type, qualifier: (any Qualifier)?) {
        key = ServiceKey(Service.self, qualifier: qualifier)
        pack = .none
        resolve = { try await $0.resolve(service, qualifier: qualifier) }
    }

    init<First: Hashable & Sendable, each Argument: Hashable & Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)?, arguments first: First, _ rest: repeat each Argument
    ) {
        let pack = Arguments(first, repeat each rest)
        key = ServiceKey(Service.self, qualifier: qualifier, arguments: type(of: pack))
        self.pack = pack
        resolve = { try await $0.resolve(service, qualifier: qualifier, arguments: first, repeat each rest) }
    }

    /// The container's result; nil when the task was cancelled, whose result is unused.
    func result(from container: Container?) async -> Result<Service, any Error>? {
        let result: Result<Service, any Error>
        do {
            guard let container else { throw Injection.noContainer(key) }
            result = .success(try await resolve(container))
        } catch {
            result = .failure(error)
        }
        return Task.isCancelled ? nil : result
    }
}

/// Decides which result of loading a service counts, when the container may change and failures are retried.
///
/// A pure value. While A's factory runs, the view gets container B: a request for B begins. If A's result arrives now,
/// or even after B's, it belongs to a request that is no longer the current one, and is dropped. Containers are
/// compared by identity, and the request keeps its container, so that another one cannot take its place in memory
/// meanwhile.
struct InjectionLoad<Service: Sendable>: Sendable {
    /// One attempt to get a service from one container.
    struct Request: Equatable, Sendable {
        let query: InjectionQuery<Service>
        let container: Container?
        fileprivate let attempt: Int

        static func == (first: Request, second: Request) -> Bool {
            first.container === second.container && first.attempt == second.attempt
                && first.query.key == second.query.key
                && first.query.pack.likeness(to: second.query.pack) != .different
        }
    }

    private var attempt = 0
    private(set) var current: Request?
    private var result: Result<Service, any Error>?

    /// The request to load now.
    func request(_ query: InjectionQuery<Service>, from container: Container?) -> Request {
        Request(query: query, container: container, attempt: attempt)
    }

    /// The phase of a request; `loading` unless it is the current one.
    func phase(of request: Request) -> InjectionPhase<Service> {
        guard request == current else { return .loading }
        return switch result {
        case .success(let service)?: .ready(service)
        case .failure(let error)?: .failed(error)
        case nil: .loading
        }
    }

    enum BeginAction {
        /// The service must be resolved, even when an earlier task of the same request was cancelled.
        case load
        /// The service was resolved, and is not resolved again.
        case keep
    }

    /// A request becomes the current one.
    mutating func begin(_ request: Request) -> BeginAction {
        if request == current { return result == nil ? .load : .keep }
        current = request
        result = nil
        return .load
    }

    /// Notes the result of a request, and returns whether it counts.
    @discardableResult
    mutating func finished(_ request: Request, with result: Result<Service, any Error>) -> Bool {
        guard request == current, self.result == nil else { return false }
        self.result = result
        return true
    }

    /// Makes the next request a new one after a failure, and returns whether there was a failure.
    @discardableResult
    mutating func retry() -> Bool {
        guard let current, current.attempt == attempt, case .failure = result else { return false }
        attempt += 1
        return true
    }
}
