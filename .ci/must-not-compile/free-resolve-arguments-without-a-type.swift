// expect: name the service, resolve(Service.self, arguments: …), or give the result a type
import AsyncDI

func read() async throws {
    let pool = try await resolve(arguments: "acme")
    print(pool)
}
