// expect: the initializer's result is not of the type given as 'as:'
import AsyncDI

protocol Greeter: Sendable {}
struct Door: Sendable {}

let container = Container {
    Registration(using: Door.init, as: (any Greeter).self)
}
