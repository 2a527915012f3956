// expect: a container is made of Registration, Decoration and Module values
import AsyncDI

struct Database: Sendable {}

let container = Container {
    Registration(Int.self, instance: 1)
    Database()
}
