import Hummingbird
import Logging

/// Logs errors that are the server's: Hummingbird answers most of them with an empty 500.
struct ErrorLog: RouterMiddleware {
    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError where error.status.code < 500 || error.status == .serviceUnavailable
        {
            throw error
        } catch is CancellationError where Task.isCancelled {
            // The client has gone, or the server ends.
            throw CancellationError()
        } catch {
            context.logger.error(
                "the request failed",
                metadata: ["method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(error)"])
            throw error
        }
    }
}
