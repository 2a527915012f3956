/// The time that a creation does not spend waiting for other shared instances, for observers.
extension Creation {
    /// The record of its waits.
    struct Waiting {
        /// How many requests of its factory and hooks wait.
        fileprivate var requests = 0
        /// When the first of them began to.
        fileprivate var begin = Duration.zero
        /// How long it waited before that.
        fileprivate var total = Duration.zero
    }

    /// A request of the factory, or of a hook, waits from now on.
    func beginWait() {
        let now = host.elapsed()
        _ = extras { state in
            if state.waiting.requests == 0 { state.waiting.begin = now }
            state.waiting.requests += 1
        }
    }

    /// The request waits no longer.
    func endWait() {
        let now = host.elapsed()
        _ = extrasIfAny { state in
            state.waiting.requests -= 1
            if state.waiting.requests == 0 { state.waiting.total += now - state.waiting.begin }
        }
    }

    /// The time since its beginning, without that in which one of its requests waited.
    func ownDuration(until now: Duration) -> Duration {
        let waited = extrasIfAny { state in
            // The request of a task that outlives the factory may wait still.
            state.waiting.total + (state.waiting.requests > 0 ? now - state.waiting.begin : .zero)
        }
        return now - begin - (waited ?? .zero)
    }
}
