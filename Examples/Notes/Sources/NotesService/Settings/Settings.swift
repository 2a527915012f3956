import Configuration
import Foundation

/// Settings of the service, read once at its start.
package struct Settings: Sendable {
    package var host = "127.0.0.1"
    /// Port of the service; 0 takes a free one.
    package var port = 0
    /// Port of the operators' routes; nil turns them off.
    package var adminPort: Int?
    package var directory = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
    package var logLevel = "info"
    /// Number of tenants' databases that stay open.
    package var openTenants = 64
    /// Time after which an unused database is closed.
    package var idle = Duration.seconds(300)
    /// Age at which notes are removed; nil keeps them.
    package var retention: Duration?
    package var retentionInterval = Duration.seconds(3600)
    /// Time between the announcement of the shutdown and its beginning, for load balancers.
    package var shutdownNotice = Duration.zero
    /// Time within which the process ends after that.
    package var shutdownDeadline = Duration.seconds(20)

    package init() {}

    /// At most three quarters of the deadline belong to the requests that run, the rest to the databases.
    package var requestsDeadline: Duration { shutdownDeadline * 3 / 4 }
}

extension Settings {
    /// Reads the settings from the command line, then the environment, then a JSON file.
    ///
    /// - Throws: `SettingsError` with every problem at once, unknown options among them.
    package static func read(
        arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> Settings {
        let near: [any ConfigProvider] = [
            CommandLineArgumentsProvider(arguments: arguments),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "notes"),
        ]
        let reader = SettingsReader(near)
        guard let path = reader.text("config") else { return try Settings(near, arguments, reader.problems) }
        do {
            let config = ConfigReader(providers: near)
            let file = try await FileProvider<JSONSnapshot>(filePath: config.requiredString(forKey: "config"))
            return try Settings(near + [file], arguments, [])
        } catch let error as SettingsError {
            throw error
        } catch {
            return try Settings(near, arguments, ["config: \(path) cannot be read: \(error)"])
        }
    }

    /// Reads every setting, also after earlier problems.
    private init(
        _ providers: [any ConfigProvider], _ arguments: [String], _ earlier: [String]
    ) throws(SettingsError) {
        let reader = SettingsReader(providers)
        host = reader.text("http.host", default: host)
        port = reader.number("http.port", in: 0...65_535) ?? port
        adminPort = reader.number("admin.port", in: 0...65_535)
        directory = reader.directory("data.directory") ?? directory
        logLevel = reader.choice("log.level", of: ["trace", "debug", "info", "warning", "error"]) ?? logLevel
        openTenants = reader.number("tenants.open", in: 1...10_000) ?? openTenants
        idle = reader.seconds("tenants.idle", in: 1...86_400) ?? idle
        retention = reader.seconds("retention.seconds", in: 1...1_000_000_000)
        retentionInterval = reader.seconds("retention.interval", in: 1...86_400) ?? retentionInterval
        shutdownNotice = reader.seconds("shutdown.notice", in: 0...300) ?? shutdownNotice
        shutdownDeadline = reader.seconds("shutdown.deadline", in: 1...3_600) ?? shutdownDeadline
        reader.rejectOthers(in: arguments)
        let problems = earlier + reader.problems
        if !problems.isEmpty { throw SettingsError(problems: problems) }
    }

    package static let usage = """
        Settings, from the command line, the environment, or a JSON file (--config FILE):

          --http-port 8080          NOTES_HTTP_PORT           {"http": {"port": 8080}}; 0 takes a free one
          --http-host ADDRESS       NOTES_HTTP_HOST
          --admin-port PORT         NOTES_ADMIN_PORT          /health, /ready and /debug/di
          --data-directory DIR      NOTES_DATA_DIRECTORY      a temporary one, if nothing else is said
          --log-level LEVEL         NOTES_LOG_LEVEL           trace, debug, info, warning or error
          --tenants-open N          NOTES_TENANTS_OPEN        number of databases that stay open
          --tenants-idle SECONDS    NOTES_TENANTS_IDLE        time until an unused one is closed
          --retention-seconds N     NOTES_RETENTION_SECONDS   age at which notes are removed
          --retention-interval N    NOTES_RETENTION_INTERVAL  seconds between removals
          --shutdown-notice N       NOTES_SHUTDOWN_NOTICE     seconds for load balancers to notice
          --shutdown-deadline N     NOTES_SHUTDOWN_DEADLINE   seconds for the rest of the shutdown
        """
}
