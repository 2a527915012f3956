// expect: a ready instance has no lifetime: leave 'lifetime:' out
import AsyncDI

struct Settings: Sendable {}

func add(to container: Container) async throws {
    try await container.register(Settings.self, lifetime: .singleton, instance: Settings())
}
