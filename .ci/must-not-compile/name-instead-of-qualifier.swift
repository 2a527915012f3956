// expect: extra arguments at positions #2, #3 in call
import AsyncDI

final class Pool: Sendable {}

let container = Container {
    Registration(Pool.self, name: "main") { _ in Pool() }
}
