// expect: non-Sendable type 'State' of property 'state' cannot exit actor-isolated context
import AsyncDI

final class Parser: Sendable {}
final class State {
    var parser = 0
}

actor Shop {
    let state = State()

    func compose() -> Container {
        Container {
            Registration(making: State.self) { _ in self.state }
        }
    }
}
