import Hummingbird
import Logging
import NIOHTTP1

/// Logs errors that are the server's: Hummingbird answers most of them with an empty 500.
struct ErrorLog: RouterMiddleware {
    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as NotesError where error.status == .serviceUnavailable && error != .closing {
            log(.warning, error, request, context)
            throw error
        } catch let error as any HTTPResponseError where error.status.code < 500 || error.status == .serviceUnavailable
        {
            throw error
        } catch let error as HTTPParserError {
            // The client has sent something else than HTTP, or has gone in the middle of its body.
            throw error
        } catch is CancellationError where Task.isCancelled {
            // The client has gone, or the server ends.
            throw CancellationError()
        } catch {
            log(.error, error, request, context)
            throw error
        }
    }

    private func log(_ level: Logger.Level, _ error: any Error, _ request: Request, _ context: NotesContext) {
        context.logger.log(
            level: level, "the request failed",
            metadata: ["method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(error)"])
    }
}
