/// Delivers events to observers one by one, in the order of their arrival.
///
/// An observer is user code, and synchronous: it may block, so it is called on one of our threads
/// (``BlockingThreads``). An empty queue uses no thread; queues do not wait for one another.
///
/// Its lock is taken under that of a container, and no lock is taken under it.
final class EventQueue: Sendable {
    private enum Entry {
        case event(ContainerEvent, ContainerEvent.Details, from: Container)
        /// A caller's wait.
        case mark(Completion)
    }

    private struct State {
        var entries: [Entry] = []
        /// Whether a thread takes entries, or naps before it looks for more.
        var isDraining = false
        /// Whether a thread calls observers.
        var isBusy = false
        /// Whether the thread that takes entries naps.
        var isNapping = false
        /// Changes when another thread takes over from one that naps.
        var shift = 0
    }

    private let observers: [(observer: any ContainerObserver, wanted: ContainerEvent.Kinds)]
    private let state = Locked(State())
    /// The kinds that any of the observers wants: no other event is added.
    let wanted: ContainerEvent.Kinds
    /// The length of a reported wait: the shortest that any of the observers wants.
    let stallThreshold: Duration

    /// Nil when none of the observers wants any event.
    init?(observers: [any ContainerObserver]) {
        self.observers = observers.map { ($0, $0.wantedEvents) }
        wanted = self.observers.reduce(into: []) { $0.formUnion($1.wanted) }
        stallThreshold =
            self.observers.filter { $0.wanted.contains(.stalled) }.map(\.observer.stallThreshold).min() ?? .zero
        if wanted.isEmpty { return nil }
    }

    func append(_ events: [(ContainerEvent, ContainerEvent.Details)], from container: Container) {
        append { state in
            for (event, details) in events { state.entries.append(.event(event, details, from: container)) }
            return true
        }
    }

    /// Returns a completion that ends when observers have received every event up to now; nil if they have.
    func mark() -> Completion? {
        let mark = Completion()
        // A caller waits, and must not wait for the end of a nap.
        let mustWait = append(isUrgent: true) { state in
            if state.entries.isEmpty, !state.isBusy { return false }
            state.entries.append(.mark(mark))
            return true
        }
        return mustWait ? mark : nil
    }

    /// - Returns: The result of `body`: whether an event must be delivered.
    @discardableResult
    private func append(isUrgent: Bool = false, _ body: (inout State) -> Bool) -> Bool {
        let (hasMore, mustDrain) = state.withLock { state in
            guard body(&state) else { return (false, false) }
            if isUrgent, state.isNapping {
                state.isNapping = false
                state.shift += 1
                return (true, true)
            }
            defer { state.isDraining = true }
            return (true, !state.isDraining)
        }
        if mustDrain { BlockingThreads.shared.run { self.drain() } }
        return hasMore
    }

    private static func takeEntries(_ state: inout State) -> [Entry] {
        defer { state.entries = [] }
        state.isBusy = !state.entries.isEmpty
        return state.entries
    }

    private func drain() {
        while true {
            var entries = state.withLock(Self.takeEntries)
            if entries.isEmpty {
                // While more keep coming, the thread is woken once for many events and not for each.
                let shift = state.withLock { state in
                    state.isNapping = true
                    return state.shift
                }
                BlockingThreads.nap()
                entries = state.withLock { state in
                    // Another thread has taken over.
                    guard state.shift == shift else { return [] }
                    state.isNapping = false
                    if state.entries.isEmpty { state.isDraining = false }
                    return Self.takeEntries(&state)
                }
            }
            if entries.isEmpty { return }
            for entry in entries {
                switch entry {
                case .mark(let mark): mark.finish()
                case .event(let event, let details, from: let container):
                    let kind = event.kind
                    for (observer, wanted) in observers where wanted.contains(kind) {
                        observer.container(container, did: event, details: details)
                    }
                }
            }
        }
    }
}

/// A reference that does not keep the queue.
struct WeakEventQueue: Sendable {
    weak let queue: EventQueue?
}
