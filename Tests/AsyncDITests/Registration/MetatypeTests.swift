import AsyncDI
import Testing

/// Types from variables: a service is what the compiler knows the type as, and not the subclass in the variable.
@Suite(.timeLimit(.minutes(10))) struct MetatypeTests {
    private class Screen: DefaultInitializable, @unchecked Sendable {
        required init() {}
        var title: String { "screen" }
    }
    private final class Home: Screen, @unchecked Sendable {
        private let name = "home"
        override var title: String { name }
    }
    private static let home: Screen.Type = Home.self

    private func expectInvalid(_ registration: Registration<Screen>) async {
        let container = Container { registration }
        let error = await expect(.invalidRegistration) { try await container.resolve(Screen.self) }
        #expect(error?.description.contains("is registered with the type Home") == true)
        await expect(.notRegistered) { try await container.resolve(Home.self) }
        await expect(.invalidRegistration) { try await Container().register(registration) }
    }

    @Test func `a registration of a subclass that the compiler does not know is invalid`() async {
        let home = Self.home
        await expectInvalid(Registration(home, lifetime: .singleton))
        await expectInvalid(Registration(home, lifetime: .singleton) { _ in home.init() })
        await expectInvalid(Registration(home) { _ in home.init() })
        await expectInvalid(Registration(home, instance: Home()))
        await expectInvalid(Registration(using: { Home() as Screen }, as: home))
    }

    @Test func `a request for such a type is one for the type that the compiler knows`() async throws {
        let container = Container {
            Registration(Home.self, lifetime: .singleton) { _ in Home() }
            Registration(Home.self, qualifier: "q") { _ in Home() }
            Registration(Home.self, qualifier: "with", lifetime: .multiton) { (_, _: Int) in Home() }
        }
        let screen: Screen = try await container.resolve(Home.self)
        let type = type(of: screen)
        #expect(type == Home.self)
        await expect(.notRegistered) { try await container.resolve(type) }
        await expect(.notRegistered) { try await container.resolve(type, qualifier: "q") }
        await expect(.notRegistered) { try await container.resolve(type, qualifier: "q" as (any Qualifier)?) }
        await expect(.notRegistered) { try await container.resolve(type, qualifier: "with", arguments: 1) }
        await expect(.notRegistered) { try container.ready(type) }
        await expect(.notRegistered) { try await container.make(type) }
        await expect(.notRegistered) { try await container.withInstance(type) { _ in } }
        #expect(try await container.optional(type) == nil)
        #expect(try await container.resolveMany(type).isEmpty)
        #expect(await !container.isRegistered(type))
        #expect(await !container.unregister(type))
        let lazy = Lazy(type, from: container)
        await expect(.notRegistered) { try await lazy() }

        try await container.register(Screen.self) { _ in Screen() }
        #expect(try await container.resolve(type).title == "screen")
        #expect(await container.isRegistered(Home.self))
    }
}
