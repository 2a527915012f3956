import Testing

@testable import AsyncDI

private struct Tenant: Hashable, Sendable {
    var name = "acme"
}
private struct Request: Sendable {
    let tenant: Tenant
}
private actor Pool {
    let tenant: String
    private(set) var isClosed = false

    init(_ tenant: String) { self.tenant = tenant }
    func close() { isClosed = true }
}
private struct Journal: Sendable {}
private struct UnitOfWork: Sendable {
    let pool: Pool
    let log: Journal
}
private struct Client: Sendable {
    let url: String
    let log: Journal
    var isVerbose = false
}
private struct Document: Sendable {
    let title: String
    let log: Journal
}

/// Notes its parameters, in their order.
private struct Form: Sendable {
    let fields: [String]

    init(title: String, url: String, tenant: Tenant) { fields = [title, url, tenant.name] }
    init(title: String, url: String, tenant: Tenant, pool: Pool) {
        fields = [title, url, tenant.name, "pool of " + pool.tenant]
    }
    init(title: String, url: String, tenant: Tenant, pool: Pool, copies: Int) {
        fields = [title, url, tenant.name, "pool of " + pool.tenant, "\(copies)"]
    }
    init(title: String, url: String, tenant: Tenant, pool: Pool, copies: Int, log: Journal) {
        self.init(title: title, url: url, tenant: tenant, pool: pool, copies: copies)
    }
}

