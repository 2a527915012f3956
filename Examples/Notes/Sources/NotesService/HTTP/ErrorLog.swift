import Hummingbird
import Logging

/// Logs errors that the client learns nothing about.
///
/// Hummingbird answers them with an empty 500. A response of the service itself, also one of a server that is closing, is
/// no such error.
struct ErrorLog: RouterMiddleware {
    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError where error.status.code < 500 || error.status == .serviceUnavailable
        {
            throw error
        } catch {
            context.logger.error(
                "the request failed",
                metadata: ["method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(error)"])
            throw error
        }
    }
}
