import AsyncDI

/// The events of a container so far, and the tasks that wait for more.
final class EventLog: ContainerObserver {
    private struct State {
        var entries: [ContainerEvents.Entry] = []
        var isClosed = false
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastWaiter = 0
    }

    private let state = Locked(State())

    var entries: [ContainerEvents.Entry] { state.withLock { $0.entries } }

    // Without waits: a search for long ones would slow every request down.
    var wantedEvents: ContainerEvent.Kinds { .all.subtracting(.stalled) }

    func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
        let entry = ContainerEvents.Entry(event: event, container: container.name, arguments: details.arguments)
        change { $0.entries.append(entry) }
    }

    /// Keeps the text alone of arguments and errors, which may hold instances.
    func forgetObjects() {
        let entries = entries
        let texts = entries.map(\.withoutObjects)
        state.withLock { $0.entries.replaceSubrange(..<texts.count, with: texts) }
        // Released outside the lock, because deinitializers are user code.
        withExtendedLifetime(entries) {}
    }

    /// Marks the end of the events.
    func close() { change { $0.isClosed = true } }

    private func change(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits for more events.
    ///
    /// - Parameter count: The number of events already read.
    /// - Returns: Whether the log has more events; false at its end.
    /// - Throws: `CancellationError`.
    nonisolated(nonsending) func more(than count: Int) async throws -> Bool {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state in
                    if state.entries.count > count || state.isClosed || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
        return state.withLock { $0.entries.count > count }
    }
}

/// The end of a container that the test disposes itself.
extension EventLog {
    /// Closes the log at the end of a container, while a body runs.
    nonisolated(nonsending) func closing<R>(
        atEndOf container: Container, while body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        let isWaiting = Locked(true)
        let child = child(of: container, releasedAtEndWhile: isWaiting)
        defer {
            isWaiting.withLock { $0 = false }
            withExtendedLifetime(child) {}
        }
        return try await body()
    }

    /// Creates a container that is disposed as a part of the disposal of its parent, and closes the log after that.
    ///
    /// A container without instances has no event at its end. But it releases its registrations, and what they hold.
    private func child(of container: Container, releasedAtEndWhile isWaiting: Locked<Bool>) -> Container {
        let mark = EndMark {
            guard isWaiting.withLock({ $0 }) else { return }
            // Detached, because a hook does not wait for the container that waits for it.
            Task.detached {
                // Waits for the disposal that is under way, and for its last event.
                try? await container.dispose()
                self.close()
            }
        }
        return Container(name: "end of events", parent: container) {
            Registration(EndMark.self, lifetime: .singleton) { _ in mark }
        }
    }
}

/// Calls a closure when it is released.
private final class EndMark: Sendable {
    private let closure: @Sendable () -> Void
    init(_ closure: @escaping @Sendable () -> Void) { self.closure = closure }
    deinit { closure() }
}

extension ContainerEvents.Entry {
    /// The error of an event, without the objects that it held.
    private struct ErrorText: Error, CustomStringConvertible {
        let description: String
    }

    /// The same entry, with arguments and errors as text.
    fileprivate var withoutObjects: Self {
        var event = event
        if case .failed(let key, let error) = event { event = .failed(key, ErrorText(description: "\(error)")) }
        return Self(event: event, container: container, arguments: arguments.map { "\($0)" })
    }
}
