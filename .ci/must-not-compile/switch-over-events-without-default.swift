// expect: switch covers known cases, but 'ContainerEvent' may have additional unknown values
import AsyncDI

struct EventLog: ContainerObserver {
    func container(_ container: Container, did event: ContainerEvent) {
        switch event {
        case .registered, .created, .failed, .evicted, .disposed: print(event)
        case .scopeOpened, .scopeClosed, .stalled: break
        }
    }
}
