import AsyncDI
import Testing

/// The API in use, as the documentation shows it, in a target with `.defaultIsolation(MainActor.self)`.
@Suite(.timeLimit(.minutes(10)))
struct DocumentedCallSites {
    @Test
    func `from the main actor, by default`() async throws {
        let container = Container {
            NetworkModule()
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
            Registration(TenantPool.self, lifetime: .multiton) { _, tenant in try await TenantPool(tenant) }
            Registration(CurrentUser.self, lifetime: .scoped) { r in try await CurrentUser(db: r.resolve()) }
        }
        try await container.register(PetModule())

        try await container.register((any Clock).self, lifetime: .singleton) { _ in SystemClock() }
        try await container.register(using: Owner.init(pet:city:))
        try await container.register(URL.self, qualifier: Env.prod, instance: prodURL)

        let users = try await container.resolve((any UserRepository).self)
        let db: Database = try await container.resolve()
        let pool = try await container.resolve(TenantPool.self, arguments: "acme")
        let url = try await container.resolve(URL.self, qualifier: Env.prod)
        let maybe = try await container.optional(Metrics.self)

        #expect(users.database === db)
        #expect(db.path == "app.sqlite")
        #expect(pool.tenant == "acme")
        #expect(url == prodURL)
        #expect(maybe == nil)
        #expect(try await container.resolve((any Clock).self).time == 42)
        let owner = try await container.resolve(Owner.self)
        #expect(owner.pet == Pet(name: "Rex"))
        #expect(owner.city == City(name: "Oslo"))

        try await container.withScope("request-42") { scope in
            let user = try await container.resolve(CurrentUser.self)
            #expect(user === (try await scope.resolve(CurrentUser.self)))
            #expect(user.db === db)
        }
        try await container.dispose()
        #expect(await users.client.isShutDown)
    }

    @Test @concurrent
    nonisolated func `from nonisolated code`() async throws {
        let container = Container {
            NetworkModule()
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
            Registration(TenantPool.self, lifetime: .multiton) { _, tenant in try await TenantPool(tenant) }
            Registration(CurrentUser.self, lifetime: .scoped) { r in try await CurrentUser(db: r.resolve()) }
        }
        try await container.register(PetModule())

        try await container.register((any Clock).self, lifetime: .singleton) { _ in SystemClock() }
        try await container.register(using: Owner.init(pet:city:))
        try await container.register(URL.self, qualifier: Env.prod, instance: prodURL)

        let users = try await container.resolve((any UserRepository).self)
        let db: Database = try await container.resolve()
        let pool = try await container.resolve(TenantPool.self, arguments: "acme")
        let url = try await container.resolve(URL.self, qualifier: Env.prod)
        let maybe = try await container.optional(Metrics.self)

        #expect(await users.database === db)
        #expect(db.path == "app.sqlite")
        #expect(pool.tenant == "acme")
        #expect(url == prodURL)
        #expect(maybe == nil)
        #expect(try await container.resolve((any Clock).self).time == 42)
        let owner = try await container.resolve(Owner.self)
        #expect(owner.pet == Pet(name: "Rex"))
        #expect(owner.city == City(name: "Oslo"))

        try await container.withScope("request-42") { scope in
            let user = try await container.resolve(CurrentUser.self)
            #expect(user === (try await scope.resolve(CurrentUser.self)))
            #expect(user.db === db)
        }
        try await container.dispose()
        #expect(await users.client.isShutDown)
    }

    @Test
    func `from an actor's method`() async throws {
        let application = Application()
        try await application.run()
        #expect(await application.requests == 1)
    }
}

private actor Application {
    private(set) var requests = 0

    func run() async throws {
        let container = Container {
            NetworkModule()
            Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }
            Registration(TenantPool.self, lifetime: .multiton) { _, tenant in try await TenantPool(tenant) }
            Registration(CurrentUser.self, lifetime: .scoped) { r in try await CurrentUser(db: r.resolve()) }
        }
        try await container.register(PetModule())

        try await container.register((any Clock).self, lifetime: .singleton) { _ in SystemClock() }
        try await container.register(using: Owner.init(pet:city:))
        try await container.register(URL.self, qualifier: Env.prod, instance: prodURL)

        let users = try await container.resolve((any UserRepository).self)
        let db: Database = try await container.resolve()
        let pool = try await container.resolve(TenantPool.self, arguments: "acme")
        let url = try await container.resolve(URL.self, qualifier: Env.prod)
        let maybe = try await container.optional(Metrics.self)

        #expect(await users.database === db)
        #expect(db.path == "app.sqlite")
        #expect(pool.tenant == "acme")
        #expect(url == prodURL)
        #expect(maybe == nil)
        #expect(try await container.resolve((any Clock).self).time == 42)
        let owner = try await container.resolve(Owner.self)
        #expect(owner.pet == Pet(name: "Rex"))
        #expect(owner.city == City(name: "Oslo"))

        try await container.withScope("request-42") { scope in
            let user = try await container.resolve(CurrentUser.self)
            #expect(user === (try await scope.resolve(CurrentUser.self)))
            #expect(user.db === db)
            // The body runs in the caller's isolation: the actor's own state is at hand.
            requests += 1
        }
        try await container.dispose()
        #expect(await users.client.isShutDown)
    }
}
