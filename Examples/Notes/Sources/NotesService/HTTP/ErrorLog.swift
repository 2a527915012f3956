import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// Logs errors that are the server's: Hummingbird answers most of them with an empty 500, and only closes the
/// connection when a streamed body fails.
struct ErrorLog: RouterMiddleware {
    let readiness: Readiness

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            var response = try await next(request, context)
            // A streamed body is written after every middleware has returned.
            if response.body.contentLength == nil { response.body = logged(response.body, request, context) }
            return response
        } catch NotesError.ended where readiness.state == .draining {
            // The end of the shutdown has ended the work under its request.
            throw NotesError.closing
        } catch {
            log("the request failed", error, request, context)
            throw error
        }
    }

    private func logged(_ body: ResponseBody, _ request: Request, _ context: NotesContext) -> ResponseBody {
        ResponseBody { writer in
            do {
                try await body.write(writer)
            } catch  where !isOfClient(error) {
                log("the response is incomplete", error, request, context)
                throw error
            }
        }
    }

    private func log(_ message: Logger.Message, _ error: any Error, _ request: Request, _ context: NotesContext) {
        guard let level = level(of: error) else { return }
        context.logger.log(
            level: level, message,
            metadata: ["method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(error)"])
    }

    /// Nil for errors that are the client's, or belong to the shutdown.
    private func level(of error: any Error) -> Logger.Level? {
        switch error {
        case NotesError.closing: readiness.state == .draining ? nil : .error
        case let error as NotesError where error.status == .serviceUnavailable: .warning
        case let error as any HTTPResponseError where error.status.code < 500 || error.status == .serviceUnavailable:
            nil
        // The client has sent something else than HTTP, or has gone in the middle of its body.
        case is HTTPParserError: nil
        // The client has gone, or the server ends.
        case is CancellationError where Task.isCancelled: nil
        default: .error
        }
    }

    /// Whether writing failed because the client has gone.
    private func isOfClient(_ error: any Error) -> Bool {
        error is ChannelError || error is IOError || error is NIOAsyncWriterError
    }
}
