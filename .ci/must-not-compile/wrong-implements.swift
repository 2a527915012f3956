// expect: the closure's result is not of the type to implement
import AsyncDI

protocol Greeter: Sendable {}
struct Door: Sendable {}

let container = Container {
    Registration(Door.self) { _ in Door() }
        .implements((any Greeter).self) { $0 }
}
