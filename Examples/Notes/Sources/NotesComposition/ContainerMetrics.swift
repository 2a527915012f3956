import AsyncDI
import Metrics

/// Counts what the container creates, closes and fails to create, by service.
struct ContainerMetrics: ContainerObserver {
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    var wantedEvents: ContainerEvent.Kinds { [.created, .failed, .evicted, .disposed] }

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
