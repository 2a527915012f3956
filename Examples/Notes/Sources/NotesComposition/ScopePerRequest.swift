import AsyncDI
import Hummingbird
import NotesService

/// Runs each request in a scope of its own, whose unit of work is committed before the response is sent.
///
/// The unit of work is rolled back when the handler throws or is cancelled, when its response says failure, and when
/// the container is disposed meanwhile.
struct ScopePerRequest: RouterMiddleware {
    let container: Container

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        let values = try await TenantScope(request, context, in: container)
        do {
            return try await container.withScope(values.info.id) {
                values.registrations
            } operation: { scope in
                var context = context
                context.services = ScopedServices(scope: scope)
                let response = try await next(request, context)
                // Only an error rolls back, so a response that says failure leaves the scope as one.
                guard response.status.code < 400 else { throw Failure(response: response) }
                return response
            }
        } catch let failure as Failure {
            return failure.response
        }
    }

    private struct Failure: Error {
        let response: Response
    }
}
