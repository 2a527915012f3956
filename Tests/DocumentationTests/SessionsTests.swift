import AsyncDI
import Synchronization
import Testing

extension Lifetime {
    static let login = Lifetime("login")
}

/// The guide "Sessions", run.
@Suite(.timeLimit(.minutes(10)))
struct SessionsTests {
    private func makeContainer() -> Container {
        Container {
            Registration(Keychain.self, instance: Keychain())
            SessionModule()
        }
    }

    @Test func `the eager account is created again for each user, and the old one is disposed`() async throws {
        let container = makeContainer()
        try await container.start()
        let guest = try container.ready(Account.self)
        let cart = try await container.resolve(Cart.self)
        #expect(guest.user == "guest")
        #expect(cart.account === guest)

        try await changeUser(to: "ada", in: container)
        #expect(guest.isDisconnected)
        #expect(try container.ready(Account.self).user == "ada")
        #expect(try await container.resolve(Cart.self) !== cart)
        try await container.dispose()
    }

    @Test func `a singleton with a provider uses the current account`() async throws {
        let container = makeContainer()
        let engine = try await container.resolve(SyncEngine.self)
        #expect(try await engine.sync() == "synchronized for guest")
        try await changeUser(to: "ada", in: container)
        #expect(try await engine.sync() == "synchronized for ada")
        try await container.dispose()
    }

    @Test func `a singleton that would hold an account is refused`() async throws {
        let container = makeContainer()
        try await container.register(Hoarder.self, lifetime: .singleton) { r in
            Hoarder(account: try await r.resolve())
        }
        await #expect {
            try await container.resolve(Hoarder.self)
        } throws: {
            ResolutionError.Code.captiveDependency ~= $0
        }
        try await container.dispose()
    }

    @Test func `a scope for each session`() async throws {
        let container = Container {
            Registration(expected: User.self)
            Registration(using: Inbox.init, lifetime: .scoped).eager()
        }
        try await container.start()
        let session = try await container.openScope("ada") {
            Registration(instance: User(name: "ada"))
        }
        try await session.start()
        let inbox = try await session.resolve(Inbox.self)
        try await container.disposeScope("ada")
        #expect(inbox.user.name == "ada")
        #expect(await container.scope("ada") == nil)
        try await container.dispose()
    }

    @Test func `what the scopes of a session share`() async throws {
        let container = Container {
            Registration(expected: Basket.self)
            Registration(using: Checkout.init, lifetime: .scoped)
        }
        let session = try await container.openScope("session-7") {
            Registration(Basket.self, lifetime: .singleton) { _ in Basket() }
        }
        let first = try await session.withScope { page in try await page.resolve(Checkout.self) }
        let second = try await session.withScope { page in try await page.resolve(Checkout.self) }
        #expect(first.basket === second.basket)
        try await container.validate()
        try await container.dispose()
    }

    @Test func `a key that is open keeps its scope and its user`() async throws {
        let container = Container { Registration(expected: User.self) }
        let first = try await container.openScope("window") {
            Registration(instance: User(name: "ada"))
        }
        let same = try await container.openScope("window") {
            Registration(instance: User(name: "grace"))
        }
        #expect(same === first)
        #expect(try await same.resolve(User.self).name == "ada")

        if await container["window"] != nil {
            try await container.disposeScope("window")  // the old session ends
        }
        let session = try await container.openScope("window") {
            Registration(instance: User(name: "grace"))
        }
        #expect(try await session.resolve(User.self).name == "grace")
        try await container.dispose()
    }

    func changeUser(to user: String?, in container: Container) async throws {
        try await container.resolve(Keychain.self).save(user)
        try await container.reset(.login)
        try await container.start()
    }

    struct SessionModule: Module {
        var registrations: Registrations {
            Registration(using: { (keychain: Keychain) in await Account(user: await keychain.user) }, lifetime: .login)
                .eager()
                .onDispose { account in await account.disconnect() }
            Registration(using: Cart.init, lifetime: .login)
            Registration(using: SyncEngine.init, lifetime: .singleton)
        }
    }

    struct SyncEngine: Sendable {
        let account: Provider<Account>

        func sync() async throws -> String { "synchronized for \(try await account().user)" }
    }

    actor Keychain {
        private(set) var user: String?

        func save(_ user: String?) { self.user = user }
    }

    final class Account: Sendable {
        let user: String
        private let disconnected = Mutex(false)
        var isDisconnected: Bool { disconnected.withLock { $0 } }

        init(user: String?) async { self.user = user ?? "guest" }
        func disconnect() async { disconnected.withLock { $0 = true } }
    }

    final class Cart: Sendable {
        let account: Account
        init(account: Account) { self.account = account }
    }

    final class Basket: Sendable {}

    struct Checkout: Sendable {
        let basket: Basket
    }

    struct Hoarder: Sendable {
        let account: Account
    }

    struct User: Sendable {
        let name: String
    }

    struct Inbox: Sendable {
        let user: User
    }
}
