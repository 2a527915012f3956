/// What a decorated registration asks for, where it is no factory of its own container that could be wrapped.
enum DecorationBase: Sendable {
    /// An instance registered as such.
    case instance(Recipe)
    /// A forwarded type.
    case forward(Recipe)
    /// What the container inherits.
    case inherited(Recipe)

    var recipe: Recipe {
        switch self {
        case .instance(let recipe), .forward(let recipe), .inherited(let recipe): recipe
        }
    }

    var isInherited: Bool {
        if case .inherited = self { true } else { false }
    }
}

extension Resolver {
    /// Resolves what a decorated registration is about.
    ///
    /// - Parameters:
    ///   - key: The key under which it is inherited.
    ///   - pack: The arguments.
    ///   - table: The container in which it is decorated.
    /// - Returns: What is to be wrapped.
    /// - Throws: What resolving it throws.
    nonisolated(nonsending) func resolveInherited(
        _ key: ServiceKey, _ pack: ArgumentPack, beyond table: InstanceTable
    ) async throws -> Cell {
        while true {
            let clock = RegistrationClock.now
            var request = request(key, pack)
            request.isInner = true
            // Looked up again, rather than remembered: it may have been replaced since.
            guard let (recipe, found) = table.currentRegistration(beyondFor: key) else {
                throw host.miss(key, asker: asker)
            }
            if let problem = recipe.problem { throw problem }
            request.asker?.recorded?.asks(for: recipe, in: found)
            if let cell = try await request.resolveBase(recipe, owner: found.host, clock: clock) { return cell }
        }
    }

    /// Resolves the service behind a decorated forwarded type.
    nonisolated(nonsending) func resolveForward(_ alias: Recipe, _ pack: ArgumentPack, in table: InstanceTable)
        async throws -> Cell
    {
        while true {
            let clock = RegistrationClock.now
            if let cell = try await request(alias.key, pack).resolveBase(alias, owner: table.host, clock: clock) {
                return cell
            }
        }
    }
}

extension Request {
    /// What is decorated: leased, where it could be evicted while what wraps it is still in use.
    fileprivate nonisolated(nonsending) func resolveBase(
        _ recipe: Recipe, owner: any ResolutionHost, clock: UInt
    ) async throws -> Cell? {
        guard recipe.lifetime.bounds.needsOrder, !recipe.lifetime.isWeak else {
            return try await resolveCell(recipe, owner: owner, clock: clock)
        }
        guard let (cell, lease) = try await leasedCell(recipe, owner: owner, clock: clock) else { return nil }
        // Nobody holds it when nothing is being made any more: a task that outlives what wraps it.
        if let lease, holder?.hold(lease) != true { lease.end() }
        return cell
    }
}

extension InstanceTable {
    /// The nearest registration of a key; one that decorates what is inherited is made anew when that is another one by
    /// now.
    func currentRegistration(of key: ServiceKey) -> (recipe: Recipe, table: InstanceTable)? {
        refreshed(key) { registration(of: key) }
    }

    /// The same where this container looks when it has none itself.
    func currentRegistration(beyondFor key: ServiceKey) -> (recipe: Recipe, table: InstanceTable)? {
        refreshed(key) { registration(beyondFor: key) }
    }

    private func refreshed(
        _ key: ServiceKey, _ find: () -> (recipe: Recipe, table: InstanceTable)?
    ) -> (recipe: Recipe, table: InstanceTable)? {
        var found = find()
        // The outermost first: what is inherited may itself decorate what has changed.
        while let (recipe, table) = found, let base = recipe.base, base.isInherited,
            table.currentRegistration(beyondFor: key)?.recipe !== base.recipe
        {
            table.host.inheritAgain(recipe)
            found = find()
        }
        return found
    }
}
