import AsyncDI
import Testing

/// The guide "Migrating from swift-dependencies", run.
@Suite(.timeLimit(.minutes(10)))
struct MigratingFromSwiftDependenciesTests {
    @Test func `an override for a task`() async throws {
        let container = Container { LiveModule() }
        let name = try await container.withScope {
            Registration((any API).self, instance: FixedAPI())
        } operation: { scope in
            try await scope.resolve(FeatureModel.self).api.name
        }
        #expect(name == "fixed")
        #expect(try await container.resolve(FeatureModel.self).api.name == "live")
        #expect(FeatureModel(api: FixedAPI()).api.name == "fixed")
        try await container.dispose()
    }

    @Test func `clocks and structures of closures are services`() async throws {
        let container = Container {
            Registration((any Clock<Duration>).self, instance: ContinuousClock())
            Registration(instance: Greeting(text: { "hello" }))
        }
        #expect(try await container.resolve((any Clock<Duration>).self) is ContinuousClock)
        #expect(try await container.resolve(Greeting.self).text() == "hello")
        try await container.dispose()
    }

    struct LiveModule: Module {
        var registrations: Registrations {
            Registration((any API).self, lifetime: .singleton) { _ in try await LiveAPI.connect() }
            Registration(using: FeatureModel.init)
        }
    }

    struct FeatureModel: Sendable {
        let api: any API
    }

    struct Greeting: Sendable {
        let text: @Sendable () -> String
    }

    protocol API: Sendable {
        var name: String { get }
    }

    struct LiveAPI: API {
        static func connect() async throws -> LiveAPI { LiveAPI() }
        var name: String { "live" }
    }

    struct FixedAPI: API {
        var name: String { "fixed" }
    }
}
