import AsyncDI
import Testing

/// The guide "Migrating from Stimpak", run.
@Suite(.timeLimit(.minutes(10)))
struct MigratingFromStimpakTests {
    @Test func `the first steps`() async throws {
        let container = Container()
        try await container += Registration(Settings.self, lifetime: .singleton)
        try await container += Registration(Session.self, lifetime: .scoped) { _ in Session() }
        let scope = try await container.openScope("request-42")
        let session = try await scope.resolve(Session.self)
        try await scope.dispose()
        #expect(try await container.resolve(Session.self) !== session)
        #expect(try await container.resolve(Settings.self).pageSize == 20)
        try await container.dispose()
    }

    @Test func `arguments`() async throws {
        let container = Container()
        let scope = try await container.openScope("request-42")
        try await container.register(
            User.self, lifetime: .scoped, keyedBy: { (first: String, _: String) in first.lowercased() }
        ) { _, first, last in User(first, last) }
        let user = try await scope.resolve(User.self, arguments: "Ada", "Lovelace")
        #expect(user.name == "Ada Lovelace")
        #expect(try await scope.resolve(User.self, arguments: "ADA", "Byron") === user)
        try await container.dispose()
    }

    @Test func `keys`() async throws {
        let container = Container()
        try await container.register(Store.self, qualifier: .key(1)) { _ in Store("a") }
        let store = try await container.resolve(Store.self, qualifier: .key(1))
        #expect(store.name == "a")
        try await container.dispose()
    }

    @Test func `duplicates`() async throws {
        let strict = Container(onDuplicate: .reject) {
            Registration(Store.self) { _ in Store("a") }
        }
        await #expect { try await strict += Registration(Store.self) { _ in Store("b") } } throws: {
            ResolutionError.Code.duplicateRegistration ~= $0
        }
        try await strict.dispose()
    }

    @Test func `the creation callback`() async throws {
        let container = Container()
        try await container += Registration(Session.self, lifetime: .scoped) { _ in Session() }
            .onCreate { resolver, _ in print(resolver.container?.name ?? "the container") }
        _ = try await container.openScope("request-42").resolve(Session.self)
        try await container.dispose()
    }

    struct Settings: DefaultInitializable {
        let pageSize = 20
    }

    final class Session: Sendable {}

    final class User: Sendable {
        let name: String
        init(_ first: String, _ last: String) { name = "\(first) \(last)" }
    }

    struct Store: Sendable {
        let name: String
        init(_ name: String) { self.name = name }
    }
}
