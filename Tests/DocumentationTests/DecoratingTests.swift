import AsyncDI
import Testing

/// The guide "Decorating", run.
@Suite(.timeLimit(.minutes(10)))
struct DecoratingTests {
    private func makeContainer() -> Container {
        let container = Container {
            Registration(using: SQLUserRepository.init, as: (any UserRepository).self, lifetime: .singleton)
            Decoration((any UserRepository).self) { resolver, inner in
                CachingRepository(inner, cache: try await resolver.resolve())
            }
            Decoration((any UserRepository).self) { _, inner in LoggingRepository(inner) }
            Registration(Cache.self, lifetime: .singleton) { _ in Cache() }
        }
        return container
    }

    @Test func `the last decoration is outermost`() async throws {
        let container = makeContainer()
        #expect(try await container.resolve((any UserRepository).self).name(of: 1) == "logged cached Ada")
        try await container.decorate((any UserRepository).self) { _, inner in RetryingRepository(inner) }
        #expect(try await container.resolve((any UserRepository).self).name(of: 1) == "retried logged cached Ada")
        try await container.dispose()
    }

    @Test func `a scope's own`() async throws {
        let container = makeContainer()
        let name = try await container.withScope("audited request") {
            Decoration((any UserRepository).self) { _, inner in AuditedRepository(inner) }
        } operation: { _ in
            try await container.resolve((any UserRepository).self).name(of: 1)
        }
        #expect(name == "audited logged cached Ada")
        #expect(try await container.resolve((any UserRepository).self).name(of: 1) == "logged cached Ada")
        try await container.dispose()
    }

    final class Cache: Sendable {}

    protocol UserRepository: Sendable {
        func name(of id: Int) -> String
    }

    struct SQLUserRepository: UserRepository {
        func name(of id: Int) -> String { "Ada" }
    }

    struct CachingRepository: UserRepository {
        let inner: any UserRepository
        init(_ inner: any UserRepository, cache: Cache) { self.inner = inner }
        func name(of id: Int) -> String { "cached \(inner.name(of: id))" }
    }

    struct LoggingRepository: UserRepository {
        let inner: any UserRepository
        init(_ inner: any UserRepository) { self.inner = inner }
        func name(of id: Int) -> String { "logged \(inner.name(of: id))" }
    }

    struct RetryingRepository: UserRepository {
        let inner: any UserRepository
        init(_ inner: any UserRepository) { self.inner = inner }
        func name(of id: Int) -> String { "retried \(inner.name(of: id))" }
    }

    struct AuditedRepository: UserRepository {
        let inner: any UserRepository
        init(_ inner: any UserRepository) { self.inner = inner }
        func name(of id: Int) -> String { "audited \(inner.name(of: id))" }
    }
}
