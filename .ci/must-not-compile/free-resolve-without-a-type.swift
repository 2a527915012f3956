// expect: name the service, resolve(Service.self), or give the result a type
import AsyncDI

func read() async throws {
    let service = try await resolve()
    print(service)
}
