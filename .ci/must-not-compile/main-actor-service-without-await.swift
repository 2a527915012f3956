// expect: main actor-isolated initializer 'init()' cannot be called from outside of the actor
import AsyncDI

@MainActor final class ViewModel {
    init() {}
}

let container = Container {
    Registration(ViewModel.self) { _ in ViewModel() }
}
