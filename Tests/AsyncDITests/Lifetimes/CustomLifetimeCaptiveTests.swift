import Testing

@testable import AsyncDI

extension Lifetime {
    fileprivate static let session = Lifetime("session")
    fileprivate static let visit = Lifetime("visit", ownedBy: .resolvingContainer)
    fileprivate static let stored = Lifetime("stored", storage: { StrongStorage() })
}

private final class Cart: Sendable {}
private protocol Basket: Sendable {}
extension Cart: Basket {}

private final class Holder: Sendable {
    let cart: Cart
    init(_ cart: Cart) { self.cart = cart }
}
private struct Step: Sendable {
    let cart: Cart
}
private final class Later: Sendable {
    let cart: Lazy<Cart>
    init(_ cart: Lazy<Cart>) { self.cart = cart }
}
private final class Asking: Sendable {
    let cart: Provider<Cart>
    init(_ cart: Provider<Cart>) { self.cart = cart }
}

/// Resettable instances must not be held by lasting ones.
@Suite(.timeLimit(.minutes(10))) struct CustomLifetimeCaptiveTests {
    private static let holders: [Lifetime] = [.singleton, .multiton, .weak]
    private static let custom: [Lifetime] = [.session, .visit, .stored]

    @Test(arguments: holders, custom)
    func `a lasting instance cannot hold a resettable one`(holder: Lifetime, custom: Lifetime) async throws {
        let container = Container {
            Registration(Cart.self, lifetime: custom) { _ in Cart() }
            Registration(using: Holder.init, lifetime: holder)
        }
        let error = await expect(.captiveDependency) { try await container.resolve(Holder.self) }
        #expect(error?.path.map(\.description) == ["Holder", "Cart"])
        #expect(error?.description.contains("Provider<Cart>") == true)
        #expect(error?.description.contains(custom.name) == true)
        _ = try await container.resolve(Cart.self)
        await expect(.captiveDependency) { try await container.resolve(Holder.self) }
        try await container.withScope { scope in
            _ = try await scope.resolve(Cart.self)
            await expect(.captiveDependency) { try await scope.resolve(Holder.self) }
        }
        await #expect(throws: ValidationError.self) { try await container.validate() }
    }

    @Test(arguments: custom)
    func `a scope's own singleton cannot hold a resettable instance of the root`(custom: Lifetime) async throws {
        let root = Container { Registration(Cart.self, lifetime: custom) { _ in Cart() } }
        try await root.withScope { scope in
            try await scope.register(using: Holder.init, lifetime: .singleton)
            await expect(.captiveDependency) { try await scope.resolve(Holder.self) }
            _ = try await scope.resolve(Cart.self)
            await expect(.captiveDependency) { try await scope.resolve(Holder.self) }
        }
    }

    @Test(arguments: [Lifetime.transient, .graph], custom)
    func `a captive is found through a transient or graph service`(between: Lifetime, custom: Lifetime) async throws {
        let container = Container {
            Registration(Cart.self, lifetime: custom) { _ in Cart() }
            Registration(using: Step.init, lifetime: between)
            Registration(Holder.self, lifetime: .singleton) { r in Holder(try await r.resolve(Step.self).cart) }
        }
        await expect(.captiveDependency) { try await container.resolve(Holder.self) }
        _ = try await container.resolve(Cart.self)
        await expect(.captiveDependency) { try await container.resolve(Holder.self) }
    }

    @Test func `a captive is found through a captured container, another type, an optional or a list`() async throws {
        let outer = Container {
            Registration(Cart.self, lifetime: .session) { _ in Cart() }.implements((any Basket).self) { $0 }
        }
        try await outer.registerMany(Cart.self, key: "a", lifetime: .session) { _ in Cart() }
        let container = Container(parent: outer) {
            Registration(Holder.self, lifetime: .singleton) { _ in Holder(try await outer.resolve()) }
            Registration(Int.self, lifetime: .singleton) { r in
                _ = try await r.resolve((any Basket).self)
                return 1
            }
            Registration(String.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Cart?.self)
                return ""
            }
            Registration([Cart].self, lifetime: .singleton) { r in try await r.resolveMany(Cart.self) }
            Registration(Bool.self, lifetime: .singleton) { r in
                _ = try await r.lease(Cart.self)
                return true
            }
        }
        for _ in 0..<2 {
            await expect(.captiveDependency) { try await container.resolve(Holder.self) }
            await expect(.captiveDependency) { try await container.resolve(Int.self) }
            await expect(.captiveDependency) { try await container.resolve(String.self) }
            await expect(.captiveDependency) { try await container.resolve([Cart].self) }
            await expect(.captiveDependency) { try await container.resolve(Bool.self) }
            _ = try await container.resolve(Cart.self)
            _ = try await container.resolve((any Basket).self)
            _ = try await container.resolve((any Basket).self)
        }
    }

    @Test func `a lazy is refused, a provider is the way`() async throws {
        let container = Container {
            Registration(Cart.self, lifetime: .session) { _ in Cart() }
            Registration(using: Later.init, lifetime: .singleton)
            Registration(using: Asking.init, lifetime: .singleton)
        }
        let later = try await container.resolve(Later.self)
        await expect(.captiveDependency) { try await later.cart() }
        let asking = try await container.resolve(Asking.self)
        let cart = try await asking.cart()
        #expect(try await asking.cart() === cart)
        await expect(.captiveDependency) { try await later.cart() }
        try await container.reset(.session)
        #expect(try await asking.cart() !== cart)
        // If it were called during the singleton's creation, it would be held.
        try await container.register(Asking.self, lifetime: .singleton) { r in
            let cart = try await r.resolve(Provider<Cart>.self)
            _ = try await cart()
            return Asking(cart)
        }
        await expect(.captiveDependency) { try await container.resolve(Asking.self) }
    }

    @Test(arguments: [Lifetime.transient, .graph, .scoped, .session, .visit, .stored])
    func `an instance that does not outlive a resettable one may hold it`(holder: Lifetime) async throws {
        let container = Container {
            Registration(Cart.self, lifetime: .session) { _ in Cart() }
            Registration(using: Holder.init, lifetime: holder)
        }
        let held = try await container.resolve(Holder.self).cart
        #expect(try await container.resolve(Cart.self) === held)
        try await container.validate()
    }

    @Test func `a resettable instance may hold a singleton, and a scoped instance of its own container`() async throws {
        let container = Container {
            Registration(Cart.self, lifetime: .scoped) { _ in Cart() }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(Holder.self, lifetime: .session) { r in
                _ = try await r.resolve(Thing.self)
                return Holder(try await r.resolve())
            }
        }
        #expect(try await container.resolve(Holder.self).cart === container.resolve(Cart.self))
    }

    @Test func `a root's own instance cannot hold an instance of a scope`() async throws {
        let asked = Locked<Container?>(nil)
        let root = Container {
            Registration(Cart.self, lifetime: .visit) { _ in Cart() }
            Registration(Holder.self, lifetime: .session) { _ in
                Holder(try await #require(asked.withLock { $0 }).resolve())
            }
        }
        let scope = try await root.openScope("visit")
        asked.withLock { $0 = scope }
        await expect(.captiveDependency) { try await root.resolve(Holder.self) }
        asked.withLock { $0 = nil }
    }

    @Test func `an instance that was registered as such is never reset`() async throws {
        let container = Container(defaultLifetime: .session) {
            Registration(Cart.self, instance: Cart())
            Registration(using: Holder.init, lifetime: .singleton)
        }
        _ = try await container.resolve(Holder.self)
        try await container.validate()
    }

    @Test func `a captive is found through a graph that has it already`() async throws {
        let graph = GraphIdentifier()
        let asked = Locked<Container?>(nil)
        let root = Container {
            Registration(Cart.self, lifetime: .session) { _ in Cart() }
            Registration(Holder.self) { r in Holder(try await r.resolve()) }
            Registration(Int.self, lifetime: .singleton) { _ in
                let root = try #require(asked.withLock { $0 })
                _ = try await root.withGraph(graph) { try await $0.resolve(Holder.self) }
                return 1
            }
        }
        asked.withLock { $0 = root }
        let holder = try await root.withGraph(graph) { try await $0.resolve(Holder.self) }
        await expect(.captiveDependency) { try await root.resolve(Int.self) }
        await expect(.captiveDependency) { try await root.resolve(Int.self) }
        withExtendedLifetime(holder) {}
        asked.withLock { $0 = nil }
    }
}
