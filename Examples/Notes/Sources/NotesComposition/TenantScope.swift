import AsyncDI
import Hummingbird
import Logging
import NotesService
import Tracing

/// Values that a scope for a tenant supplies.
struct TenantScope {
    let tenant: TenantName
    let info: RequestInfo
    var logger: Logger

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
        Registration(instance: tenant)
        Registration(instance: info)
        Registration(instance: logger)
        Registration(instance: InstrumentationContext.current ?? .topLevel)
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
