import AsyncDI
import Hummingbird
import NotesService

/// Runs each request in a scope that lasts until the response's body has been written.
///
/// The scope ends with an error when the handler throws, when its response says failure, when writing fails, and when
/// the response is dropped unwritten. It commits after the body, so its routes only read: a client that has the whole
/// response takes it for stored.
struct ScopePerBody: RouterMiddleware {
    let container: Container

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        let values = try await TenantScope(request, context, in: container)
        let scope = try OwnedScope(in: container, name: values.info.id, isDrained: true) { values.registrations }
        let response = try await scope.run { current in
            var context = context
            context.services = ScopedServices(scope: current)
            return try await next(request, context)
        }
        guard response.status.code < 400 else {
            try? await scope.end(failing: HTTPError(response.status))
            return response
        }
        return scope.lasting(through: response)
    }
}

extension OwnedScope {
    /// Returns the response with a body that ends the scope.
    func lasting(through response: Response) -> Response {
        var response = response
        let body = response.body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await self.finish { _ in try await body.write(writer) }
        }
        return response
    }
}
