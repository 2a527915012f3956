import AsyncDI
import Logging

/// Logs failures and long waits of the container, with their arguments.
struct ContainerLog: ContainerObserver {
    let logger: Logger

    var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }

    func container(_ container: Container, did event: ContainerEvent, details: ContainerEvent.Details) {
        let arguments = details.arguments.map { "\($0)" }.joined(separator: ", ")
        logger.warning(
            "\(event)", metadata: ["container": "\(container.name ?? "-")", "arguments": "\(arguments)"])
    }
}
