import AsyncDI
import Testing

/// The guide "Migrating from SwiftHilt", run; but for the default container, which belongs to the process and not to a
/// test.
@Suite(.timeLimit(.minutes(10)))
struct MigratingFromSwiftHiltTests {
    @Test func `the first steps`() async throws {
        let container = Container(defaultLifetime: .singleton) {
            Registration((any Api).self) { _ in try await RealApi.connect() }
            Registration((any Middleware).self) { _ in Log() }.intoMany()
            Registration((any Middleware).self) { _ in Metrics() }.intoMany()
        }
        try await container.register(Repository.self) { r in Repository(api: try await r.resolve()) }
        let repository: Repository = try await container.resolve()
        #expect(repository.api.name == "real")
        #expect(try await container.resolveMany((any Middleware).self).map(\.name) == ["log", "metrics"])
        try await container.dispose()
    }

    @Test func `multibindings by key`() async throws {
        let container = Container()
        try await container.registerMany((any Exporter).self, key: Format.csv) { _ in CSVExporter() }
        try await container.registerMany((any Exporter).self, key: Format.pdf, lifetime: .singleton) { _ in
            PDFExporter()
        }
        let exporters = try await container.resolveMap((any Exporter).self, keyedBy: Format.self)
        #expect(exporters.count == 2)
        try await container.dispose()
    }

    private func setUp(_ container: Container) {
        Injection.default = container
    }

    @Test func `the global functions`() async throws {
        let container = Container { Registration((any Api).self) { _ in try await RealApi.connect() } }
        let testContainer = Container { Registration((any Api).self) { _ in TestApi() } }
        let name = try await Injection.with(container) { () async throws in
            let api: any Api = try await resolve()
            let testApi = try await Injection.with(testContainer) {
                try await resolve((any Api).self)
            }
            return "\(api.name) \(testApi.name)"
        }
        #expect(name == "real test")
        try await container.dispose()
    }

    @Test func `an owner, and start-up`() async throws {
        let container = Container(defaultLifetime: .singleton) {
            Registration((any Api).self) { _ in try await RealApi.connect() }
        }
        try await container.prewarm()
        #expect(ViewModel(container: container).api.name == "real")
        try await container.dispose()
    }

    final class ViewModel: ContainerOwner {
        let container: Container
        @OwnerInject var api: any Api
        init(container: Container) { self.container = container }
    }

    protocol Api: Sendable {
        var name: String { get }
    }

    struct RealApi: Api {
        static func connect() async throws -> RealApi { RealApi() }
        var name: String { "real" }
    }

    struct TestApi: Api {
        var name: String { "test" }
    }

    struct Repository: Sendable {
        let api: any Api
    }

    protocol Middleware: Sendable {
        var name: String { get }
    }

    struct Log: Middleware { var name: String { "log" } }
    struct Metrics: Middleware { var name: String { "metrics" } }

    enum Format { case csv, pdf }

    protocol Exporter: Sendable {}
    struct CSVExporter: Exporter {}
    struct PDFExporter: Exporter {}
}
