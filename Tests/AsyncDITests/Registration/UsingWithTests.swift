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

/// Initializers of which each parameter says where it comes from.
@Suite(.timeLimit(.minutes(10))) struct UsingWithTests {
    private func problems(_ container: Container) async throws -> [String] {
        try await container.validationReport().problems.map { "\($0.code): " + $0.names.joined(separator: " → ") }
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

    @Test func `what such a parameter lacks is found`() async throws {
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
}
