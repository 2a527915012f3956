import Hummingbird
import Logging

/// Context of a request on its way through the middlewares to its handler.
package struct NotesContext: RequestContext {
    package var coreContext: CoreRequestContextStorage

    /// Set by the middleware around a tenant's routes.
    package var services: (any RequestServices)?

    package init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }

    /// Tenant of the path, which must exist.
    package func tenant(in catalogue: Catalogue) async throws -> TenantName {
        try await catalogue.tenant(parameters.require("tenant"))
    }

    package func info(of request: Request) -> RequestInfo {
        // Hummingbird's `id` insists on a log handler that keeps metadata.
        let id = logger[metadataKey: "hb.request.id"]?.description ?? "-"
        return RequestInfo(id: id, method: request.method.rawValue, path: request.uri.path)
    }

    func requireServices() throws -> any RequestServices {
        guard let services else { throw HTTPError(.internalServerError, message: "the route has no middleware") }
        return services
    }
}

/// Source of the handlers of one request.
///
/// Handlers and routes know this protocol only, and neither a container nor its absence.
package protocol RequestServices: Sendable {
    func notes() async throws -> NoteHandlers
    func batch() async throws -> BatchHandler
    func export() async throws -> ExportHandler
    func whoAmI() async throws -> WhoAmIHandler
}
