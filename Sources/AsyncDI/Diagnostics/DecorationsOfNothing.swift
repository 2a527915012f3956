extension Container {
    /// The decorations that apply to no registration, neither in this container nor in one that it searches.
    package nonisolated var decorationsOfNothing: [(key: ServiceKey, site: RegistrationSite)] {
        core.decorationsOfNothing().map { ($0.key, $0.site) }
    }
}

extension Registrations {
    /// The places of all decorations.
    package var decorationSites: Set<RegistrationSite> {
        var sites: Set<RegistrationSite> = []
        forEach(draft: { _ in }, decoration: { sites.insert($0.site) })
        return sites
    }
}

extension ContainerCore {
    /// A value that each scope supplies is registered there, and decorated there if at all.
    fileprivate func decorationsOfNothing() -> [Decoration] {
        withState { $0.decorations.inOrder }.filter { decoration in
            !searchOrder.contains { core in
                core.withState { state in
                    state.registrations.records(named: decoration.name).contains {
                        decoration.applies(to: $0.key) && !$0.blueprint.isExpected
                    }
                }
            }
        }
    }

    /// The problems of decorations that apply to no registration.
    func decorationProblems() -> [ResolutionError] {
        decorationsOfNothing().map { decoration in
            if table.registration(of: decoration.key)?.binding.blueprint.isExpected == true {
                return ResolutionError(
                    .invalidRegistration,
                    "\(decoration.key) is decorated in \(displayName), which has no instance of it: each scope supplies one.",
                    advice:
                        "Decorated at \(decoration.site). Move the decoration to the scope that supplies the value.",
                    steps: [PathStep(key: decoration.key)])
            }
            let hasOthers = searchOrder.contains { core in
                core.withState { !$0.registrations.records(named: decoration.name).isEmpty }
            }
            if hasOthers {
                return ResolutionError(
                    .invalidRegistration,
                    "\(decoration.key) is decorated in \(displayName), but its registrations are contributions or made with "
                        + "making:, to which no decoration applies.",
                    advice:
                        "Decorated at \(decoration.site). Wrap the instance in the factory, and remove the decoration.",
                    steps: [PathStep(key: decoration.key)])
            }
            return ResolutionError(
                .notRegistered,
                "\(decoration.key) is decorated in \(displayName), but is registered neither there nor in any container it "
                    + "searches.",
                advice: "Decorated at \(decoration.site). Register it, or remove the decoration.",
                steps: [PathStep(key: decoration.key)])
        }
    }
}
