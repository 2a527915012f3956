public import AsyncDI

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
    /// the container is disposed, or the test is cancelled.
    ///
    /// - Parameter predicate: Whether an event matches.
    /// - Returns: The event.
    /// - Throws: ``TestContainerError/noSuchEvent(events:)`` when the container has ended; `CancellationError`.
    @discardableResult
    public nonisolated(nonsending) func first(where predicate: (Entry) throws -> Bool) async throws -> Entry {
        var seen = 0
        /// The first match among the events that were not seen yet.
        func next() throws -> Entry? {
            let new = log.entries[seen...]
            seen = new.endIndex
            return try new.first(where: predicate)
        }
        if let entry = try next() { return entry }
        return try await log.closing(atEndOf: container) {
            while try await log.more(than: seen) {
                if let entry = try next() { return entry }
            }
            throw TestContainerError.noSuchEvent(events: log.entries.map(\.description))
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
