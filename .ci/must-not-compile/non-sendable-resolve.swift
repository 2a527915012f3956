// expect: type 'Cache' does not conform to the 'Sendable' protocol
import AsyncDI

final class Cache {
    var entries: [String: String] = [:]
}

func read(_ container: Container) async throws {
    _ = try await container.resolve(Cache.self)
}
