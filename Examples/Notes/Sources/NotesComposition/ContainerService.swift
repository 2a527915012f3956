import AsyncDI
import NotesService
import ServiceLifecycle

/// Closes the container at the shutdown, after the services that use it.
struct ContainerService: Service {
    let container: Container
    let readiness: Readiness
    let deadline: Duration

    func run() async throws {
        // Also when the task is cancelled, because the shutdown took too long.
        try? await gracefulShutdown()
        readiness.isDraining()
        try await container.drain(deadline: deadline)
    }
}
