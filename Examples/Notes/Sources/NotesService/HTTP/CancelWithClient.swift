import Hummingbird

/// Cancels a request whose client goes away before the response.
///
/// Hummingbird reads on in the connection to notice that, and closes the connection after the response, which says so.
/// So this is for requests that take long, not for every one.
struct CancelWithClient: RouterMiddleware {
    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        do {
            var response = try await request.body.consumeWithCancellationOnInboundClose { body in
                var request = request
                request.body = body
                return try await next(request, context)
            }
            response.headers[.connection] = "close"
            return response
        } catch is CancellationError where !Task.isCancelled {
            // A request that is cancelled while its task is not has lost its client.
            throw HTTPError(HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request"))
        } catch {
            throw LastError(error: error)
        }
    }

    /// An error whose response is the last one in its connection.
    private struct LastError: HTTPResponseError, CustomStringConvertible {
        let error: any Error

        var status: HTTPResponse.Status { (error as? any HTTPResponseError)?.status ?? .internalServerError }
        var description: String { "\(error)" }

        func response(from request: Request, context: some RequestContext) throws -> Response {
            var response =
                try (error as? any HTTPResponseError)?.response(from: request, context: context)
                ?? Response(status: status)
            response.headers[.connection] = "close"
            return response
        }
    }
}
