// expect: type 'Cache' does not conform to the 'Sendable' protocol
import AsyncDI

final class Cache {
    var entries: [String: String] = [:]
}

func add(to container: Container) async throws {
    try await container.register(Cache.self, lifetime: .singleton) { _ in Cache() }
}
