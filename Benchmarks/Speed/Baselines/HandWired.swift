/// The tenants' pools, with a count of the requests that use each: a pool that is in use is not closed.
///
/// `@unchecked Sendable` because the dictionary is touched only while the mutex is held.
final class LeasedPools: @unchecked Sendable {
    private struct Entry {
        let pool: TenantPool
        var leases: Int
    }

    private let database: Database
    private let mutex = Mutex()
    private var entries: [String: Entry] = [:]

    init(_ database: Database) { self.database = database }

    func lease(_ tenant: String) -> TenantPool {
        mutex.withLock {
            if let entry = entries[tenant] {
                entries[tenant]?.leases += 1
                return entry.pool
            }
            let pool = TenantPool(tenant, of: database)
            entries[tenant] = Entry(pool: pool, leases: 1)
            return pool
        }
    }

    func giveBack(_ tenant: String) {
        mutex.withLock { entries[tenant]?.leases -= 1 }
    }
}

/// Baseline **H**: a server whose requests are wired by hand.
final class HandWiredServer: Sendable {
    private let pools: LeasedPools

    init(_ database: Database) { pools = LeasedPools(database) }

    @inline(never)
    nonisolated(nonsending) func handle(_ number: Int, of tenant: String) async throws -> Int {
        let request = IncomingRequest(number: number, tenant: tenant)
        let trace = Trace(number: number)
        let pool = pools.lease(tenant)
        defer { pools.giveBack(tenant) }
        let unit = UnitOfWork(pool: pool, request: request)
        let response: Int
        do {
            let repository = OrderRepository(unit: unit, trace: trace)
            response = try await OrderHandler(repository: repository, request: request).respond()
        } catch {
            await unit.rollBack()
            throw error
        }
        try await unit.commit()
        return response
    }
}

/// The tenants' connections, with a count of the jobs that use each; opening one takes a while, so an actor has them.
actor LeasedConnections {
    private struct Entry {
        let opening: Task<Connection, any Error>
        var leases = 0
    }

    private let database: Database
    private var entries: [String: Entry] = [:]

    init(_ database: Database) { self.database = database }

    func lease(_ tenant: String) async throws -> Connection {
        var entry = entries[tenant] ?? Entry(opening: Task { [database] in try await Connection.open(to: database) })
        entry.leases += 1
        entries[tenant] = entry
        return try await entry.opening.value
    }

    func giveBack(_ tenant: String) { entries[tenant]?.leases -= 1 }
}

/// Baseline **H**: a worker whose jobs are wired by hand.
final class HandWiredWorker: Sendable {
    private let connections: LeasedConnections
    private let handlers: [Job.Kind: any JobHandler]

    init(_ database: Database) {
        connections = LeasedConnections(database)
        handlers = Dictionary(uniqueKeysWithValues: Job.Kind.allCases.map { ($0, SomeJobHandler()) })
    }

    @inline(never)
    nonisolated(nonsending) func run(_ job: Job) async throws {
        let connection = try await connections.lease(job.tenant)
        do {
            try await run(job, over: connection)
        } catch {
            await connections.giveBack(job.tenant)
            throw error
        }
        await connections.giveBack(job.tenant)
    }

    private nonisolated(nonsending) func run(_ job: Job, over connection: Connection) async throws {
        let work = JobWork(job: job, connection: connection)
        do {
            try await JobRunner(job: job, work: work, handlers: handlers).run()
        } catch {
            await work.rollBack()
            throw error
        }
        try await work.commit()
    }
}
