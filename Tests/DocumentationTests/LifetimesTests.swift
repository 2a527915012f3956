import AsyncDI
import Synchronization
import Testing

/// The guide "Lifetimes", run.
@Suite(.timeLimit(.minutes(10)))
struct LifetimesTests {
    @Test func `arguments and keys`() async throws {
        let container = Container {
            Registration(Button.self, lifetime: .transient) { (_, onTap: @escaping @Sendable () -> Void) in
                Button(onTap: onTap)
            }
            Registration(Tile.self, keyedBy: { (point: Point, _: Style) in point.rounded }) { _, point, style in
                try await Tile(point, style)
            }
        }
        let onTap: @Sendable () -> Void = {}
        _ = try await container.resolve(Button.self, arguments: onTap)
        let tile = try await container.resolve(Tile.self, arguments: Point(x: 11), Style.light)
        #expect(tile === (try await container.resolve(Tile.self, arguments: Point(x: 12), Style.dark)))
        #expect(tile !== (try await container.resolve(Tile.self, arguments: Point(x: 21), Style.light)))
        try await container.dispose()
    }

    @Test func `forgetting`() async throws {
        let container = Container {
            Registration(TenantPool.self, lifetime: .multiton) { (_, tenant: String) in TenantPool(tenant: tenant) }
        }
        let acme = try await container.resolve(TenantPool.self, arguments: "acme")
        try await container.reset(.multiton)  // every instance of a lifetime
        try await container.reset(TenantPool.self)  // of a service, whatever the arguments
        try await container.reset(TenantPool.self, arguments: "acme")  // for these arguments
        try await container.reset()  // everything that the container caches
        let next = try await container.resolve(TenantPool.self, arguments: "acme")
        #expect(acme !== next)
        let screen = try await container.openScope("screen")
        try await screen.reset(TenantPool.self, arguments: "acme", throughAncestors: true)
        #expect(next !== (try await container.resolve(TenantPool.self, arguments: "acme")))
        try await container.dispose()
    }

    @Test func `a lifetime with a name lasts until it is reset`() async throws {
        let container = Container()
        try await container.register(Cart.self, lifetime: .session) { _ in Cart() }
        let cart = try await container.resolve(Cart.self)
        try await container.reset(.session)  // signed out: the next user gets a new cart
        #expect(cart !== (try await container.resolve(Cart.self)))
        try await container.dispose()
    }

    @Test func `a lifetime with a storage decides how long`() async throws {
        let container = Container {
            Registration(Cart.self, lifetime: .threeUses) { _ in Cart() }
        }
        let cart = try await container.resolve(Cart.self)
        for _ in 2...3 { #expect(cart === (try await container.resolve(Cart.self))) }
        #expect(cart !== (try await container.resolve(Cart.self)))
        try await container.dispose()
    }

    @Test func `a creation that finishes when abandoned`() async throws {
        let container = Container {
            Registration(SearchIndex.self, lifetime: .singleton) { _ in try await SearchIndex.build() }
                .whenAbandoned(.finish)
        }
        _ = try await container.resolve(SearchIndex.self)
        try await container.dispose()
    }

    struct Button: Sendable {
        let onTap: @Sendable () -> Void
    }

    struct Point: Sendable {
        let x: Int
        var rounded: Int { x / 10 }
    }

    enum Style: Sendable { case light, dark }

    final class Tile: Sendable {
        init(_ point: Point, _ style: Style) async throws {}
    }

    final class TenantPool: Sendable {
        let tenant: String

        init(tenant: String) { self.tenant = tenant }
    }

    final class Cart: Sendable {}

    struct SearchIndex: Sendable {
        static func build() async throws -> SearchIndex { SearchIndex() }
    }
}

extension Lifetime {
    static let session = Lifetime("session")
}

final class LimitedStorage: InstanceStorage {
    private let content = Mutex<(instance: (any Sendable)?, uses: Int)>((nil, 0))
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func load() -> (any Sendable)? {
        content.withLock { content in
            content.uses += 1
            return content.uses <= limit ? content.instance : nil
        }
    }
    func peek() -> (any Sendable)? { content.withLock { $0.uses <= limit ? $0.instance : nil } }
    func store(_ instance: any Sendable) { content.withLock { $0 = (instance, 1) } }
    func clear() { content.withLock { $0 = (nil, 0) } }
}

extension Lifetime {
    static let threeUses = Lifetime("three uses", storage: { LimitedStorage(limit: 3) })
}
