// expect: a container is made of Registration and Module values
import AsyncDI

struct Database: Sendable {}

let container = Container {
    Registration(Int.self, instance: 1)
    Database()
}
