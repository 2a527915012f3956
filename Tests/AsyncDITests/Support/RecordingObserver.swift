@testable import AsyncDI

/// Keeps the events that it wants.
final class RecordingObserver: ContainerObserver {
    private let log = Log<(container: String, event: ContainerEvent)>()
    let wantedEvents: ContainerEvent.Kinds
    let stallThreshold: Duration

    init(_ wanted: ContainerEvent.Kinds = .all, stallThreshold: Duration = .seconds(10)) {
        (wantedEvents, self.stallThreshold) = (wanted, stallThreshold)
    }

    var events: [ContainerEvent] { log.entries.map(\.event) }

    /// The events as text, each with the name of its container in front.
    var lines: [String] { log.entries.map { "\($0.container): \($0.event)" } }

    /// The texts of the events of a stall.
    var stalls: [String] { events.filter { $0.kind == .stalled }.map(\.description) }

    func container(_ container: Container, did event: ContainerEvent) { log.append((container.name ?? "-", event)) }

    /// Yields until there are as many events, and returns their lines.
    @discardableResult
    func received(_ count: Int) async -> [String] {
        while log.entries.count < count { await Task.yield() }
        return lines
    }

    /// Yields until a matching event has come.
    func received(_ matches: (ContainerEvent) -> Bool) async {
        while !events.contains(where: matches) { await Task.yield() }
    }
}
