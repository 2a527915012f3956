import Logging
import ServiceLifecycle

/// Runs a job for every tenant at intervals, until the shutdown.
package struct RetentionService: Service {
    let interval: Duration
    let logger: Logger
    let tenants: @Sendable () async throws -> [TenantName]
    let job: @Sendable (TenantName) async throws -> Void

    package init(
        every interval: Duration, logger: Logger, tenants: @escaping @Sendable () async throws -> [TenantName],
        job: @escaping @Sendable (TenantName) async throws -> Void
    ) {
        self.interval = interval
        self.logger = logger
        self.tenants = tenants
        self.job = job
    }

    package func run() async throws {
        // The sleep ends at the shutdown; a job that runs then is not cut short.
        while await sleeps() { try await runOnce() }
    }

    /// Runs the job for each tenant; one that fails does not stop the others, a shutdown does.
    package func runOnce() async throws {
        for tenant in try await tenants() {
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
            do {
                try await job(tenant)
            } catch is CancellationError where Task.isCancelled {
                return
            } catch {
                logger.error("the job failed", metadata: ["tenant": "\(tenant)", "error": "\(error)"])
            }
        }
    }

    private func sleeps() async -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
            return true
        } catch {
            return false
        }
    }
}
