/// Loads a service in its own task, for as long as a reference holds the loader.
///
/// The task does not hold the loader: when the view's state releases the loader, the task is cancelled.
final class InjectionLoader<Service: Sendable>: Sendable {
    private typealias Load = InjectionLoad<Service>

    private struct State {
        var load = Load()
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())

    deinit { state.withLock { $0.task }?.cancel() }

    /// The phase of the request that the last ``update(_:from:onChange:)`` made.
    var phase: InjectionPhase<Service> {
        state.withLock { state in state.load.current.map { state.load.phase(of: $0) } ?? .loading }
    }

    /// Begins to load, unless the same load has begun before.
    ///
    /// - Parameters:
    ///   - query: The service to load.
    ///   - container: The container that resolves it.
    ///   - onChange: Called when the phase has changed later on.
    func update(
        _ query: InjectionQuery<Service>, from container: Container?, onChange: @escaping @MainActor () -> Void
    ) {
        let old = state.withLock { state -> State? in
            let request = state.load.request(query, from: container)
            guard request != state.load.current else { return nil }
            let old = state
            _ = state.load.begin(request)
            // None of it runs in here: the main actor runs it later.
            state.task = Task { @MainActor [weak self] in
                guard let result = await query.result(from: container) else { return }
                if self?.finished(request, with: result) == true { onChange() }
            }
            return old
        }
        // Outside the lock, because cancelling runs handlers, and the previous service may be released now.
        old?.task?.cancel()
    }

    /// Loads again after a failure; does nothing otherwise.
    func retry(onChange: @escaping @MainActor () -> Void) {
        let failed = state.withLock { $0.load.retry() ? $0.load.current : nil }
        if let failed { update(failed.query, from: failed.container, onChange: onChange) }
    }

    private func finished(_ request: Load.Request, with result: Result<Service, any Error>) -> Bool {
        state.withLock { $0.load.finished(request, with: result) }
    }
}
