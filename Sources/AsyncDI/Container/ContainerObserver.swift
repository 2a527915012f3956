/// Something that happened in a container.
public enum ContainerEvent: Sendable {
    /// A service was registered.
    case registered(ServiceKey)
    /// A shared instance was created.
    case created(ServiceKey, duration: Duration, waiters: Int)
    /// A creation or a disposal failed.
    case failed(ServiceKey, any Error)
    /// An instance was dropped from the cache.
    case evicted(ServiceKey)
    /// An instance was disposed.
    case disposed(ServiceKey)
    /// A scope was opened.
    case scopeOpened(String)
    /// A scope was closed.
    case scopeClosed(String)
}

/// Is told what happens in a container, in the order in which it happens.
///
/// Events are handed over by a task of their own: a slow observer delays nobody's resolution, only its own later events. A hit
/// is no event and costs nothing.
public protocol ContainerObserver: Sendable {
    /// Something happened.
    ///
    /// - Parameters:
    ///   - container: The container in which it happened.
    ///   - event: What happened.
    func container(_ container: Container, did event: ContainerEvent)
}

/// Hands events over to observers one by one, in the order in which they were put in.
final class EventQueue: Sendable {
    private struct State {
        var events: [(Container, ContainerEvent)] = []
        var isDraining = false
    }

    private let observers: [any ContainerObserver]
    private let state = Locked(State())

    init(observers: [any ContainerObserver]) { self.observers = observers }

    func send(_ event: ContainerEvent, from container: Container) {
        let mustDrain = state.withLock { state in
            state.events.append((container, event))
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustDrain { Task.detached { await self.drain() } }
    }

    private func drain() async {
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
