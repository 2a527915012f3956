// expect: name the service, ready(Service.self), or give the result a type
import AsyncDI

func read(_ container: Container) throws {
    let service = try container.ready()
    print(service)
}
