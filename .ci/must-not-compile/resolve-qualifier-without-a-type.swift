// expect: name the service, resolve(Service.self, qualifier: …), or give the result a type
import AsyncDI

func read(_ container: Container) async throws {
    let service = try await container.resolve(qualifier: "main")
    print(service)
}
