// expect: type '(_) async throws -> _' cannot conform to 'Hashable'
import AsyncDI

struct Tenant: Sendable {}

func run(_ container: Container) async throws -> Tenant {
    try await container.withScope({ scope in try await scope.resolve(Tenant.self) })
}
