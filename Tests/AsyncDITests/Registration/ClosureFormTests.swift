import Testing

@testable import AsyncDI

/// A lone closure is a factory, whichever overload could take it.
@Suite(.timeLimit(.minutes(10))) struct ClosureFormTests {
    private func make(_ resolver: Resolver) async throws -> Thing { Thing(try await resolver.resolve(Int.self)) }

    @Test func `a registration that is only a closure is a factory`() async throws {
        let container = Container {
            Registration(Int.self, instance: 3)
            Registration { r in Thing(try await r.resolve(Int.self)) }
            Registration(qualifier: "q") { r in Thing(try await r.resolve(Int.self) + 1) }
            Registration(lifetime: .singleton) { _ in "text" }
        }
        #expect(try await container.resolve(Thing.self).number == 3)
        #expect(try await container.resolve(Thing.self, qualifier: "q").number == 4)
        #expect(try await container.resolve(String.self) == "text")
    }

    @Test func `register with only a closure registers a factory`() async throws {
        let container = Container()
        try await container.register { _ in Thing(1) }
        try await container.register(qualifier: "q") { _ in Thing(2) }
        try await container.register(lifetime: .singleton) { _ in 0.5 }
        #expect(try await container.resolve(Thing.self).number == 1)
        #expect(try await container.resolve(Thing.self, qualifier: "q").number == 2)
        #expect(container.core.table.registration(of: ServiceKey(Double.self))?.binding.lifetime == .singleton)
    }

    @Test func `an initializer may take the resolver itself`() async throws {
        struct Locator: Sendable {
            let resolver: Resolver
            let number: Int
        }
        let container = Container {
            Registration(Int.self, instance: 3)
            Registration(using: Locator.init(resolver:number:))
        }
        let locator = try await container.resolve(Locator.self)
        #expect(try await locator.resolver.resolve(Int.self) == locator.number)
    }
}
