import Foundation
import PackagePlugin

/// Runs the package's wiring check while a target is built, before the target is compiled.
///
/// A check is any executable target of the package that depends on the product AsyncDIWiring, and on a module of the
/// target's. It runs after it was linked anew, which every change of its dependencies causes, and after a change of the
/// contract.
@main struct AsyncDIWiringPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        let checks = WiringChecks(in: context.package).all.filter { $0.concerns(target, in: context.package) }
        if checks.isEmpty {
            Diagnostics.error(
                "\(target.name) is to be built with a wiring check, but \(context.package.displayName) has none for it: an "
                    + "executable target that depends on the product AsyncDIWiring and on a module that \(target.name) "
                    + "is made of.")
            return []
        }
        // The folder for products of this build, in every configuration.
        let folder = try context.tool(named: "AsyncDIBuildFolder").url.deletingLastPathComponent()
        return checks.compactMap { check in
            guard !check.needs(target) else {
                Diagnostics.error(
                    "\(target.name) cannot be built with the wiring check \(check.target.name), which needs it. Put the "
                        + "plugin on a target that the check does not need, as the application's executable, and the "
                        + "wiring into a library that both need.")
                return nil
            }
            let program = folder.appending(path: check.product)
            let stamp = context.pluginWorkDirectoryURL.appending(path: "\(check.target.name).swift")
            var (arguments, inputs) = (["--stamp", stamp.path], [program])
            let contract = context.package.directoryURL.appending(path: "wiring.json")
            if FileManager.default.fileExists(atPath: contract.path) {
                arguments += ["--contract", contract.path]
                inputs.append(contract)
            }
            return .buildCommand(
                displayName: "Checking the wiring with \(check.target.name)", executable: program,
                arguments: arguments + check.sources, inputFiles: inputs, outputFiles: [stamp])
        }
    }
}
