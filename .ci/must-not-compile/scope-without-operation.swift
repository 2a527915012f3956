// expect: contextual type for closure argument list expects 1 argument, which cannot be implicitly ignored
import AsyncDI

struct Tenant: Sendable {}

func run(_ container: Container) async throws {
    try await container.withScope {
        Registration(instance: Tenant())
    }
}
