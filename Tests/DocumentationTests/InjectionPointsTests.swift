import AsyncDI
import Observation
import Testing

/// The guide "Injection points", run; but for the default container, which belongs to the process and not to a test.
@Suite(.timeLimit(.minutes(10)))
struct InjectionPointsTests {
    private func setUp() {
        Injection.setDefault { Container { AppModule() } }
    }

    @Test func `free functions`() async throws {
        let container = Container { AppModule() }
        let greeting = try await Injection.with(container) {
            let users: any UserRepository = try await resolve()
            let metrics = try await optional(Metrics.self)  // nil when it is not registered
            let plugins = try await resolveMany((any Plugin).self)
            return "\(users.name), \(plugins.count) plug-ins, \(metrics == nil ? "no metrics" : "metrics")"
        }
        #expect(greeting == "module, 0 plug-ins, no metrics")
        try await container.dispose()
    }

    @Test func `property wrappers`() async throws {
        let container = Container {
            Registration((any UserRepository).self, lifetime: .singleton) { _ in try await SQLUserRepository.open() }
                .eager()
            Registration(Address.self, qualifier: Env.prod, instance: Address("example.org"))
            Registration(using: Report.init)
        }
        try await container.start()
        let model = Injection.with(container) { ProfileModel() }
        print(model.users.name, model.address.host)
        let report = try await model.report()
        #expect(report.text == "a report on users")
        #expect(model.metrics == nil)
        #expect(model.session == nil)
        let client = Injection.with(container) { Client() }
        #expect(try await client.load() == "users: a report on users")
        #expect(ProfileController(container: container).users.name == "users")
        #expect(Screen(users: FixedUsers()).users.name == "fixed")
        try await container.dispose()
    }

    @Test func `a property that is not ready`() async throws {
        let container = Container {
            Registration((any UserRepository).self, lifetime: .singleton) { _ in try await SQLUserRepository.open() }
        }
        let model = Injection.with(container) { ProfileModel() }
        do {
            _ = try model.$users()
        } catch ResolutionError.Code.notReady {
            print("start() has not been awaited")
        }
        #expect(throws: ResolutionError.self) { try model.$users() }
        try await container.dispose()
    }

    struct ProfileModel {
        @Inject var users: any UserRepository
        @Inject(qualifier: Env.prod) var address: Address
        @OptionalInject var metrics: Metrics?
        @LazyInject var report: Lazy<Report>
        @WeakInject var session: Session?
    }

    struct Screen {
        @Inject var users: any UserRepository

        init() {}
        init(users: any UserRepository) { _users = Inject(instance: users) }
    }

    @MainActor @Observable final class ProfileScreenModel {
        @ObservationIgnored @Inject var users: any UserRepository
        var name = ""
    }

    @Test @MainActor func `an observable class`() async throws {
        let container = Container { Registration((any UserRepository).self, instance: FixedUsers()) }
        let model = Injection.with(container) { ProfileScreenModel() }
        model.name = model.users.name
        #expect(model.name == FixedUsers().name)
        try await container.dispose()
    }

    final class Client: Sendable {
        let users = Injected<any UserRepository>()
        let report = Lazy<Report>()

        func load() async throws -> String { "\(try users().name): \(try await report().text)" }
    }

    final class ProfileController: ContainerOwner {
        let container: Container
        @OwnerInject var users: any UserRepository

        init(container: Container) { self.container = container }
    }

    struct AppModule: Module {
        var registrations: Registrations {
            Registration((any UserRepository).self) { _ in FixedUsers(name: "module") }
        }
    }

    enum Env: Qualifier { case prod }

    protocol UserRepository: Sendable {
        var name: String { get }
    }

    struct SQLUserRepository: UserRepository {
        static func open() async throws -> SQLUserRepository { SQLUserRepository() }
        var name: String { "users" }
    }

    struct FixedUsers: UserRepository {
        var name = "fixed"
    }

    protocol Plugin: Sendable {}

    struct Metrics: Sendable {}

    final class Session: Sendable {}

    struct Report: Sendable {
        let users: any UserRepository
        var text: String { "a report on \(users.name)" }
    }

    struct Address: Sendable {
        let host: String
        init(_ host: String) { self.host = host }
    }
}
