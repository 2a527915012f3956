import Hummingbird

/// Cancels a request whose client goes away before the response.
///
/// Hummingbird reads on in the connection to notice that, and closes the connection after the response. So this is for
/// requests that take long, not for every one.
struct CancelWithClient: RouterMiddleware {
    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await request.body.consumeWithCancellationOnInboundClose { body in
                var request = request
                request.body = body
                return try await next(request, context)
            }
        } catch is CancellationError where !Task.isCancelled {
            // A request that is cancelled while its task is not has lost its client.
            throw HTTPError(HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request"))
        }
        response.headers[.connection] = "close"
        return response
    }
}
