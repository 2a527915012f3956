import AsyncDI
import Testing

/// The guide "Getting started" and the landing page, run.
@Suite(.timeLimit(.minutes(10)))
struct GettingStartedTests {
    @Test func `registering, resolving, qualifiers and arguments`() async throws {
        let container = Container {
            Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
            Registration(using: { (users: any UserRepository, settings: Settings) in
                Page(users: users, settings: settings, title: "Users")
            })
            Registration(Settings.self, instance: Settings(pageSize: 20))
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
        }
        #expect(try await container.resolve(Page.self).settings.pageSize == 20)
        try await registerMore(container)
        try await resolve(container)
        try await useKeys(container)
        try await useOtherTypes(container)
        try await container.dispose()
    }

    private func registerMore(_ container: Container) async throws {
        try await container.register((any Mailer).self, lifetime: .singleton) { _ in SMTPMailer() }
        try await container.register(using: Newsletter.init(users:mailer:))
        #expect(try await container.resolve(Newsletter.self).mailer.isReal)
    }

    private func resolve(_ container: Container) async throws {
        let users = try await container.resolve((any UserRepository).self)
        let database: Database = try await container.resolve()
        let metrics = try await container.optional(Metrics.self)  // nil when it is not registered
        #expect(try await users.name(of: 1) == "Ada")
        #expect(database === (try await container.resolve(Database.self)))
        #expect(metrics == nil)
        try await inferOptional(container)
    }

    private func inferOptional(_ container: Container) async throws {
        let metrics: Metrics? = try await container.resolve()
        #expect(metrics == nil)
    }

    private func useKeys(_ container: Container) async throws {
        let production = Address(host: "production")
        let backup = Address(host: "backup")
        try await container.register(Address.self, qualifier: Deployment.production, instance: production)
        try await container.register(Address.self, qualifier: .named("backup"), instance: backup)
        let address = try await container.resolve(Address.self, qualifier: Deployment.production)
        #expect(address == production)
        #expect(try await container.resolve(Address.self, qualifier: "backup") == backup)

        try await container.register(TenantPool.self, lifetime: .multiton) { _, tenant, size in
            try await TenantPool(tenant: tenant, size: size)
        }
        let acme = try await container.resolve(TenantPool.self, arguments: "acme", 4)
        #expect(acme === (try await container.resolve(TenantPool.self, arguments: "acme", 4)))
        #expect(acme !== (try await container.resolve(TenantPool.self, arguments: "acme", 5)))

        try await container.register(
            using: Backup.init(address:users:day:), with: .qualified("backup"), .resolved, .argument
        )
        let backedUp = try await container.resolve(Backup.self, arguments: "Monday")
        #expect(backedUp.address == backup && backedUp.day == "Monday")
    }

    private func useOtherTypes(_ container: Container) async throws {
        try await container.register(
            Registration(using: SQLUserRepository.init, lifetime: .singleton)
                .implements((any UserRepository).self) { $0 }
        )
        #expect(try await container.resolve((any UserRepository).self) is SQLUserRepository)

        try await container.register(making: Parser.self) { r in Parser(settings: try await r.resolve()) }
        let parser = try await container.make(Parser.self)
        parser.position += 1
        #expect(parser.position == 1)
    }

    @Test(arguments: [true, false])
    func `a module with a condition`(isTest: Bool) async throws {
        let container = Container {
            AppModule()
            MailModule(isTest: isTest)
        }
        #expect(try await container.resolve(Newsletter.self).mailer.isReal == !isTest)
        try await container.dispose()
    }

    @Test @MainActor func `a ready instance, synchronously`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }.eager()
        }
        try await container.start()  // makes what is registered as eager()
        let model = try container.ready(using: UserListModel.init)
        #expect(model.database === (try await container.resolve(Database.self)))
        try await container.dispose()
    }

    @Test func `errors are caught by their code, and explain themselves in the guide`() async throws {
        let container = Container {
            Registration(Page.self) { r in try await Page(users: r.resolve(), settings: Settings(pageSize: 1)) }
            Registration(using: SQLUserRepository.init)
            Registration(Database.self) { _ in try await Database.open("app.sqlite") }
        }
        do {
            _ = try await container.resolve(Report.self)
        } catch ResolutionError.Code.notRegistered {
            print("no report in this edition")
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Page.self) }
        try Guide("GettingStarted").shows(error)
        try await container.dispose()
    }

    @Test func `a test's registration comes on top of the application's`() async throws {
        let container = Container {
            AppModule()
            Registration((any UserRepository).self, instance: FixedUsers())
        }
        #expect(try await container.resolve((any UserRepository).self) is FixedUsers)
        try await container.dispose()
    }

    @Test func `the landing page`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in
                try await Database.open("app.sqlite")
            }
            .onDispose { database in try await database.close() }
            Registration(using: SQLUserRepository.init, as: (any UserRepository).self)
        }
        let users = try await container.resolve((any UserRepository).self)
        try await container.dispose()
        #expect(try await users.name(of: 1) == "Ada")
    }

    enum Deployment: Qualifier { case production, test }

    actor Database {
        static func open(_ path: String) async throws -> Database { Database() }
        func name(ofUser id: Int) async throws -> String { "Ada" }
        func close() async throws {}
    }

    struct SQLUserRepository: UserRepository {
        let database: Database

        func name(of id: Int) async throws -> String { try await database.name(ofUser: id) }
    }

    struct MailModule: Module {
        let isTest: Bool

        var registrations: Registrations {
            if isTest {
                Registration((any Mailer).self, lifetime: .singleton) { _ in RecordingMailer() }
            } else {
                Registration((any Mailer).self, lifetime: .singleton) { _ in SMTPMailer() }
            }
            Registration(using: Newsletter.init(users:mailer:))
        }
    }

    struct Settings: Sendable {
        let pageSize: Int
    }

    struct Page: Sendable {
        let users: any UserRepository
        let settings: Settings
        var title = "Page"
    }

    struct Backup: Sendable {
        let address: Address
        let users: any UserRepository
        let day: String
    }

    protocol Mailer: Sendable {
        var isReal: Bool { get }
    }

    struct SMTPMailer: Mailer {
        let isReal = true
    }

    struct RecordingMailer: Mailer {
        let isReal = false
    }

    struct Newsletter: Sendable {
        let users: any UserRepository
        let mailer: any Mailer

        init(users: any UserRepository, mailer: any Mailer) {
            self.users = users
            self.mailer = mailer
        }
    }

    struct Metrics: Sendable, Equatable {}

    struct Report: Sendable {}

    struct Address: Sendable, Equatable {
        let host: String
    }

    final class TenantPool: Sendable {
        let tenant: String
        let size: Int

        init(tenant: String, size: Int) async throws {
            self.tenant = tenant
            self.size = size
        }
    }

    final class Parser {
        let settings: Settings
        var position = 0

        init(settings: Settings) { self.settings = settings }
    }

    @MainActor final class UserListModel {
        let database: Database

        init(database: Database) { self.database = database }
    }

    struct FixedUsers: UserRepository {
        func name(of id: Int) async throws -> String { "Grace" }
    }
}
