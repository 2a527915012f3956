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

    private let observers: [(observer: any ContainerObserver, wanted: ContainerEvent.Kinds)]
    private let state = Locked(State())
    /// What any of the observers wants: nothing else is put in.
    let wanted: ContainerEvent.Kinds
    /// After how long a wait is reported: as soon as any of the observers wants to know.
    let stallThreshold: Duration

    init(observers: [any ContainerObserver]) {
        self.observers = observers.map { ($0, $0.wantedEvents) }
        wanted = self.observers.reduce(into: []) { $0.formUnion($1.wanted) }
        stallThreshold =
            self.observers.filter { $0.wanted.contains(.stalled) }.map(\.observer.stallThreshold).min() ?? .zero
    }

    /// The queue for observers, nil when none of them wants anything.
    convenience init?(for observers: [any ContainerObserver]) {
        self.init(observers: observers)
        if wanted.isEmpty { return nil }
    }

    func append(_ events: [ContainerEvent], from container: Container) {
        let mustDrain = state.withLock { state in
            for event in events { state.events.append((container, event)) }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustDrain { BlockingThreads.shared.run { self.drain() } }
    }

    private static func takeEvents(_ state: inout State) -> [(Container, ContainerEvent)] {
        defer { state.events = [] }
        return state.events
    }

    private func drain() {
        while true {
            var events = state.withLock(Self.takeEvents)
            if events.isEmpty {
                // While more keeps coming, the thread is woken once for many events and not for each.
                BlockingThreads.nap()
                events = state.withLock { state in
                    if state.events.isEmpty { state.isDraining = false }
                    return Self.takeEvents(&state)
                }
            }
            if events.isEmpty { return }
            for (container, event) in events {
                let kind = event.kind
                for (observer, wanted) in observers where wanted.contains(kind) {
                    observer.container(container, did: event)
                }
            }
        }
    }
}
