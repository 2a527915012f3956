// expect: argument type 'Door' does not conform to expected type 'Greeter'
import AsyncDI

protocol Greeter: Sendable {}
struct Door: Sendable {}

let container = Container {
    Registration((any Greeter).self, instance: Door())
}