/// Initializers of which each parameter says where it comes from.
@Suite(.timeLimit(.minutes(10))) struct UsingWithTests {
    @Test func `shared dependencies behind an optional or an array are created concurrently too`() async throws {
        struct First: Sendable {}
        struct Second: Sendable {}
        struct Pair: Sendable {}
        let (first, second) = (Gate(), Gate())
        let container = Container {
            // Each one ends when the other one has begun.
            Registration(First.self, lifetime: .singleton) { _ in
                first.arrive()
                await second.arrived()
                return First()
            }
            Registration(Second.self, lifetime: .singleton) { _ in
                second.arrive()
                await first.arrived()
                return Second()
            }
            Registration(First.self, lifetime: .singleton) { resolver in try await resolver.resolve() }
                .intoMany(key: "first")
            Registration(using: { (_: First?, _: Second) in Pair() }, lifetime: .scoped)
            Registration(using: { (_: [String: First], _: Second) in Pair() }, qualifier: "map", lifetime: .transient)
        }
        try await container.withScope("request") { _ = try await $0.resolve(Pair.self) }
        try await container.reset()
        _ = try await container.resolve(Pair.self, qualifier: "map")
    }

    @Test(arguments: [Lifetime.graph, .scoped])
    func `parameters behind qualified wrappers are created concurrently too`(lifetime: Lifetime) async throws {
        struct First: Sendable {}
        struct Second: Sendable {}
        struct Pair: Sendable {}
        for name in ["optional", "array"] {
            let started = Gate()
            let container = Container {
                Registration(First.self, lifetime: .singleton) { _ in
                    started.arrive()
                    await started.arrived(2)
                    return First()
                }
                Registration(Second.self, qualifier: "q", lifetime: .singleton) { _ in
                    started.arrive()
                    await started.arrived(2)
                    return Second()
                }
                Registration(Second.self, qualifier: "q", lifetime: .singleton) { resolver in
                    try await resolver.resolve(qualifier: "q")
                }
                .intoMany()
                Registration(
                    using: { (_: First, _: Second?) in Pair() }, with: .resolved, .qualified("q"),
                    qualifier: "optional", lifetime: lifetime)
                Registration(
                    using: { (_: First, _: [Second]) in Pair() }, with: .resolved, .qualified("q"),
                    qualifier: "array", lifetime: lifetime)
            }
            try await container.withScope("request") { _ = try await $0.resolve(Pair.self, qualifier: name) }
            try await container.dispose()
        }
    }

    @Test func `a parameter is resolved by its qualifier`() async throws {
        let container = Container {
            Registration(String.self, qualifier: "api", instance: "https://api")
            Registration(String.self, qualifier: "www", instance: "https://www")
            Registration(Journal.self) { _ in Journal() }
            Registration(
                using: { (url: String, log: Journal) in Client(url: url, log: log, isVerbose: true) },
                with: .qualified("api"), .resolved)
        }
        #expect(try await problems(container) == [])
        let client = try await container.resolve(Client.self)
        #expect(client.url == "https://api" && client.isVerbose)
        #expect(
            try await container.declaredGraph().dependencies(of: "Client") == ["Journal", "String[api]"])
    }

    @Test(arguments: [Lifetime.singleton, .graph])
    func `three, four and more parameters each have a source`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(String.self, qualifier: "api", lifetime: lifetime) { _ in "https://api" }
            Registration(Tenant.self, lifetime: lifetime) { _ in Tenant() }
            Registration(Journal.self, lifetime: lifetime) { _ in Journal() }
            Registration(Pool.self, lifetime: .multiton) { (_, tenant: Tenant) in Pool(tenant.name) }
            Registration(using: Form.init(title:url:tenant:), with: .argument, .qualified("api"), .resolved)
            Registration(
                using: Form.init(title:url:tenant:pool:),
                with: .argument, .qualified("api"), .resolved, .leased(by: Tenant.self),
                qualifier: "four", lifetime: .multiton)
            Registration(
                using: Form.init(title:url:tenant:pool:copies:),
                with: .argument, .qualified("api"), .resolved, .resolved(by: Tenant.self), .argument,
                qualifier: "five")
            Registration(
                using: Form.init(title:url:tenant:pool:copies:log:),
                with: .argument, .qualified("api"), .resolved, .resolved(by: Tenant.self), .argument, .resolved,
                qualifier: "six")
        }
        #expect(try await problems(container) == [])
        let fields = ["Letter", "https://api", "acme", "pool of acme", "2"]
        for _ in 0..<2 {
            #expect(try await container.resolve(Form.self, arguments: "Letter").fields == Array(fields.prefix(3)))
            let four = try await container.resolve(Form.self, qualifier: "four", arguments: "Letter")
            #expect(four.fields == Array(fields.prefix(4)))
            for name in ["five", "six"] {
                let form = try await container.resolve(Form.self, qualifier: name, arguments: "Letter", 2)
                #expect(form.fields == fields)
            }
            try await container.reset(.singleton)
        }
        try await container.dispose()
    }

    @Test func `the missing dependency of a parameter is found`() async throws {
        let container = Container {
            Registration(String.self, qualifier: "www", instance: "https://www")
            Registration(
                using: { (url: String, log: Journal) in Client(url: url, log: log) },
                with: .qualified("api"), .resolved)
            Registration(using: UnitOfWork.init, with: .leased(by: Tenant.self), .resolved, lifetime: .scoped)
            Registration(using: Document.init(title:log:), taking: String.self, lifetime: .multiton)
        }
        #expect(
            try await problems(container) == [
                "notRegistered: Client → String[api]", "notRegistered: Client → Journal",
                "notRegistered: UnitOfWork → Tenant", "notRegistered: UnitOfWork → Pool(Tenant)",
                "notRegistered: UnitOfWork → Journal", "notRegistered: Document(String) → Journal",
            ])
        #expect(try await container.validationReport().opaque.isEmpty)
    }

    @Test func `a multiton is leased by an argument that is resolved, for as long as the instance lasts`() async throws
    {
        let container = Container {
            Registration(
                Pool.self, lifetime: .multiton(capacity: 1), keyedBy: { (tenant: Tenant) in tenant.name },
                factory: { _, tenant in Pool(tenant.name) }
            )
            .onDispose { pool in await pool.close() }
            Registration(Journal.self) { _ in Journal() }
            Registration(expected: Request.self)
            Registration(
                using: UnitOfWork.init, with: .leased(by: { (request: Request) in request.tenant }), .resolved,
                lifetime: .scoped)
        }
        #expect(try await problems(container) == [])
        let pool = try await container.withScope {
            Registration(instance: Request(tenant: Tenant(name: "one")))
        } operation: { scope in
            let work = try await container.resolve(UnitOfWork.self)
            // Would be evicted, were it not leased.
            _ = try await container.resolve(Pool.self, arguments: Tenant(name: "two"))
            #expect(await container.cachedArguments(of: Pool.self, String.self).sorted() == ["one", "two"])
            #expect(work.pool.tenant == "one")
            return work.pool
        }
        _ = try await container.resolve(Pool.self, arguments: Tenant(name: "three"))
        try await container.dispose()
        #expect(await pool.isClosed)
    }

    @Test func `an argument may be a service, or made from one`() async throws {
        let container = Container {
            Registration(Tenant.self, instance: Tenant(name: "blue"))
            Registration(Pool.self) { (_, tenant: Tenant) in Pool(tenant.name) }
            Registration(Pool.self, qualifier: "named") { (_, name: String) in Pool("\(name)!") }
            Registration(using: { (pool: Pool) in [pool] }, with: .resolved(by: Tenant.self))
            Registration(
                using: { (first: Pool, second: Pool) in (first, second).1 },
                with: .leased(by: Tenant.self), .resolved(by: { (tenant: Tenant) in tenant.name }, qualifier: "named"),
                qualifier: "both", lifetime: .scoped)
        }
        #expect(try await container.resolve([Pool].self).first?.tenant == "blue")
        #expect(try await container.resolve(Pool.self, qualifier: "both").tenant == "blue!")
    }

    @Test func `the first parameter may be an argument of the request`() async throws {
        let container = Container {
            Registration(Journal.self) { _ in Journal() }.dependencies()
            Registration(using: Document.init(title:log:), taking: String.self, lifetime: .multiton)
            Registration(using: { (count: Int) in Pool("\(count)") }, taking: Int.self, as: Pool.self)
        }
        #expect(try await problems(container) == [])
        #expect(try await container.resolve(Document.self, arguments: "Letter").title == "Letter")
        #expect(try await container.resolve(Pool.self, arguments: 7).tenant == "7")
        #expect(try await container.validationReport().opaque.isEmpty)
    }

    @Test func `any parameters may be arguments, beside others from elsewhere`() async throws {
        let container = Container {
            Registration(String.self, qualifier: "api", instance: "https://api")
            Registration(Journal.self) { _ in Journal() }.dependencies()
            Registration(
                using: { (number: Int, url: String, log: Journal, title: String?) in
                    Client(url: "\(url)/\(number)/\(title ?? "-")", log: log)
                }, with: .argument, .qualified("api"), .resolved, .argument, lifetime: .multiton)
        }
        #expect(try await problems(container) == [])
        #expect(await container.isRegistered(Client.self, arguments: Int.self, String?.self))
        #expect(
            try await container.declaredGraph().dependencies(of: "Client(Int, String?)") == ["Journal", "String[api]"])
        let absent: String? = nil
        #expect(try await container.resolve(Client.self, arguments: 7, absent).url == "https://api/7/-")
        #expect(try await container.resolve(Client.self, arguments: 7, "a" as String?).url == "https://api/7/a")
        #expect(await container.cachedArguments(of: Client.self, Int.self, String?.self).count == 2)
        await expect(.argumentMismatch) {
            try await container.resolve(Client.self, arguments: "a" as String?, 7)
        }
    }

    @Test(arguments: [false, true])
    func `shared parameters that must be created are created concurrently`(isLongLived: Bool) async throws {
        let (first, second, third) = (Gate(), Gate(), Gate())
        let made = Counter()
        let container = Container {
            // Each ends only after all have begun.
            Registration(String.self, qualifier: "api", lifetime: .singleton) { _ in
                first.open()
                await second.pass()
                await third.pass()
                return "api"
            }
            Registration(Journal.self, lifetime: .singleton) { _ in
                second.open()
                await first.pass()
                await third.pass()
                return Journal()
            }
            Registration(Tenant.self, instance: Tenant(name: "blue"))
            Registration(Pool.self, lifetime: .multiton) { (_, name: String) in
                third.open()
                await first.pass()
                await second.pass()
                return Pool(name)
            }
            Registration(
                using: { (url: String, log: Journal, pool: Pool, count: Int) in
                    Document(title: "\(url) \(pool.tenant) \(count)", log: log)
                },
                with: .qualified("api"), .resolved,
                .leased(by: { (tenant: Tenant) in
                    made.increment()
                    return tenant.name
                }), .argument, lifetime: isLongLived ? .multiton : .scoped)
        }
        #expect(try await container.resolve(Document.self, arguments: 5).title == "api blue 5")
        #expect(made.value == 1)
        // Now that they exist, nothing waits.
        #expect(try await container.resolve(Document.self, arguments: 6).title == "api blue 6")
        #expect(made.value == 2)
    }

    @Test func `the error of one of several parameters is the caller's, unchanged`() async throws {
        struct Failure: Error {}
        let container = Container {
            Registration(String.self, qualifier: "api", lifetime: .singleton) { _ in throw Failure() }
            Registration(Journal.self, lifetime: .singleton) { _ in Journal() }
            Registration(
                using: { (url: String, log: Journal) in Client(url: url, log: log) },
                with: .qualified("api"), .resolved)
        }
        await #expect(throws: Failure.self) { try await container.resolve(Client.self) }
    }

    @Test func `a lease for an instance that no container owns is an invalid registration`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .singleton) { _ in Pool("one") }.dependencies()
            Registration(Journal.self) { _ in Journal() }.dependencies()
            Registration(using: UnitOfWork.init, with: .leased, .resolved)
            Registration(using: UnitOfWork.init, with: .leased, .resolved, qualifier: "short", lifetime: .transient)
            Registration(using: UnitOfWork.init, with: .leased, .resolved, qualifier: "scope", lifetime: .scoped)
        }
        #expect(
            try await problems(container) == [
                "invalidRegistration: UnitOfWork", "invalidRegistration: UnitOfWork[short]",
            ])
        let error = await expect(.invalidRegistration) { try await container.resolve(UnitOfWork.self) }
        #expect(error?.description.contains("UnitOfWork is graph and leases Pool") == true)
        _ = try await container.resolve(UnitOfWork.self, qualifier: "scope")
        // The container's own default lifetime counts.
        let scoped = Container(defaultLifetime: .scoped) {
            Registration(Pool.self) { _ in Pool("one") }
            Registration(Journal.self) { _ in Journal() }
            Registration(using: UnitOfWork.init, with: .leased, .resolved)
        }
        #expect(try await problems(scoped) == [])
    }

    @Test func `registrations with parameter sources are added later`() async throws {
        let container = Container()
        try await container.register(String.self, qualifier: "api", instance: "api")
        try await container.register(Journal.self) { _ in Journal() }
        try await container.register(using: { (url: String) in url.count }, with: .qualified("api"))
        try await container.register(
            using: Client.init(url:log:isVerbose:), with: .qualified("api"), .resolved, .argument)
        try await container.register(
            using: { (url: String, log: Journal) in Client(url: url, log: log) }, with: .qualified("api"), .resolved)
        try await container.register(
            using: { (a: String, b: String, c: String, d: Int) in [a, b, c, "\(d)"] },
            with: .qualified("api"), .argument, .argument, .resolved)
        try await container.register(
            using: { (a: Int, b: Int, c: Int, d: Int, e: Int) in [a, b, c, d, e] },
            with: .resolved, .resolved, .resolved, .resolved, .argument)
        try await container.register(using: Document.init(title:log:), taking: String.self)
        #expect(try await container.resolve(Int.self) == 3)
        #expect(try await container.resolve(Client.self).url == "api")
        #expect(try await container.resolve(Client.self, arguments: true).isVerbose)
        #expect(try await container.resolve([String].self, arguments: "b", "c") == ["api", "b", "c", "3"])
        #expect(try await container.resolve([Int].self, arguments: 9) == [3, 3, 3, 3, 9])
        #expect(try await container.resolve(Document.self, arguments: "Letter").title == "Letter")
        await expect(.invalidRegistration) {
            try await container.register(using: UnitOfWork.init, with: .leased, .resolved)
        }
    }
}
