// expect: a ready instance has no lifetime: leave 'lifetime:' out
import AsyncDI

func add(to container: Container) async throws {
    try await container.register(Int.self, qualifier: "limit", instance: 1, lifetime: .singleton)
}
