// expect: name the service, resolve(Service.self, arguments: …), or give the result a type
import AsyncDI

let container = Container {
    Registration(Int.self) { resolver in
        let pool = try await resolver.resolve(arguments: "acme")
        return 1
    }
}
