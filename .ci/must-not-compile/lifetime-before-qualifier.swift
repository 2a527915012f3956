// expect: trailing closure passed to parameter of type 'Pool' that does not accept a closure
import AsyncDI

final class Pool: Sendable {}

let container = Container {
    Registration(Pool.self, lifetime: .singleton, qualifier: "main") { _ in Pool() }
}
