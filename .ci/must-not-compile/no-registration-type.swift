// expect: a container is made of Registration and Module values
import AsyncDI

let container = Container {
    "text"
    Registration(Int.self, instance: 1)
}
