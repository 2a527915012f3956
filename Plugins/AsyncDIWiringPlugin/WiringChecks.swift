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

        /// Whether the check and a target share modules of the package, or the target is one of them.
        func concerns(_ other: any Target, in package: Package) -> Bool {
            if needs(other) { return true }
            let own = Set(package.targets.map(\.id))
            let modules = Set(target.recursiveTargetDependencies.map(\.id)).intersection(own)
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
