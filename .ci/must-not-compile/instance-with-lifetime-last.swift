// expect: a ready instance has no lifetime: leave 'lifetime:' out
import AsyncDI

let container = Container {
    Registration(instance: 1, lifetime: .transient)
}
