import AsyncDI
import Logging
import NotesService
import Tracing

/// Services of a single request or job.
struct RequestModule: Module {
    var registrations: Registrations {
        // Each scope supplies these, see `TenantScope`.
        Registration(expected: TenantName.self)
        Registration(expected: Logger.self)
        Registration(expected: InstrumentationContext.self)
        Registration(expected: RequestInfo.self)

        // The lease keeps the database open until the transaction has ended.
        Registration(using: UnitOfWork.init, with: .leased(by: TenantName.self), .resolved, lifetime: .scoped)
            .onDispose { work, reason in
                if let error = reason.error { try await work.rollBack(because: error) } else { try await work.commit() }
            }

        Registration(using: SQLNoteRepository.init, as: (any NoteRepository).self)
        Registration(using: NoteHandlers.init)
        Registration(using: BatchHandler.init)
        Registration(using: ExportHandler.init)
        Registration(using: WhoAmIHandler.init)
        Registration(using: Retention.init)
    }
}
