import AsyncDI
import Testing

/// The guide "Multitons", run.
@Suite(.timeLimit(.minutes(10)))
struct MultitonsTests {
    private func makeContainer() -> Container {
        Container {
            Registration(TenantPool.self, lifetime: .multiton(capacity: 100, idle: .seconds(600))) { _, tenant in
                try await TenantPool(tenant)
            }
            .onDispose { pool in await pool.close() }
            Registration(expected: Request.self)
            Registration(
                using: UnitOfWork.init, with: .leased(by: { (request: Request) in request.tenant }), lifetime: .scoped
            )
        }
    }

    @Test func `leases`() async throws {
        let container = makeContainer()
        let rows = try await container.withInstance(TenantPool.self, arguments: "acme") { pool in
            try await pool.query("select 1")
        }
        #expect(rows == ["acme: select 1"])
        let pool = try await container.withScope {
            Registration(instance: Request(tenant: "acme"))
        } operation: { scope in
            let work = try await scope.resolve(UnitOfWork.self)
            try await container.reset(TenantPool.self)
            #expect(await !work.pool.isClosed)
            return work.pool
        }
        try await container.dispose()
        #expect(await pool.isClosed)
    }

    @Test func `cached arguments`() async throws {
        let container = makeContainer()
        _ = try await container.resolve(TenantPool.self, arguments: "acme")
        let tenants = await container.cachedArguments(of: TenantPool.self, String.self)
        try await container.reset(TenantPool.self, arguments: "acme")  // this one
        try await container.reset(TenantPool.self)  // all of them
        try await container.reset(.multiton)  // every multiton of the container
        #expect(tenants == ["acme"])
        #expect(await container.cachedArguments(of: TenantPool.self, String.self).isEmpty)
        try await container.dispose()
    }
}

private actor TenantPool {
    let tenant: String
    private(set) var isClosed = false

    init(_ tenant: String) async throws { self.tenant = tenant }
    func query(_ text: String) throws -> [String] { ["\(tenant): \(text)"] }
    func close() { isClosed = true }
}

private struct Request: Sendable {
    let tenant: String
}

private final class UnitOfWork: Sendable {
    let pool: TenantPool
    init(pool: TenantPool) { self.pool = pool }
}
