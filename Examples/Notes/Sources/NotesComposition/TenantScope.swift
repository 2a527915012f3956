import AsyncDI
import Hummingbird
import Logging
import NotesService
import Tracing

/// Values that a scope for a tenant supplies, in one registration: each one costs every request something.
struct TenantScope: Sendable {
    let tenant: TenantName
    let info: RequestInfo
    private(set) var logger: Logger
    let trace = InstrumentationContext.current ?? .topLevel

    /// The scope of a request to a tenant's routes.
    init(_ request: Request, _ context: NotesContext, in container: Container) async throws {
        tenant = try await context.tenant(in: container.ready(Catalogue.self))
        info = context.info(of: request)
        logger = context.logger
        logger[metadataKey: "tenant"] = "\(tenant)"
    }

    /// The scope of a job.
    init(job name: String, tenant: TenantName, logger: Logger) {
        self.tenant = tenant
        info = RequestInfo(id: name, method: "JOB", path: name)
        self.logger = logger
    }

    @RegistrationBuilder var registrations: Registrations {
        Registration(instance: self)
    }
}

/// Handlers of a request, out of its scope.
struct ScopedServices: RequestServices {
    let scope: Container

    func notes() async throws -> NoteHandlers { try await scope.resolve() }
    func batch() async throws -> BatchHandler { try await scope.resolve() }
    func export() async throws -> ExportHandler { try await scope.resolve() }
    func whoAmI() async throws -> WhoAmIHandler { try await scope.resolve() }
}
