import AsyncDI
import NotesService
import ServiceLifecycle

/// Closes the container at the shutdown, after the services that use it.
struct ContainerService: Service {
    let container: Container
    let readiness: Readiness
    /// Time for the whole shutdown.
    let deadline: Duration

    func run() async throws {
        // Also when the task is cancelled, because the shutdown took too long.
        try? await gracefulShutdown()
        readiness.isDraining()
        // A third of the rest each for what still runs, for the disposal, and for the last events.
        try await container.drain(deadline: max(deadline - readiness.timeDraining, .zero) / 3)
    }
}
