import AsyncDI
import Hummingbird
import NotesService

/// Runs each request in a scope that lasts until the response's body has been written.
struct ScopePerBody: RouterMiddleware {
    let container: Container

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        let values = try await TenantScope(request, context, in: container)
        let body = try await BodyScope(in: container, values.registrations)
        var context = context
        context.services = ScopedServices(scope: body.scope)
        do {
            let response = try await next(request, context)
            if response.status.code >= 400 { _ = await body.failed(HTTPError(response.status)) }
            return body.lasting(through: response)
        } catch {
            throw await body.failed(error)
        }
    }
}
