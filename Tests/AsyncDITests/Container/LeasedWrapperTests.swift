import AsyncDI
import Testing

/// A wrapper, such as an array, has no instance of its own that `withInstance` could lease.
@Suite(.timeLimit(.minutes(10))) struct LeasedWrapperTests {
    private func advice<Service: Sendable>(_ service: Service.Type, in container: Container) async -> String? {
        await expect(.invalidOperation) { try await container.withInstance(service) { _ in } }?.advice
    }

    @Test func `a lease of a wrapper is refused with the form that leases what it wraps`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.intoMany(key: "one")
        }
        #expect(await advice([Thing].self, in: container)?.contains("withInstances(…)") == true)
        #expect(await advice([String: Thing].self, in: container)?.contains("withInstanceMap(…)") == true)
        #expect(await advice(Thing?.self, in: container)?.contains("Lease Thing itself") == true)
        #expect(await advice(Lazy<Thing>.self, in: container)?.contains("Lease Thing itself") == true)
        await expect(.notRegistered) { try await container.withInstance([Int].self) { _ in } }
        await expect(.notRegistered) { try await container.withInstance(Lazy<Int>.self) { _ in } }
        try await container.dispose()
    }

    @Test func `a wrapper that is registered itself is leased like any service`() async throws {
        let container = Container { Registration([Int].self, lifetime: .singleton) { _ in [1, 2] } }
        #expect(try await container.withInstance([Int].self) { $0.count } == 2)
        try await container.dispose()
    }
}
