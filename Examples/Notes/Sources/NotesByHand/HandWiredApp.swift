import Hummingbird
import Logging
import NIOCore
import NotesService
import ServiceLifecycle
import Tracing

/// The same service without a container.
package struct HandWiredApp: Sendable {
    package let readiness = Readiness()
    private let settings: Settings
    private let logger: Logger
    private let parts: Parts

    package init(_ settings: Settings, logger: Logger) async throws {
        let files = TenantFiles(settings)
        self.settings = settings
        self.logger = logger
        parts = Parts(
            catalogue: try await Catalogue(in: files), pool: TenantPool(files: files, capacity: settings.openTenants))
    }

    package func run() async throws {
        var services: [any Service] = [PoolService(parts: parts, readiness: readiness, idle: settings.idle)]
        if let age = settings.retention { services.append(retention(keeping: age)) }
        let server = server { channel in
            readiness.started()
            Greeting(address: channel.localAddress, settings: settings).print()
        }
        services.append(server)
        services.append(ShutdownNotice(readiness, time: settings.shutdownNotice))
        try await ServiceGroup(configuration: .notes(services, settings, logger)).run()
    }

    package func server(
        onRunning: @escaping @Sendable (any Channel) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let router = notesRouter(
            readiness: readiness, catalogue: { parts.catalogue }, requests: WorkPerRequest(parts: parts),
            bodies: WorkPerBody(parts: parts), around: NoMiddleware())
        return Application(
            router: router, configuration: .init(address: .hostname(settings.host, port: settings.port)),
            onServerRunning: onRunning, logger: logger)
    }

    package func close() async throws {
        await parts.pool.close()
        try await parts.catalogue.close()
    }

    private func retention(keeping age: Duration) -> RetentionService {
        RetentionService(every: settings.retentionInterval, logger: logger) {
            await parts.catalogue.tenants
        } job: { tenant in
            let work = RequestWork(
                tenant: tenant, info: RequestInfo(id: "retention", method: "JOB", path: "retention"), logger: logger,
                trace: .topLevel, pool: parts.pool)
            do {
                try await work.retention().run(keeping: age)
            } catch {
                try? await work.end(error)
                throw error
            }
            try await work.end(nil)
        }
    }
}

/// Closes unused databases while the service runs, and all of them at its end.
private struct PoolService: Service {
    let parts: Parts
    let readiness: Readiness
    let idle: Duration

    func run() async throws {
        while (try? await cancelWhenGracefulShutdown { try await Task.sleep(for: idle / 4) }) != nil {
            parts.pool.closeUnused(since: .now - idle)
        }
        readiness.isDraining()
        await parts.pool.close()
        try await parts.catalogue.close()
    }
}
