// expect: argument type 'Env' does not conform to expected type 'Qualifier'
import AsyncDI

enum Env { case prod }

let container = Container {
    Registration(Int.self, qualifier: Env.prod, instance: 1)
}
