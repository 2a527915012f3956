/// Hands events over to observers one by one, in the order in which they were put in.
///
/// An observer is the user's code, and synchronous: it may block, so that it is called on a thread of ours
/// (``BlockingThreads``). The queue keeps none while it is empty; queues do not wait for one another.
///
/// Its lock is taken under that of a container, and nothing is taken under it.
final class EventQueue: Sendable {
    private struct State {
        var events: [(Container, ContainerEvent)] = []
        var isDraining = false
    }

    private let observers: [any ContainerObserver]
    private let state = Locked(State())

    init(observers: [any ContainerObserver]) { self.observers = observers }

    /// After how long a wait is reported: as soon as any of the observers wants to know.
    var stallThreshold: Duration { observers.map(\.stallThreshold).min() ?? .zero }

    func append(_ events: [ContainerEvent], from container: Container) {
        let mustDrain = state.withLock { state in
            for event in events { state.events.append((container, event)) }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustDrain { BlockingThreads.shared.run { self.drain() } }
    }

    private func drain() {
        while true {
            let events = state.withLock { state in
                defer { state.events = [] }
                if state.events.isEmpty { state.isDraining = false }
                return state.events
            }
            if events.isEmpty { return }
            for (container, event) in events {
                for observer in observers { observer.container(container, did: event) }
            }
        }
    }
}
