import Foundation
import PackagePlugin

/// `swift package check-wiring`: builds the package's wiring checks, or those named by `--target`, and runs each with
/// the other arguments.
@main struct AsyncDIWiringCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let all = WiringChecks(in: context.package).all
        let checks = all.filter { names.isEmpty || names.contains($0.target.name) }
        let unknown = names.filter { name in !all.contains { $0.target.name == name } }
        if checks.isEmpty || !unknown.isEmpty {
            throw Failure(
                description:
                    "\(context.package.displayName) has no wiring check\(unknown.map { " \($0)" }.joined()): an "
                    + "executable target that depends on the product AsyncDIWiring itself.")
        }
        var failed: [String] = []
        for check in checks where try !run(check, extractor.remainingArguments) { failed.append(check.target.name) }
        if !failed.isEmpty { throw Failure(description: "\(failed.joined(separator: ", ")) failed") }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Builds and runs a check; returns whether it found no problem.
    private func run(_ check: WiringChecks.Check, _ arguments: [String]) throws -> Bool {
        var parameters = PackageManager.BuildParameters()
        parameters.logging = .concise
        parameters.configuration = .inherit
        let build = try packageManager.build(.product(check.product), parameters: parameters)
        guard build.succeeded else { throw Failure(description: "\(check.product) does not build:\n\(build.logText)") }
        let program = build.builtArtifacts.first { artifact in
            artifact.kind == .executable && artifact.url.deletingPathExtension().lastPathComponent == check.product
        }
        guard let program else { throw Failure(description: "the build of \(check.product) made no program") }
        let process = Process()
        process.executableURL = program.url
        process.arguments = arguments + check.sources
        try process.run()
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}
