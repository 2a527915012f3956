// expect: missing argument labels 'registrations:operation:' in call
import AsyncDI

struct Tenant: Sendable {}

func run(_ container: Container) async throws {
    try await container.withScope(
        { Registration(instance: Tenant()) }, { scope in _ = try await scope.resolve(Tenant.self) })
}
