import Foundation
import Logging

/// The part that both executables share: settings, a logger, and an exit code.
package enum Command {
    package static func run(_ name: String, _ body: @Sendable (Settings, Logger) async throws -> Void) async {
        guard !isHelp(CommandLine.arguments) else { return print(Settings.usage) }
        do {
            let settings = try await Settings.read()
            LoggingSystem.bootstrap(StreamLogHandler.standardError)
            var logger = Logger(label: name)
            logger.logLevel = Logger.Level(rawValue: settings.logLevel) ?? .info
            try await body(settings, logger)
        } catch {
            // The exit code says it too, where the output is closed or full.
            try? FileHandle.standardError.write(contentsOf: Data("\(name): \(error)\n".utf8))
            exit(1)
        }
    }

    /// Returns whether the arguments ask for the usage.
    package static func isHelp(_ arguments: [String]) -> Bool {
        arguments.contains("--help") || arguments.contains("-h") || arguments.dropFirst().first == "help"
    }
}
