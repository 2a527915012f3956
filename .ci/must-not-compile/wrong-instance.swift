// expect: cannot convert value of type 'String' to expected argument type 'Int'
import AsyncDI

let container = Container {
    Registration(Int.self, instance: "forty-two")
}
