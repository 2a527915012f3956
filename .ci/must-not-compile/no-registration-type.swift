// expect: a container is made of Registration, Decoration and Module values
import AsyncDI

let container = Container {
    "text"
    Registration(Int.self, instance: 1)
}
