import Hummingbird

/// Routes of the service.
///
/// - Parameters:
///   - readiness: State for `/ready`.
///   - catalogue: Returns the tenants, once the service has started.
///   - requests: Middleware of requests that are over when their handler returns.
///   - bodies: Middleware of requests that are over when their body has been written.
///   - around: Middleware of every request to the catalogue or a tenant.
/// - Returns: The router, to which the caller may add routes.
package func notesRouter(
    readiness: Readiness, catalogue: @escaping @Sendable () throws -> Catalogue,
    requests: some RouterMiddleware<NotesContext>, bodies: some RouterMiddleware<NotesContext>,
    around: some RouterMiddleware<NotesContext>
) -> Router<NotesContext> {
    let router = Router(context: NotesContext.self)
    router.addMiddleware {
        TracingMiddleware()
        MetricsMiddleware()
    }
    addHealth(to: router, readiness)
    let log = ErrorLog(readiness: readiness)
    let logged = router.group().add(middleware: log).add(middleware: around)
    addTenants(to: logged, catalogue)

    let notes = logged.group("tenants/:tenant").add(middleware: requests)
    notes.get("whoami") { _, context in try await context.requireServices().whoAmI().answer() }
    notes.get("notes") { request, context in try await context.requireServices().notes().list(request) }
    notes.post("notes") { request, context in
        let new = try await request.decode(as: NewNote.self, context: context)
        return try await context.requireServices().notes().add(new)
    }
    notes.get("notes/:id") { _, context in
        try await context.requireServices().notes().note(context.parameters.require("id", as: Int64.self))
    }
    notes.delete("notes/:id") { _, context in
        try await context.requireServices().notes().remove(context.parameters.require("id", as: Int64.self))
    }

    // A batch may take long, so it is cancelled when its client disconnects.
    router.group("tenants/:tenant").add(middleware: CancelWithClient()).add(middleware: log).add(middleware: around)
        .add(middleware: requests)
        .post("batch") { request, context in
            let batch = try await request.decode(as: [NewNote].self, context: context)
            return try await context.requireServices().batch().add(batch)
        }
    logged.group("tenants/:tenant").add(middleware: bodies).get("export") { _, context in
        try await context.requireServices().export().export()
    }
    return router
}

/// Routes for a load balancer or a supervisor.
package func addHealth(to router: Router<some RequestContext>, _ readiness: Readiness) {
    router.get("health") { _, _ in "alive\n" }
    router.get("ready") { _, _ in
        let state = readiness.state
        return EditedResponse(status: state == .ready ? .ok : .serviceUnavailable, response: "\(state)\n")
    }
}

private func addTenants(
    to router: some RouterMethods<NotesContext>, _ catalogue: @escaping @Sendable () throws -> Catalogue
) {
    router.get("tenants") { _, _ in try await catalogue().tenants.map(\.description) }
    router.put("tenants/:tenant") { _, context in
        try await catalogue().add(TenantName(context.parameters.require("tenant")))
        return HTTPResponse.Status.created
    }
}
