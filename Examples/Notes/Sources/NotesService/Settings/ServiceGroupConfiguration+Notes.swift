import Logging
import ServiceLifecycle
import UnixSignals

extension ServiceGroupConfiguration {
    /// Services that end at SIGTERM within the deadline of the settings.
    package static func notes(_ services: [any Service], _ settings: Settings, _ logger: Logger) -> Self {
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // After this time the requests are cancelled, and their work is rolled back.
        configuration.maximumGracefulShutdownDuration = settings.shutdownNotice + settings.requestsDeadline
        return configuration
    }
}
