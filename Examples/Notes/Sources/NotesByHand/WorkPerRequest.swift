import Hummingbird
import Logging
import NotesService
import Tracing

/// Catalogue and pool of the twin, there once it has started.
final class Parts: Sendable {
    let catalogue: Catalogue
    let pool: TenantPool

    init(catalogue: Catalogue, pool: TenantPool) {
        self.catalogue = catalogue
        self.pool = pool
    }

    func work(_ request: Request, _ context: NotesContext) async throws -> RequestWork {
        let tenant = try await context.tenant(in: catalogue)
        var logger = context.logger
        logger[metadataKey: "tenant"] = "\(tenant)"
        return RequestWork(
            tenant: tenant, info: context.info(of: request), logger: logger,
            trace: InstrumentationContext.current ?? .topLevel, pool: pool)
    }
}

/// Commits or rolls back a request's unit of work before the response is sent.
struct WorkPerRequest: RouterMiddleware {
    let parts: Parts

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        let work = try await parts.work(request, context)
        var context = context
        context.services = work
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            try? await work.end(error)
            throw error
        }
        try await work.end(response.status.code < 400 ? nil : HTTPError(response.status))
        return response
    }
}

/// Ends a request's unit of work when the body has been written.
struct WorkPerBody: RouterMiddleware {
    let parts: Parts

    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        let work = try await parts.work(request, context)
        var context = context
        context.services = work
        do {
            var response = try await next(request, context)
            let body = response.body
            let guardian = Guardian(work)
            response.body = ResponseBody(contentLength: body.contentLength) { writer in
                do {
                    try await body.write(writer)
                } catch {
                    try? await guardian.end(error)
                    throw error
                }
                try await guardian.end(nil)
            }
            return response
        } catch {
            try? await work.end(error)
            throw error
        }
    }

    /// Ends the unit of work of a body that is dropped unused.
    private final class Guardian: Sendable {
        private let work: RequestWork

        init(_ work: RequestWork) { self.work = work }

        func end(_ error: (any Error)?) async throws { try await work.end(error) }

        deinit { Task { [work] in try? await work.end(CancellationError()) } }
    }
}

/// Adds nothing.
struct NoMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: NotesContext, next: (Request, NotesContext) async throws -> Response
    ) async throws -> Response {
        try await next(request, context)
    }
}
