/// Leases: an instance that must not be disposed for a while.
extension Request {
    /// The instance, and a lease of it; no lease when nobody but the caller owns it.
    nonisolated(nonsending) func leased<Service: Sendable>(
        _ service: Service.Type
    ) async throws -> (instance: Service, lease: (any HeldLease)?) {
        try await awaitModules()
        while true {
            let clock = RegistrationClock.now
            guard let (recipe, table) = try registration() else { throw host.miss(key, asker: asker) }
            if let problem = recipe.problem { throw problem }
            guard let (cell, lease) = try await leasedCell(recipe, owner: table.host, clock: clock) else { continue }
            guard let instance = cell.load(as: service) else {
                lease?.end()
                continue
            }
            return (instance, lease)
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
        guard let holder, holder.recipe.lifetime.ownsInstances else {
            throw ResolutionError(
                .invalidOperation, "\(key) was leased where no container owns the end of what is being made.",
                advice: "Lease in the factory of a .scoped, .singleton or .multiton service, or use withInstance.",
                steps: pathToHere, asker: asker)
        }
        let (instance, lease) = try await leased(service)
        if let lease, !holder.hold(lease) {
            lease.end()
            throw ResolutionError(
                .invalidOperation, "\(key) was leased for \(holder.recipe.key), whose creation has ended meanwhile.",
                advice: "Await the lease in the factory, before it returns.", steps: pathToHere, asker: asker)
        }
        return instance
    }
}
