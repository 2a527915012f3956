import AsyncDI
import Foundation
import Testing

/// The examples in the doc comments of `Sources/AsyncDI/Injection`.
@Suite(.timeLimit(.minutes(10)))
struct InjectionExamples {
    @Test func `plain values and properties are injected`() async throws {
        let container = makeContainer()
        try await Injection.with(container) {
            #expect(try await Client().load() == Data())
            let model = ProfileModel()
            #expect(try await model.api.load() == Data())
            #expect(model.url == prodURL)
            try await Report().print()
        }
        #expect(try await ProfileController(container: container).api.load() == Data())
    }

    @Test func `services are resolved later`() async throws {
        let container = makeContainer()
        try await container.resolve(Editor.self).print()
        try await container.resolve(Dispatcher.self).dispatch(Message())
    }

    @Test func `a test overrides the default container`() async throws {
        try await Injection.with(Container { AppModule() }) {
            let users = try await resolve((any UserRepository).self)
            #expect(users is SQLUserRepository)
            try await resolveTwice()
        }
    }

    /// Never called: the default container is that of the process, which other tests share.
    private func start() {
        Injection.default = Container { AppModule() }
        Injection.setDefault { Container { AppModule() } }
    }

    private func resolveTwice() async throws {
        let users = try await resolve((any UserRepository).self)  // from the default container
        #expect(users is SQLUserRepository)

        try await Injection.with(Container { Registration((any UserRepository).self, instance: StubRepository()) }) {
            let users = try await resolve((any UserRepository).self)  // the stub of this test
            print(try await users.names())
        }
    }

    private func makeContainer() -> Container {
        Container {
            Registration((any API).self, instance: LiveAPI())
            Registration(URL.self, qualifier: Env.prod, instance: prodURL)
            Registration((any Printer).self) { _ in PaperPrinter() }
            Registration(using: Editor.init)
            Registration(Handler.self) { (_, message: Message) in Handler(message) }
            Registration(using: Dispatcher.init)
        }
    }
}

// MARK: Services

private let prodURL = URL(filePath: "/prod")

extension InjectionExamples {
    enum Env: Qualifier { case prod, test }

    protocol API: Sendable {
        func load() async throws -> Data
    }
    struct LiveAPI: API {
        func load() async throws -> Data { Data() }
    }

    final class Client: Sendable {
        let api = Injected<any API>()

        func load() async throws -> Data { try await api().load() }
    }

    struct ProfileModel {
        @Inject var api: any API
        @Inject(qualifier: Env.prod) var url: URL
    }

    final class ProfileController: ContainerOwner {
        let container: Container
        @OwnerInject var api: any API

        init(container: Container) { self.container = container }
    }

    protocol Printer: Sendable {
        func print(_ subject: Any) async throws
    }
    struct PaperPrinter: Printer {
        func print(_ subject: Any) async throws {}
    }

    struct Editor {
        let printer: Lazy<any Printer>

        func print() async throws { try await printer().print(self) }
    }

    struct Report {
        @LazyInject var printer: Lazy<any Printer>

        func print() async throws { try await printer().print(self) }
    }

    struct Message: Hashable, Sendable {}
    struct Handler: Sendable {
        init(_ message: Message) {}
        func run() async throws {}
    }
    struct Dispatcher {
        let handler: Provider<Handler>

        func dispatch(_ message: Message) async throws { try await handler(message).run() }
    }

    protocol UserRepository: Sendable {
        func names() async throws -> [String]
    }
    struct SQLUserRepository: UserRepository {
        func names() async throws -> [String] { throw CancellationError() }
    }
    struct StubRepository: UserRepository {
        func names() async throws -> [String] { ["Ada"] }
    }
    struct AppModule: Module {
        var registrations: Registrations { Registration((any UserRepository).self) { _ in SQLUserRepository() } }
    }
}
