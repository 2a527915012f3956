import AsyncDI
import Hummingbird
import NotesService

/// Answers requests that come too late: their container is draining or disposed.
///
/// Before the shutdown, the same error is a mistake of the service, such as a use of a scope that has ended.
struct ClosedIsUnavailable: RouterMiddleware {
    typealias Context = NotesContext

    let readiness: Readiness

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch ResolutionError.Code.disposed where readiness.state == .draining {
            throw NotesError.closing
        }
    }
}
