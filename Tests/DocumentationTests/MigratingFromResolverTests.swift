import AsyncDI
import Testing

extension Qualifier where Self == String {
    static var archive: String { "archive" }
}

/// The guide "Migrating from Resolver", run; but for the default container, which belongs to the process and not to a
/// test.
@Suite(.timeLimit(.minutes(10)))
struct MigratingFromResolverTests {
    struct AppModule: Module {
        var registrations: Registrations {
            Registration(lifetime: .singleton) { _ in try await Database("app.sqlite") }
            Registration { r in SQLUserRepository(database: try await r.resolve()) }
                .implements((any UserRepository).self) { $0 }
        }
    }

    private func setUp() {
        Injection.setDefault { Container { AppModule() } }
    }

    @Test func `the first steps`() async throws {
        try await Injection.with(Container { AppModule() }) { () async throws in
            let users: any UserRepository = try await resolve()
            #expect(users.names == ["app.sqlite"])
        }
    }

    @Test func `names and arguments`() async throws {
        let container = Container()
        try await container.register(Store.self, qualifier: .archive) { (_, path: String, limit: Int) in
            Store(path: path, limit: limit)
        }
        let store = try await container.resolve(Store.self, qualifier: .archive, arguments: "a", 3)
        #expect((store.path, store.limit) == ("a", 3))
        try await container.dispose()
    }

    @Test func `property wrappers`() async throws {
        let container = Container {
            Registration((any UserRepository).self, instance: FixedUsers())
            Registration(Report.self) { _ in Report(text: "a report") }
        }
        let model = Injection.with(container) { ProfileModel() }
        #expect(model.users.names == ["Ada"])
        #expect(try await model.report().text == "a report")
        #expect(model.metrics == nil)
        try await container.dispose()
    }

    @Test func `mocks`() async throws {
        let mock = Container {
            AppModule()
            Registration((any UserRepository).self) { _ in FixedUsers() }
        }
        let names = try await Injection.with(mock) {
            try await resolve((any UserRepository).self).names
        }
        #expect(names == ["Ada"])
        try await mock.dispose()
    }

    @Test func `several containers`() async throws {
        let network = Container { Registration(Report.self) { _ in Report(text: "from the network") } }
        let storage = Container { Registration(Report.self) { _ in Report(text: "from storage") } }
        let main = Container(fallbacks: [network, storage]) { AppModule() }
        #expect(try await main.resolve(Report.self).text == "from the network")
        try await main.dispose()
    }

    struct ProfileModel {
        @Inject var users: any UserRepository
        @LazyInject var report: Lazy<Report>
        @OptionalInject var metrics: Metrics?
    }

    struct Metrics: Sendable {}

    struct Report: Sendable {
        let text: String
    }

    struct Store: Sendable {
        let path: String
        let limit: Int
    }

    struct Database: Sendable {
        let path: String
        init(_ path: String) async throws { self.path = path }
    }

    protocol UserRepository: Sendable {
        var names: [String] { get }
    }

    struct SQLUserRepository: UserRepository {
        let database: Database
        var names: [String] { [database.path] }
    }

    struct FixedUsers: UserRepository {
        var names: [String] { ["Ada"] }
    }
}
