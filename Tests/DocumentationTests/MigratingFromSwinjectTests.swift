import AsyncDI
import Testing

extension Lifetime {
    static let userSession = Lifetime("user session")
}

/// The guide "Migrating from Swinject", run.
@Suite(.timeLimit(.minutes(10)))
struct MigratingFromSwinjectTests {
    @Test func `the first steps`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database("app.sqlite") }
            Registration((any UserRepository).self) { r in
                SQLUserRepository(database: try await r.resolve())
            }
        }
        let users = try await container.resolve((any UserRepository).self)
        #expect(users.name == "app.sqlite")
        try await container.dispose()
    }

    @Test func `arguments and names`() async throws {
        let container = Container()
        try await container.register(Pool.self, qualifier: "main", lifetime: .multiton) {
            (_, tenant: String, size: Int) in
            Pool(tenant, size)
        }
        let pool = try await container.resolve(Pool.self, qualifier: "main", arguments: "acme", 4)
        #expect(pool.name == "acme 4")
        try await container.dispose()
    }

    @Test func `circular dependencies`() async throws {
        let container = Container()
        try await container.register(Parent.self) { r in try await Parent(child: r.resolve()) }
        try await container.register(
            Registration(Child.self) { _ in Child() }
                .injectProperties { r, child in await child.set(parent: try await r.resolve()) }
        )
        let parent = try await container.resolve(Parent.self)
        #expect(await parent.child.parent === parent)
        try await container.dispose()
    }

    @Test func `assemblies`() async throws {
        let container = Container { AppModule() }
        try await container.start()
        #expect(try await container.ready(Mailer.self).isConnected)
        try await container.dispose()
    }

    @Test func `a scope of one's own`() async throws {
        let container = Container()
        try await container.register(Cart.self, lifetime: .userSession) { _ in Cart() }
        let cart = try await container.resolve(Cart.self)
        try await container.reset(.userSession)  // the next one is new
        #expect(try await container.resolve(Cart.self) !== cart)
        try await container.dispose()
    }

    struct AppModule: Module {
        var registrations: Registrations {
            Registration(Mailer.self, lifetime: .singleton) { _ in Mailer() }
        }

        func loaded(_ resolver: Resolver) async throws {
            try await resolver.resolve(Mailer.self).connect()
        }
    }

    struct Database: Sendable {
        let path: String
        init(_ path: String) async throws { self.path = path }
    }

    protocol UserRepository: Sendable {
        var name: String { get }
    }

    struct SQLUserRepository: UserRepository {
        let database: Database
        var name: String { database.path }
    }

    final class Pool: Sendable {
        let name: String
        init(_ tenant: String, _ size: Int) { name = "\(tenant) \(size)" }
    }

    final class Parent: Sendable {
        let child: Child
        init(child: Child) { self.child = child }
    }

    actor Child {
        private(set) weak var parent: Parent?
        func set(parent: Parent) { self.parent = parent }
    }

    actor Mailer {
        private(set) var isConnected = false
        func connect() { isConnected = true }
    }

    final class Cart: Sendable {}
}
