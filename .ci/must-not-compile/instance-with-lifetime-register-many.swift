// expect: a ready instance has no lifetime: leave 'lifetime:' out
import AsyncDI

func add(to container: Container) async throws {
    try await container.registerMany(Int.self, lifetime: .singleton, key: "one", instance: 1)
}
