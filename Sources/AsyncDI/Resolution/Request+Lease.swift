/// Leases: an instance that must not be disposed for a while.
extension Request {
    /// The instance, and a lease of it; no lease when nobody but the caller owns it.
    nonisolated(nonsending) func leased<Service: Sendable>(
        _ service: Service.Type
    ) async throws -> (instance: Service, lease: (any HeldLease)?) {
        guard let (cell, lease) = try await leasedCell() else { throw host.miss(key, asker: asker) }
        return (cell.value(as: service), lease)
    }

    /// The same in a cell that holds the instance; nil when nothing answers the key.
    nonisolated(nonsending) func leasedCell() async throws -> (cell: Cell, lease: (any HeldLease)?)? {
        try await awaitModules()
        while true {
            let clock = RegistrationClock.now
            guard let (recipe, table) = try registration() else { return nil }
            if let problem = recipe.problem { throw problem }
            guard let (cell, lease) = try await leasedCell(recipe, owner: table.host, clock: clock) else { continue }
            if let living = cell.strengthened() { return (living, lease) }
            lease?.end()
        }
    }

    nonisolated(nonsending) func leasedCell(
        _ recipe: Recipe, owner: any ResolutionHost, clock: UInt
    ) async throws -> (Cell, (any HeldLease)?)? {
        if let forward = recipe.blueprint.target {
            guard let (target, table) = owner.table.registration(of: forward.from), table === owner.table else {
                throw host.miss(key, asker: asker)
            }
            guard let (cell, lease) = try await leasedCell(target, owner: owner, clock: clock) else { return nil }
            do {
                return (try convert(cell, by: forward), lease)
            } catch {
                lease?.end()
                throw error
            }
        }
        let place: any ResolutionHost
        switch recipe.lifetime.sharing {
        case .none, .graph:
            return try await resolveCell(recipe, owner: owner, clock: clock).map { ($0, nil) }
        case .asked: place = host
        case .owner: place = owner
        }
        let takesLease = recipe.lifetime.ownsInstances
        guard
            let found = try await sharedInstance(
                recipe, in: place, isScoped: recipe.lifetime.sharing == .asked, clock: clock,
                takesLease: takesLease)
        else { return nil }
        guard takesLease, found.lease == nil else { return (found.cell, found.lease) }
        // Given early, in a cycle of properties.
        switch place.lease(CreationKey(recipe, pack), found.cell) {
        case .leased(let lease):
            return (found.cell, lease)
        case .gone:
            // The cycle has ended meanwhile, and the instance is gone with it or since.
            return nil
        case .unfinished:
            // Each would have to be disposed after the other.
            throw ResolutionError(
                .invalidOperation, "\(key) was leased while it is being made, by what it needs itself.",
                advice:
                    "Take it by resolve(…) there, which gives the unfinished instance, or lease it when it is used.",
                steps: pathToHere, asker: asker)
        }
    }

    /// The instance, leased for as long as what the asking factory makes.
    nonisolated(nonsending) func leasedForCreation<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        let holder = try leaseHolder()
        let (instance, lease) = try await leased(service)
        try hand([lease], to: holder)
        return instance
    }

    /// What was contributed, leased for as long as what the asking factory makes.
    nonisolated(nonsending) func contributionsLeasedForCreation(
        where isWanted: (ContributionID) -> Bool = { _ in true }
    ) async throws -> [Contribution] {
        let holder = try leaseHolder()
        let contributions = try await leasedContributions(where: isWanted)
        try hand(contributions.map(\.lease), to: holder)
        return contributions
    }

    /// The creation whose product is to hold the leases.
    private func leaseHolder() throws -> Creation {
        if let holder, holder.recipe.lifetime.ownsInstances { return holder }
        throw ResolutionError(
            .invalidOperation, "\(key) was leased where no container owns the end of what is being made.",
            advice: "Lease in the factory of a .scoped, .singleton or .multiton service, or use withInstance.",
            steps: pathToHere, asker: asker)
    }

    /// Gives leases to a creation for its product; when that has ended meanwhile, ends those that it has not taken
    /// over.
    private func hand(_ leases: [(any HeldLease)?], to holder: Creation) throws {
        let late = leases.filter { $0.map { !holder.hold($0) } ?? false }
        if late.isEmpty { return }
        for lease in late { lease?.end() }
        throw ResolutionError(
            .invalidOperation, "\(key) was leased for \(holder.recipe.key), whose creation has ended meanwhile.",
            advice: "Await the lease in the factory, before it returns.", steps: pathToHere, asker: asker)
    }
}
