import Synchronization

/// A request as it arrives at a server.
struct IncomingRequest: Sendable {
    let number: Int
    let tenant: String
}

/// Says which trace the log of a request belongs to.
struct Trace: Sendable { let number: Int }

/// Counts commits.
final class Database: Sendable {
    private let count = Atomic(0)

    var commits: Int { count.load(ordering: .relaxed) }

    func commit() { count.add(1, ordering: .relaxed) }
}

/// A tenant's connections.
final class TenantPool: Sendable {
    let tenant: String
    let database: Database

    init(_ tenant: String, of database: Database) {
        self.tenant = tenant
        self.database = database
    }
}

/// Everything that a request changes, committed at its end.
final class UnitOfWork: Sendable {
    let pool: TenantPool
    private let request: IncomingRequest

    init(pool: TenantPool, request: IncomingRequest) {
        self.pool = pool
        self.request = request
    }

    func commit() async throws { pool.database.commit() }

    func rollBack() async {}
}

final class OrderRepository: Sendable {
    private let unit: UnitOfWork
    private let trace: Trace

    init(unit: UnitOfWork, trace: Trace) {
        self.unit = unit
        self.trace = trace
    }

    func order(_ number: Int) async throws -> Int { unit.pool.tenant.utf8.count + number + trace.number }
}

final class OrderHandler: Sendable {
    private let repository: OrderRepository
    private let request: IncomingRequest

    init(repository: OrderRepository, request: IncomingRequest) {
        self.repository = repository
        self.request = request
    }

    @inline(never)
    func respond() async throws -> Int { try await repository.order(request.number) }
}

/// The tenants whose requests come in turns.
let tenants = (0..<100).map { "tenant-\($0)" }
