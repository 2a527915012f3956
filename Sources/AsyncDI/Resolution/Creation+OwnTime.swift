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
        /// The wait for the predecessor, before the factory ran.
        fileprivate var delay = Duration.zero
    }

    /// Notes how long the factory had to wait for the predecessor's end.
    func noteDelay(_ delay: Duration) { _ = extras { $0.waiting.delay += delay } }

    /// The time of the factory and its hooks.
    func duration(until now: Duration) -> Duration {
        now - begin - (extrasIfAny { $0.waiting.delay } ?? .zero)
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

    /// ``duration(until:)`` without the time in which one of its requests waited.
    func ownDuration(until now: Duration) -> Duration {
        let waited = extrasIfAny { state in
            // A request of a task that outlives the factory may still wait.
            state.waiting.total + (state.waiting.requests > 0 ? now - state.waiting.begin : .zero)
        }
        return duration(until: now) - (waited ?? .zero)
    }
}

/// The starts of other containers that measure a creation because their services wait for it.
extension Creation {
    /// The starts that measure its waits.
    var startsElsewhere: [ObjectIdentifier: StartMeter] { extrasIfAny { $0.startsElsewhere } ?? [:] }
    var isFollowedElsewhere: Bool { extrasIfAny { !$0.startsElsewhere.isEmpty } ?? false }

    /// Notes a start of another container that waits for the instance; it is told of the waits that begin later.
    func noteStart(_ start: StartMeter) { _ = extras { $0.startsElsewhere[ObjectIdentifier(start)] = start } }
}
