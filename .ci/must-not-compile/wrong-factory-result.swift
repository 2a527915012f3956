// expect: cannot convert value of type 'String' to closure result type 'Int'
import AsyncDI

let container = Container {
    Registration(Int.self) { _ in "forty-two" }
}
