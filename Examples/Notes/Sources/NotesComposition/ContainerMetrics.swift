import AsyncDI
import Metrics

/// Counts the events of the container, by service.
///
/// Each request creates a few services and disposes its unit of work. So events of these kinds cost something for every
/// request, and the running service asks for the others only.
struct ContainerMetrics: ContainerObserver {
    let wantedEvents: ContainerEvent.Kinds
    private let factory: any MetricsFactory

    init(_ wantedEvents: ContainerEvent.Kinds, factory: any MetricsFactory = MetricsSystem.factory) {
        self.wantedEvents = wantedEvents
        self.factory = factory
    }

    func container(_ container: Container, did event: ContainerEvent) {
        switch event {
        case .created(let key, let duration, _):
            Timer(label: "di.created", dimensions: [("service", "\(key)")], factory: factory)
                .recordNanoseconds(Int64(duration / .nanoseconds(1)))
        case .failed(let key, _): count("di.failed", key)
        case .evicted(let key): count("di.evicted", key)
        case .disposed(let key): count("di.disposed", key)
        default: break
        }
    }

    private func count(_ label: String, _ key: ServiceKey) {
        Counter(label: label, dimensions: [("service", "\(key)")], factory: factory).increment()
    }
}
