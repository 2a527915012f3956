import Testing

@testable import AsyncDI

private actor Pool {
    let name: String
    private(set) var isClosed = false

    init(_ name: String) { self.name = name }
    func close() { isClosed = true }
}
private struct Missing: Sendable {}
private struct Work: Sendable {
    let pool: Pool?
    var missing: Missing?
}
private protocol Exporter: Sendable {
    var pool: Pool { get }
}
private struct PoolExporter: Exporter {
    let pool: Pool
}
private struct Exports: Sendable {
    let all: [any Exporter]
    let byName: [String: any Exporter]
}
private struct Optionals: Sendable {
    let all: [any Exporter]?
    let byName: [Int: any Exporter]?
}
private struct LaterWork: Sendable {
    let pool: Lazy<Pool>
}

/// Parameters of `using:with:` that are leased and wrap a service.
@Suite(.timeLimit(.minutes(10))) struct LeasedParameterTests {
    private func codes(_ container: Container) async throws -> [ResolutionError.Code] {
        try await container.validationReport().problems.map(\.code)
    }

    /// Resolves a service in a scope, and expects that a reset closes none of its pools before the scope ends.
    private func expectLease<Service: Sendable>(
        of pools: (Service) throws -> [Pool], in container: Container
    ) async throws {
        #expect(try await codes(container) == [])
        let scope = try await container.openScope()
        let leased = try pools(try await scope.resolve(Service.self))
        #expect(!leased.isEmpty)
        try await container.reset()
        for pool in leased { #expect(await !pool.isClosed) }
        try await scope.dispose()
        try await container.dispose()
        for pool in leased { #expect(await pool.isClosed) }
    }

    @Test func `an optional service is leased where it is registered`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .singleton) { _ in Pool("a") }.onDispose { await $0.close() }
            Registration(using: Work.init, with: .leased, .leased, lifetime: .scoped)
        }
        try await expectLease(of: { (work: Work) in [try #require(work.pool)] }, in: container)
    }

    @Test func `an optional service with arguments is leased`() async throws {
        let container = Container {
            Registration(instance: "a")
            Registration(Pool.self, lifetime: .multiton) { (_, name: String) in Pool(name) }
                .onDispose { await $0.close() }
            Registration(using: Work.init, with: .leased(by: String.self), .resolved, lifetime: .scoped)
        }
        try await expectLease(of: { (work: Work) in [try #require(work.pool)] }, in: container)
    }

    @Test func `every contribution is leased`() async throws {
        let container = Container {
            for name in ["a", "b"] {
                Registration((any Exporter).self, lifetime: .singleton) { _ in PoolExporter(pool: Pool(name)) }
                    .dependencies().intoMany(key: name).onDispose { await $0.pool.close() }
            }
            Registration(using: Exports.init, with: .leased, .leased, lifetime: .scoped)
        }
        try await expectLease(
            of: { (exports: Exports) in exports.all.map(\.pool) + exports.byName.values.map(\.pool) }, in: container)
    }

    @Test func `an optional service without a registration is nil`() async throws {
        let container = Container {
            Registration(expected: Pool.self)
            Registration((any Exporter).self, lifetime: .singleton) { _ in PoolExporter(pool: Pool("a")) }
                .dependencies().intoMany(key: "a")
            Registration(using: Work.init, with: .leased, .leased, lifetime: .scoped)
            Registration(using: Optionals.init, with: .leased, .leased, lifetime: .scoped)
        }
        #expect(try await codes(container) == [])
        let work = try await container.resolve(Work.self)
        #expect(work.pool == nil && work.missing == nil)
        let optionals = try await container.resolve(Optionals.self)
        #expect(optionals.all?.count == 1 && optionals.byName == nil)
        // With other arguments it is a mistake.
        try await container.register(Missing.self) { (_, _: Int) in Missing() }
        await container.unregister(Work.self)
        try await container.register(using: Work.init, with: .leased, .leased, lifetime: .scoped)
        await expect(.argumentMismatch) { try await container.resolve(Work.self) }
        try await container.dispose()
    }

    @Test func `a factory leases an optional service`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .singleton) { _ in Pool("a") }.onDispose { await $0.close() }
                .dependencies()
            Registration(Work.self, lifetime: .scoped) { r in
                Work(pool: try await r.lease(), missing: try await r.lease())
            }
        }
        try await expectLease(of: { (work: Work) in [try #require(work.pool)] }, in: container)
    }

    @Test func `a service that is resolved later cannot be leased`() async throws {
        let container = Container {
            Registration(Pool.self, lifetime: .singleton) { _ in Pool("a") }
            Registration(using: LaterWork.init, with: .leased, lifetime: .scoped)
        }
        #expect(try await codes(container) == [.invalidRegistration])
        let error = await expect(.invalidRegistration) { try await container.resolve(LaterWork.self) }
        #expect(
            error?.description.contains(
                "LaterWork leases Lazy<Pool>, which holds no instance. ") == true)
        #expect(
            error?.description.hasSuffix(
                "Use .resolved in place of .leased, and withInstance where the service is used.") == true)
    }
}
