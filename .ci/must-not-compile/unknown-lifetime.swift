// expect: has no member 'singelton'
import AsyncDI

let container = Container {
    Registration(Int.self, lifetime: .singelton) { _ in 1 }
}
