/// The time that a creation does not spend waiting for other shared instances, for observers.
extension Creation {
    /// The record of its waits.
    struct Waiting {
        /// The number of waiting requests of its factory and hooks.
        fileprivate var requests = 0
        /// The time when the first of them began to wait.
        fileprivate var begin = Duration.zero
        /// The total of earlier waits.
        fileprivate var total = Duration.zero
    }

    /// Notes that a request of the factory or of a hook begins to wait.
    func beginWait() {
        let now = host.elapsed()
        _ = extras { state in
            if state.waiting.requests == 0 { state.waiting.begin = now }
            state.waiting.requests += 1
        }
    }

    /// Notes that the request no longer waits.
    func endWait() {
        let now = host.elapsed()
        _ = extrasIfAny { state in
            state.waiting.requests -= 1
            if state.waiting.requests == 0 { state.waiting.total += now - state.waiting.begin }
        }
    }

    /// The time since its beginning, without the time in which one of its requests waited.
    func ownDuration(until now: Duration) -> Duration {
        let waited = extrasIfAny { state in
            // A request of a task that outlives the factory may still wait.
            state.waiting.total + (state.waiting.requests > 0 ? now - state.waiting.begin : .zero)
        }
        return now - begin - (waited ?? .zero)
    }
}
