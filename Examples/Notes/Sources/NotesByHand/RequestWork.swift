import Logging
import NotesService
import Synchronization
import Tracing

/// Handlers of one request and its unit of work, put together by hand.
final class RequestWork: RequestServices {
    private let tenant: TenantName
    private let info: RequestInfo
    private let logger: Logger
    private let trace: InstrumentationContext
    private let pool: TenantPool
    private let work = Mutex<UnitOfWork?>(nil)

    init(tenant: TenantName, info: RequestInfo, logger: Logger, trace: InstrumentationContext, pool: TenantPool) {
        self.tenant = tenant
        self.info = info
        self.logger = logger
        self.trace = trace
        self.pool = pool
    }

    func notes() async throws -> NoteHandlers { try await NoteHandlers(notes: repository()) }
    func batch() async throws -> BatchHandler { try await BatchHandler(notes: repository()) }
    func export() async throws -> ExportHandler { try await ExportHandler(notes: repository()) }
    func whoAmI() async throws -> WhoAmIHandler { WhoAmIHandler(tenant: tenant, info: info, logger: logger) }
    func retention() async throws -> Retention {
        try await Retention(notes: repository(), tenant: tenant, logger: logger)
    }

    /// Commits the unit of work or rolls it back, and ends the lease.
    func end(_ error: (any Error)?) async throws {
        guard let work = work.withLock({ $0.take() }) else { return }
        // In a task of its own, because the request's may be cancelled.
        try await Task { [pool, tenant] in
            defer { pool.release(tenant) }
            if let error { try await work.rollBack(because: error) } else { try await work.commit() }
        }.value
    }

    /// Creates the unit of work at the first use; a handler uses it from one task.
    private func repository() async throws -> any NoteRepository {
        if let work = work.withLock({ $0 }) { return SQLNoteRepository(work: work) }
        let made = try await UnitOfWork(database: pool.lease(tenant), trace: trace)
        work.withLock { $0 = made }
        return SQLNoteRepository(work: made)
    }
}
