import Foundation
import Logging

/// The part that both executables share: settings, a logger, and an exit code.
package enum Command {
    package static func run(_ name: String, _ body: @Sendable (Settings, Logger) async throws -> Void) async {
        guard !CommandLine.arguments.contains("--help") else { return print(Settings.usage) }
        do {
            let settings = try await Settings.read()
            LoggingSystem.bootstrap(StreamLogHandler.standardError)
            var logger = Logger(label: name)
            logger.logLevel = Logger.Level(rawValue: settings.logLevel) ?? .info
            try await body(settings, logger)
        } catch {
            FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
            exit(1)
        }
    }
}
