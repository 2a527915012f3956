import AsyncDI
import Logging

/// Logs what goes wrong in the container, and what waits for long.
struct ContainerLog: ContainerObserver {
    let logger: Logger

    var wantedEvents: ContainerEvent.Kinds { [.failed, .stalled] }

    func container(_ container: Container, did event: ContainerEvent) {
        logger.warning("\(event)", metadata: ["container": "\(container.name ?? "-")"])
    }
}
