import Synchronization

/// State of the service as a load balancer sees it.
package final class Readiness: Sendable {
    package enum State: String, Sendable {
        case starting, ready, draining
    }

    private let current = Mutex(State.starting)
    private let begin = Mutex<ContinuousClock.Instant?>(nil)

    package init() {}

    package var state: State { current.withLock { $0 } }

    package func started() { current.withLock { if $0 == .starting { $0 = .ready } } }

    package func isDraining() {
        current.withLock { $0 = .draining }
        begin.withLock { $0 = $0 ?? .now }
    }

    /// Time since the shutdown began.
    package var timeDraining: Duration { begin.withLock { $0 }.map { .now - $0 } ?? .zero }
}
