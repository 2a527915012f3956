import AsyncDI
import NotesService

/// Services of a single request or job.
struct RequestModule: Module {
    var registrations: Registrations {
        Registration(expected: TenantScope.self)

        // The lease keeps the database open until the transaction has ended.
        Registration(
            using: { (database: TenantDatabase, scope: TenantScope) in
                UnitOfWork(database: database, trace: scope.trace)
            },
            with: .leased(by: { (scope: TenantScope) in scope.tenant }), .resolved, lifetime: .scoped
        )
        .onDispose { work, reason in
            if let error = reason.error { try await work.rollBack(because: error) } else { try await work.commit() }
        }

        // Values without a state of their own: nothing is gained by sharing them.
        Registration(using: SQLNoteRepository.init, as: (any NoteRepository).self, lifetime: .transient)
        Registration(using: NoteHandlers.init, lifetime: .transient)
        Registration(using: BatchHandler.init, lifetime: .transient)
        Registration(using: ExportHandler.init, lifetime: .transient)
        Registration(
            using: { (scope: TenantScope) in
                WhoAmIHandler(tenant: scope.tenant, info: scope.info, logger: scope.logger)
            }, lifetime: .transient)
        Registration(
            using: { (notes: any NoteRepository, scope: TenantScope) in
                Retention(notes: notes, tenant: scope.tenant, logger: scope.logger)
            }, lifetime: .transient)
    }
}
