// expect: type 'Tenant' does not conform to the 'Sendable' protocol
import AsyncDI

final class Tenant {
    var name = ""
}

final class Pool: Sendable {}

func read(_ container: Container) async throws {
    _ = try await container.resolve(Pool.self, arguments: Tenant())
}
