// expect: a ready instance has no lifetime: leave 'lifetime:' out
import AsyncDI

struct Settings: Sendable {}

let container = Container {
    Registration(Settings.self, lifetime: .singleton, instance: Settings())
    Registration(Int.self, lifetime: .singleton) { _ in 1 }
}
