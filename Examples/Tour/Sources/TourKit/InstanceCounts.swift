import AsyncDI
import Synchronization

/// Counts the instances that the container creates, by service.
///
/// An observer sees every creation, so that no registration needs a hook for it. `dispose()` returns after the last
/// event.
final class InstanceCounts: ContainerObserver {
    private let counts = Mutex<[String: Int]>([:])

    var byService: [String: Int] { counts.withLock { $0 } }

    /// Events of other kinds are not even created.
    var wantedEvents: ContainerEvent.Kinds { .created }

    func container(_ container: Container, did event: ContainerEvent) {
        guard case .created(let key, _, _) = event else { return }
        counts.withLock { $0["\(key)", default: 0] += 1 }
    }
}
