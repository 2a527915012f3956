/// Eager services that a start leaves to the scopes.
extension ContainerCore {
    /// Whether this container is no scope, and its own instance of a service would need a value that only scopes
    /// supply, as far as the dependencies are declared.
    ///
    /// Dependencies are looked up as by a resolution.
    func isLeftToScopes(_ key: ServiceKey) -> Bool {
        guard !isScope, let first = table.registration(of: key) else { return false }
        guard first.binding.lifetime.sharing == .resolvingContainer else { return false }
        var seen: Set<ObjectIdentifier> = []
        var frontier = [first]
        while let (binding, table) = frontier.popLast() {
            guard seen.insert(ObjectIdentifier(binding)).inserted else { continue }
            if binding.blueprint.isExpected { return true }
            frontier += dependencies(of: binding, in: table)
        }
        return false
    }

    /// The registrations that creating an instance here needs at once, without those of other containers' instances.
    private func dependencies(
        of binding: Binding, in table: InstanceTable
    ) -> [(binding: Binding, table: InstanceTable)] {
        let blueprint = binding.blueprint
        if let forward = blueprint.target { return target(of: forward, by: binding, in: table) }
        // Such an instance never gets the value: that is a mistake, which the start throws.
        if binding.lifetime.sharing == .registeringContainer { return [] }
        var found = ((blueprint.dependencies ?? []) + (blueprint.declaredDependencies ?? [])).flatMap(needed)
        switch binding.base {
        case .inherited(let inherited)?: found += table.registration(beyondFor: inherited.key).map { [$0] } ?? []
        case .forward(let alias)?:
            found += alias.blueprint.target.map { target(of: $0, by: alias, in: table) } ?? []
        case .instance?, nil: break
        }
        return found
    }

    private func target(
        of forward: Forward, by alias: Binding, in table: InstanceTable
    ) -> [(binding: Binding, table: InstanceTable)] {
        let request = Request(key: alias.key, pack: .none, host: self, asker: nil)
        let target = try? request.target(of: forward, in: table.host)
        return target.map { [($0.binding, $0.owner.table)] } ?? []
    }

    /// The registrations that a request for a dependency needs.
    private func needed(_ key: ServiceKey) -> [(binding: Binding, table: InstanceTable)] {
        if let found = table.registration(of: key) { return [found] }
        switch (key.service as? any WrapperType.Type)?.need {
        case .optional(let service)?:
            let key = key.of(service)
            guard let (binding, table) = table.registration(of: key) else { return needed(key) }
            let request = Request(key: key, pack: .none, host: self, asker: nil)
            return (try? request.isUnsupplied(binding, owner: table.host)) == true ? [] : [(binding, table)]
        case .contributions(let service, let keyType)?:
            let wanted = contributions(to: key.of(service)).filter { $0.contribution(keyedBy: keyType) != nil }
            return wanted.compactMap { table.registration(of: $0) }
        case .later?, .nothing?, nil:
            return []
        }
    }
}

extension ResolutionError {
    /// Whether a value that each scope of a container must supply was needed there, for an instance that scopes may
    /// have as well.
    func isOfValueLeftToScopes(of host: any ResolutionHost) -> Bool {
        unsuppliedIn == host.number && !steps.contains { $0.binding?.lifetime.sharing == .registeringContainer }
    }
}
