import ServiceLifecycle

/// Announces the shutdown, and waits until load balancers have noticed before the server stops.
package struct ShutdownNotice: Service {
    private let readiness: Readiness
    private let time: Duration

    package init(_ readiness: Readiness, time: Duration) {
        self.readiness = readiness
        self.time = time
    }

    package func run() async throws {
        try? await gracefulShutdown()
        readiness.isDraining()
        try? await Task.sleep(for: time)
    }
}
