import AsyncDI
import Hummingbird
import NotesService

/// Answers requests that come too late: their container is draining or disposed.
struct ClosedIsUnavailable: RouterMiddleware {
    typealias Context = NotesContext

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch ResolutionError.Code.disposed {
            throw NotesError.closing
        }
    }
}
