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

    @Test func `a closure without parameters is a factory, and no instance`() async throws {
        let container = Container {
            Registration { Thing(1) }
            Registration(lifetime: .singleton) { "text" }
            Registration {
                await Task.yield()
                return 0.5
            }
        }
        #expect(try await container.resolve(Thing.self).number == 1)
        #expect(try await container.resolve(String.self) == "text")
        #expect(try await container.resolve(Double.self) == 0.5)
        #expect(container.core.table.registration(of: ServiceKey(String.self))?.binding.lifetime == .singleton)
    }

    @Test func `keyedBy without parameters is invalid, as there is nothing to compute a key from`() async throws {
        let container = Container { Registration(Thing.self, keyedBy: { 1 }) { _ in Thing(1) } }
        let error = await expect(.invalidRegistration) { try await container.resolve(Thing.self) }
        #expect(error?.description.contains("the keyedBy: of Thing has no parameters") == true)
    }

    @Test func `a weak multiton with an onDispose is called by its name`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton(weak: true)) { (_, n: Int) in Thing(n) }.onDispose { _ in }
        }
        let error = await expect(.invalidRegistration) {
            try await container.resolve(Thing.self, arguments: 1)
        }
        #expect(error?.description.contains("Thing(Int) is multiton with weak: true and has an onDispose") == true)
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

    @Test func `register takes a closure without parameters beside a qualifier or a lifetime`() async throws {
        let container = Container()
        try await container.register(lifetime: .singleton) { 0.5 }
        try await container.register(lifetime: .singleton) { "text" }
        try await container.register(qualifier: "q") { Thing(1) }
        try await container.register(qualifier: .key(1), lifetime: .singleton) { Thing(2) }
        #expect(try await container.resolve(Double.self) == 0.5)
        #expect(try await container.resolve(String.self) == "text")
        #expect(try await container.resolve(Thing.self, qualifier: "q").number == 1)
        #expect(try await container.resolve(Thing.self, qualifier: .key(1)).number == 2)
        #expect(container.core.table.registration(of: ServiceKey(String.self))?.binding.lifetime == .singleton)
        // A closure under its label is an instance.
        let double: @Sendable (Int) -> Int = { $0 * 2 }
        try await container.register(qualifier: "double", instance: double)
        #expect(try await container.resolve((@Sendable (Int) -> Int).self, qualifier: "double")(2) == 4)
        try await container.dispose()
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
