public import AsyncDI
import Synchronization

/// The events of a test's container and of its scopes, in their order.
///
/// ```swift
/// let events = try Container.test.events
/// try await events.first(.created, of: Database.self)            // waits for it
/// try await events.first { $0.kind == .failed }                  // the first match, past or to come
/// let closed = await events.all().filter { $0.kind == .disposed }
/// ```
/// A hit and the creation of a transient or graph instance are no events.
public struct ContainerEvents: Sendable {
    /// An event, and the container that sent it.
    public struct Entry: Sendable, CustomStringConvertible {
        /// The event.
        public let event: ContainerEvent
        /// The name of the container or scope, or nil.
        public let container: String?
        /// The arguments of the instance, or its computed key.
        public let arguments: [any Sendable]

        /// The kind of the event.
        public var kind: ContainerEvent.Kinds { event.kind }

        /// The service; nil for events of scopes.
        public var key: ServiceKey? {
            switch event {
            case .registered(let key), .created(let key, _, _), .failed(let key, _), .evicted(let key),
                .disposed(let key), .stalled(_, let key, _):
                key
            case .scopeOpened, .scopeClosed: nil
            @unknown default: nil
            }
        }

        /// The event as a line of a log.
        public var description: String {
            let text = event.description
            return arguments.isEmpty ? text : "\(text), for \(arguments.map { "\($0)" }.joined(separator: ", "))"
        }
    }

    private let log: EventLog
    private let container: Container

    init(_ log: EventLog, of container: Container) {
        self.log = log
        self.container = container
    }

    /// Returns every event up to now.
    ///
    /// - Returns: The events.
    public func all() async -> [Entry] {
        await container.deliverEvents()
        return log.entries
    }

    /// Returns the first matching event, among past events or else among those to come.
    ///
    /// It waits without polling. Give the test a time limit: the wait for an event that never happens ends only when
    /// the test is cancelled.
    ///
    /// - Parameter predicate: Whether an event matches.
    /// - Returns: The event.
    /// - Throws: ``TestContainerError/noSuchEvent(events:)`` when the container has ended; `CancellationError`.
    @discardableResult
    public nonisolated(nonsending) func first(where predicate: (Entry) throws -> Bool) async throws -> Entry {
        var seen = 0
        while true {
            let entries = log.entries
            for entry in entries[seen...] where try predicate(entry) { return entry }
            seen = entries.count
            guard try await log.more(than: seen) else {
                throw TestContainerError.noSuchEvent(events: entries.map(\.description))
            }
        }
    }

    /// Returns the first event of a kind about a service.
    ///
    /// - Parameters:
    ///   - kind: The kind, or several.
    ///   - service: The type under which the service is registered.
    /// - Returns: The event.
    /// - Throws: The same as ``first(where:)``.
    @discardableResult
    public nonisolated(nonsending) func first(_ kind: ContainerEvent.Kinds, of service: any Any.Type) async throws
        -> Entry
    {
        try await first { kind.contains($0.kind) && $0.key?.service == service }
    }
}

/// The events so far, and the tasks that wait for more.
final class EventLog: Sendable {
    private struct State {
        var entries: [ContainerEvents.Entry] = []
        var isClosed = false
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    var entries: [ContainerEvents.Entry] { state.withLock { $0.entries } }

    func append(_ entry: ContainerEvents.Entry) { change { $0.entries.append(entry) } }

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
