// expect: name the service, resolve(Service.self, arguments: …), or give the result a type
import AsyncDI

func read(_ container: Container) async throws {
    let pool = try await container.resolve(arguments: "acme")
    print(pool)
}
