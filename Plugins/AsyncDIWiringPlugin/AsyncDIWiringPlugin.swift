import Foundation
import PackagePlugin

/// Runs the package's wiring check while a target is built, before the target is compiled.
///
/// A check is any executable target of the package that depends on the product AsyncDIWiring, and on a module of the
/// target's. It runs after it was linked anew, which every change of its dependencies causes, and after a change of the
/// contract.
@main struct AsyncDIWiringPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        let known = WiringChecks(in: context.package)
        let checks = known.checks(of: target, in: context.package)
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
            if let contract = contract(of: check, in: context.package.directoryURL, isOneOfSeveral: known.all.count > 1)
            {
                arguments += ["--contract", contract.path]
                inputs.append(contract)
            }
            return .buildCommand(
                displayName: "Checking the wiring with \(check.target.name)", executable: program,
                arguments: arguments + check.sources, inputFiles: inputs, outputFiles: [stamp])
        }
    }

    /// The file with the graph that a check is to find, if the package has one for it: `wiring-CheckWiring.json`, or
    /// `wiring.json` where no other check could be meant.
    private func contract(of check: WiringChecks.Check, in folder: URL, isOneOfSeveral: Bool) -> URL? {
        func existing(_ name: String) -> URL? {
            let file = folder.appending(path: name)
            return FileManager.default.fileExists(atPath: file.path) ? file : nil
        }
        let ownName = "wiring-\(check.target.name).json"
        if let own = existing(ownName) { return own }
        guard let common = existing("wiring.json") else { return nil }
        if !isOneOfSeveral { return common }
        Diagnostics.error(
            "wiring.json cannot be the contract of several wiring checks. Name the one of \(check.target.name) "
                + "\(ownName), and remove wiring.json.")
        return nil
    }
}
