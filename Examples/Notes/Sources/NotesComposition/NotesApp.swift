import AsyncDI
import Hummingbird
import Logging
import NIOCore
import NotesService
import ServiceLifecycle
import Synchronization

/// Composition root: the container and the services around it.
package struct NotesApp: Sendable {
    package let settings: Settings
    package let container: Container
    package let readiness = Readiness()
    private let logger: Logger
    private let starts = Starts()

    /// Puts the application together.
    ///
    /// - Parameters:
    ///   - settings: Settings of the service.
    ///   - logger: Logger of everything outside of requests.
    ///   - observers: Observers of the container.
    ///   - overrides: Registrations that replace the application's own, for tests.
    package init(
        _ settings: Settings, logger: Logger, observers: [any ContainerObserver] = [],
        @RegistrationBuilder overrides: () -> Registrations = { Registrations() }
    ) {
        self.settings = settings
        self.logger = logger
        let overrides = overrides()
        container = Container(name: "notes", observers: observers) {
            ApplicationModule(settings: settings)
            RequestModule()
            overrides
        }
    }

    /// Observers of the running service.
    package static func observers(_ logger: Logger) -> [any ContainerObserver] {
        [ContainerLog(logger: logger), ContainerMetrics([.failed, .evicted]), CreationTracing()]
    }

    /// Starts the service, and returns after its shutdown.
    package func run() async throws {
        do {
            try await start()
        } catch {
            try? await container.dispose()
            // Names the service, which the error of its factory need not do.
            throw container.startFailure ?? error
        }
        var services: [any Service] = [
            ContainerService(
                container: container, readiness: readiness,
                deadline: settings.shutdownNotice + settings.shutdownDeadline)
        ]
        // Stopped last, so that it reports the whole shutdown.
        if let port = settings.adminPort { services.insert(admin(port: port), at: 0) }
        if let age = settings.retention { services.append(retention(keeping: age)) }
        let server = server { channel in
            readiness.started()
            Greeting(address: channel.localAddress, settings: settings).print()
        }
        services.append(server)
        services.append(ShutdownNotice(readiness, time: settings.shutdownNotice))
        try await ServiceGroup(configuration: .notes(services, settings, logger)).run()
    }

    /// Creates the eager services, and keeps the report for the operators.
    package func start() async throws {
        let report = try await container.start()
        logger.info("\(report)")
        starts.report.withLock { $0 = report }
    }

    /// The server of the tenants' requests.
    package func server(
        onRunning: @escaping @Sendable (any Channel) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        Application(
            responder: responder(), configuration: .init(address: .hostname(settings.host, port: settings.port)),
            onServerRunning: onRunning, logger: logger)
    }

    /// Answers of the server, without a network.
    package func responder() -> some HTTPResponder<NotesContext> {
        notesRouter(
            readiness: readiness, catalogue: { try container.ready() },
            requests: ScopePerRequest(container: container), bodies: ScopePerBody(container: container),
            around: ClosedIsUnavailable(readiness: readiness)
        ).buildResponder()
    }

    /// The server of the operators' requests.
    package func admin(port: Int) -> some ApplicationProtocol {
        let router = Router()
        addHealth(to: router, readiness)
        addDebug(to: router, container, start: { starts.report.withLock { $0 } })
        return Application(
            router: router, configuration: .init(address: .hostname(settings.host, port: port)), logger: logger)
    }

    /// The job that removes old notes, in a scope of its own for each tenant.
    package func retention(keeping age: Duration) -> RetentionService {
        RetentionService(every: settings.retentionInterval, logger: logger) {
            try await container.resolve(Catalogue.self).tenants
        } job: { tenant in
            let values = TenantScope(job: "retention", tenant: tenant, logger: logger)
            try await container.withScope("retention of \(tenant)") {
                values.registrations
            } operation: { scope in
                _ = try await scope.resolve(Retention.self).run(keeping: age)
            }
        }
    }
}

/// The report of the latest start, for the operators.
private final class Starts: Sendable {
    let report = Mutex<StartReport?>(nil)
}
