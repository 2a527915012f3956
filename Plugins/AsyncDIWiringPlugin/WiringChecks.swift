import PackagePlugin

/// The wiring checks of a package: its executable targets that depend on the product AsyncDIWiring.
struct WiringChecks {
    struct Check {
        let target: any SourceModuleTarget
        /// The name of the program.
        let product: String

        /// Whether the check depends on a target, so that it cannot run before that is built.
        func needs(_ other: any Target) -> Bool {
            target.id == other.id || target.recursiveTargetDependencies.contains { $0.id == other.id }
        }

        /// Whether the check and a target share some of these modules, or the check needs the target.
        func concerns(_ other: any Target, sharing isMeant: (any Target) -> Bool) -> Bool {
            if needs(other) { return true }
            let modules = Set(target.recursiveTargetDependencies.filter(isMeant).map(\.id))
            return other.recursiveTargetDependencies.contains { modules.contains($0.id) }
        }

        /// The folders of the sources that registrations may be in, as arguments of the program.
        var sources: [String] {
            ([target] + target.recursiveTargetDependencies.compactMap { $0 as? any SourceModuleTarget })
                .filter { !["AsyncDI", "AsyncDIWiring"].contains($0.moduleName) }
                .map { "\($0.moduleName)=\($0.directoryURL.path)" }
                .sorted()
                .flatMap { ["--sources", $0] }
        }
    }

    let all: [Check]

    /// The checks of a target: those that share a module of the package with it.
    ///
    /// Without one, the wiring may be in another package: those that share a module of it that depends on AsyncDI.
    func checks(of target: any Target, in package: Package) -> [Check] {
        let own = Set(package.targets.map(\.id))
        let found = all.filter { $0.concerns(target) { own.contains($0.id) } }
        if !found.isEmpty { return found }
        return all.filter { check in
            check.concerns(target) { module in
                module.name != "AsyncDIWiring" && module.recursiveTargetDependencies.contains { $0.name == "AsyncDI" }
            }
        }
    }

    init(in package: Package) {
        let programs = package.products(ofType: ExecutableProduct.self)
        all = package.targets.compactMap { $0 as? any SourceModuleTarget }.filter { target in
            target.kind == .executable
                && target.dependencies.contains { dependency in
                    if case .product(let product) = dependency { product.name == "AsyncDIWiring" } else { false }
                }
        }
        .map { target in
            let program = programs.first { $0.mainTarget.id == target.id }
            return Check(target: target, product: program?.name ?? target.name)
        }
    }
}
