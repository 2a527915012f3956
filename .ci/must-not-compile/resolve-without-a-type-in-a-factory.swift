// expect: name the service, resolve(Service.self), or give the result a type
import AsyncDI

let container = Container {
    Registration(Int.self) { resolver in
        let text = try await resolver.resolve()
        return 1
    }
}
