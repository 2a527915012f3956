import AsyncDI
import Hummingbird
import NotesService

/// Routes that show the container: its registrations, its graph, and what is alive.
func addDebug(to router: Router<some RequestContext>, _ container: Container) {
    let debug = router.group("debug/di")
    debug.get { _, _ in
        let tenants = await container.cachedArguments(of: TenantDatabase.self, TenantName.self)
        return """
            \(container.debugDescription)

            open tenants (\(tenants.count)): \(tenants.map(\.description).sorted().joined(separator: ", "))

            """
    }
    debug.get("graph") { request, _ in
        let graph = try await container.declaredGraph()
        return switch request.uri.queryParameters["format"] {
        case "mermaid": graph.mermaid()
        default: graph.dot()
        }
    }
}
