import AsyncDI
import Testing

/// The guide "Modules", run.
@Suite(.timeLimit(.minutes(10)))
struct ModulesGuideTests {
    struct StorageModule: Module {
        let path: String
        var isReadOnly = false

        var registrations: Registrations {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open(path) }
            if isReadOnly {
                Registration(using: ReadOnlyRepository.init, as: (any UserRepository).self)
            } else {
                Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
            }
            for name in ["users", "orders"] {
                Registration(Table.self, qualifier: name) { _ in Table(name) }
            }
        }
    }

    struct AppModule: Module {
        var registrations: Registrations {
            StorageModule(path: "app.sqlite")
            MailModule()
        }
    }

    let container = Container { AppModule() }

    func fixtures(count: Int) -> Registrations {
        Registrations {
            for number in 0..<count { Registration(Table.self, qualifier: "\(number)") { _ in Table("fixture") } }
        }
    }

    struct MailModule: Module {
        var registrations: Registrations {
            Registration(Mailer.self, lifetime: .singleton) { _ in Mailer() }
        }

        func loaded(_ resolver: Resolver) async throws {
            let users = try await resolver.resolve((any UserRepository).self)  // another module's
            try await resolver.resolve(Mailer.self).subscribe(users)
        }
    }

    @Test func `modules nest, and are loaded when all are registered`() async throws {
        try await container.start()
        #expect(try await container.resolve(Mailer.self).subscribed == "SQL on app.sqlite")
        #expect(try await container.resolve(Table.self, qualifier: "orders").name == "orders")
        let readOnly = Container {
            StorageModule(path: "test.sqlite", isReadOnly: true)
            fixtures(count: 2)
        }
        #expect(try await readOnly.resolve((any UserRepository).self).name == "read only on test.sqlite")
        #expect(try await readOnly.resolve(Table.self, qualifier: "1").name == "fixture")
        try await container.dispose()
        try await readOnly.dispose()
    }

    @Test func `modules are registered later`() async throws {
        let container = Container { StorageModule(path: "app.sqlite") }
        try await container.register(MailModule())
        try await container.register {
            MailModule()
            Registration(Settings.self, instance: Settings(pageSize: 20))
        }
        #expect(await (try container.ready(Mailer.self)).subscribed == "SQL on app.sqlite")
        try await container += MailModule()
        #expect(try container.ready(Settings.self).pageSize == 20)
        try await container.dispose()
    }

    struct Settings: Sendable {
        let pageSize: Int
    }

    struct Table: Sendable {
        let name: String
        init(_ name: String) { self.name = name }
    }

    struct Database: Sendable {
        let path: String
        static func open(_ path: String) async throws -> Database { Database(path: path) }
    }

    protocol UserRepository: Sendable {
        var name: String { get }
    }

    struct SQLUserRepository: UserRepository {
        let database: Database
        var name: String { "SQL on \(database.path)" }
    }

    struct ReadOnlyRepository: UserRepository {
        let database: Database
        var name: String { "read only on \(database.path)" }
    }

    final class Mailer: Sendable {
        private let users = Inbox()
        var subscribed: String { get async { await users.name } }
        func subscribe(_ users: any UserRepository) async { await self.users.receive(users.name) }
    }

    actor Inbox {
        private(set) var name = ""
        func receive(_ name: String) { self.name = name }
    }
}
