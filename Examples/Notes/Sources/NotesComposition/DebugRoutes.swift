import AsyncDI
import Foundation
import Hummingbird
import NotesService

/// Routes that show the container: its registrations, its start, its graph, its health, the open tenants, and the work
/// that is under way.
func addDebug(
    to router: Router<some RequestContext>, _ container: Container, start: @escaping @Sendable () -> StartReport?
) {
    let debug = router.group("debug/di")
    debug.get { _, _ in
        let tenants = await container.cachedArguments(of: TenantDatabase.self, TenantName.self)
        return """
            \(container.debugDescription)

            open tenants (\(tenants.count)): \(tenants.map(\.description).sorted().joined(separator: ", "))

            """
    }
    debug.get("start") { request, _ in
        guard let report = start() else { throw HTTPError(.notFound, message: "the service has not started") }
        return switch request.uri.queryParameters["format"] {
        case "mermaid": report.mermaid()
        case "trace": report.traceEvents()
        default: "\(report)\n"
        }
    }
    debug.get("health") { _, _ in
        let report = await container.health(timeout: .seconds(2))
        return EditedResponse(status: report.isHealthy ? .ok : .serviceUnavailable, response: "\(report)\n")
    }
    debug.get("activity") { request, _ in
        let activity = container.activity()
        guard request.uri.queryParameters["format"] == "json" else { return ByteBuffer(string: "\(activity)\n") }
        return try ByteBuffer(bytes: JSONEncoder().encode(activity))
    }
    debug.get("graph") { request, _ in
        let graph = try await container.declaredGraph()
        return switch request.uri.queryParameters["format"] {
        case "mermaid": graph.mermaid()
        default: graph.dot()
        }
    }
}
