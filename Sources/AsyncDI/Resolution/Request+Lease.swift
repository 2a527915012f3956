/// Leases of instances, which delay their disposal.
extension Request {
    /// The instance and its lease, or no lease if only the caller owns the instance.
    ///
    /// The cell holds its instance strongly.
    nonisolated(nonsending) func leased() async throws -> Delivery {
        guard let found = try await leasedCell() else {
            throw unleasableWrapper ?? host.miss(key.unwrapped(key.service), asker: asker)
        }
        return found
    }

    /// The error for a lease of a wrapper, such as an array, which has no instance of its own.
    private var unleasableWrapper: ResolutionError? {
        guard let wrapper = key.service as? any WrapperType.Type, wrapper.isAvailable(for: self) else { return nil }
        let advice =
            switch wrapper.need {
            case .contributions(_, keyedBy: nil): "Use withInstances(…), which leases every contribution."
            case .contributions: "Use withInstanceMap(…), which leases every contribution."
            case .optional(let service), .later(let service, _):
                "Lease \(readableName(of: service)) itself; isRegistered(…) tells whether there is one."
            case .nothing: "Use it as it is: nothing disposes it."
            }
        return failure(
            .invalidOperation, "\(key) cannot be leased, because it has no instance of its own.", advice: advice)
    }

    /// The cached instance for arguments and its lease, found without an erased key; nil if that takes more steps.
    private func leasedAtOnce() throws -> Delivery? {
        // The general path records the request; it must not be recorded twice.
        guard key.arguments != nil, asker?.recorded == nil, !isHeldUp, !isRefusedWhileDraining,
            let (binding, table) = try registration(), binding.isIndexed
        else { return nil }
        try checkCaptive(binding, in: table.host)
        return table.host.leaseIndexed(binding, pack)
    }

    /// The same as ``leased()``; nil without a registration, and for an optional request without a supplied value.
    nonisolated(nonsending) func leasedCell(isOptional: Bool = false) async throws -> Delivery? {
        if let found = try leasedAtOnce() { return found }
        try await awaitModules()
        while true {
            let registrationCount = RegistrationCounter.now
            guard let (binding, table) = try registration() else { return isOptional ? try absent() : nil }
            if isHeldUp(by: table) {
                try await loadModules(of: table.host)
                continue
            }
            if isOptional, try lacksValue(binding, of: table.host) { return nil }
            guard
                let found = try await leasedCell(binding, owner: table.host, registrationCount: registrationCount)
            else { continue }
            if let living = found.cell.strengthened() { return Delivery(cell: living, lease: found.lease) }
            found.lease?.end()
        }
    }

    /// The instance of a registration and its lease; nil if the registration was replaced meanwhile.
    ///
    /// As the base of a decoration, an unfinished instance of a cycle of properties has no lease. Nor has one in a
    /// storage that nothing has to close: the lease would let its decoration live longer than a weak storage means.
    nonisolated(nonsending) func leasedCell(
        _ binding: Binding, owner: any ResolutionHost, registrationCount: UInt, isBase: Bool = false
    ) async throws -> Delivery? {
        if let forward = binding.blueprint.target {
            return try await leasedTarget(
                of: forward, owner: owner, registrationCount: registrationCount, isBase: isBase)
        }
        guard let place = place(of: binding, owner: owner) else {
            return try await ownCell(binding).map { Delivery(cell: $0) }
        }
        let takesLease = binding.lifetime.ownsInstances
        let found = try await sharedInstance(
            binding, in: place, registrationCount: registrationCount, takesLease: takesLease)
        guard takesLease, let found else { return found }
        guard let lease = found.lease else {
            return try self.lease(early: found.cell, of: binding, in: place, isBase: isBase)
        }
        if isBase, binding.lifetime.makeStorage != nil, !lease.delaysDisposal {
            lease.end()
            return Delivery(cell: found.cell)
        }
        return found
    }

    // Not inlined, so that its frame is not part of every request.
    @inline(never)
    private nonisolated(nonsending) func leasedTarget(
        of forward: Forward, owner: any ResolutionHost, registrationCount: UInt, isBase: Bool
    ) async throws -> Delivery? {
        guard let (target, place) = try target(of: forward, in: owner) else { throw missing(in: owner) }
        var request = self
        request.isInner = isHidden(target)
        guard
            let found = try await request.leasedCell(
                target, owner: place, registrationCount: registrationCount, isBase: isBase)
        else { return nil }
        do {
            return Delivery(cell: try convert(found.cell, by: forward), lease: found.lease)
        } catch {
            found.lease?.end()
            throw error
        }
    }

    /// The lease of an instance that was handed out early, in a cycle of properties; nil if the request must be
    /// repeated.
    private func lease(
        early cell: Cell, of binding: Binding, in place: any ResolutionHost, isBase: Bool
    ) throws -> Delivery? {
        switch place.lease(CreationKey(binding, pack), cell) {
        case .leased(let lease):
            return Delivery(cell: cell, lease: lease)
        case .gone:
            // The cycle has ended, and the instance was dropped then or later.
            return nil
        case .unfinished where isBase && !binding.lifetime.bounds.needsOrder:
            return Delivery(cell: cell)
        case .unfinished where isBase:
            // Without a lease, the multiton might evict the instance while the decoration is in use.
            throw failure(
                .invalidOperation,
                "\(key) decorates an instance of \(binding.key) that is still being created, in a cycle of properties, "
                    + "and leases it because \(binding.key) is a multiton with bounds.",
                advice:
                    "Request \(binding.key) itself there, defer the request with Lazy, or use a lifetime without bounds."
            )
        case .unfinished:
            // Each of the two instances would have to be disposed after the other.
            throw failure(
                .invalidOperation, "\(key) was leased by one of its own dependencies while it was being created.",
                advice: "Use resolve(…) there, which returns the unfinished instance, or lease it at its use.")
        }
    }

    /// Returns the instance, or the wrapper of instances, leased for as long as the requesting factory's product.
    nonisolated(nonsending) func leasedForCreation<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        let holder = try leaseHolder()
        guard let found = try await leasedCell() else { return try await unregistered(service, leasing: true) }
        try hand([found.lease], to: holder)
        return found.cell.value(as: service)
    }

    /// Returns the instance, leased in the same way; nil without a registration or a supplied value.
    nonisolated(nonsending) func optionalCellLeasedForCreation() async throws -> Cell? {
        let holder = try leaseHolder()
        guard let found = try await leasedCell(isOptional: true) else { return nil }
        try hand([found.lease], to: holder)
        return found.cell
    }

    /// Returns the contributions, leased for as long as the requesting factory's product.
    nonisolated(nonsending) func contributionsLeasedForCreation(
        keyedBy type: (any Any.Type)? = nil
    ) async throws -> [Contribution] {
        let holder = try leaseHolder()
        let (contributions, body) = try await leasedContributions(keyedBy: type)
        if let body {
            // Afterwards, so that the graph of waits knows a holder of the leases at every moment.
            defer { body.handOver() }
            try hand(body.held, to: holder)
        }
        return contributions
    }

    /// The creation whose product is to hold the leases.
    private func leaseHolder() throws -> Creation {
        if let holder, holder.binding.lifetime.ownsInstances, !holder.binding.loadsModules { return holder }
        throw failure(
            .invalidOperation, "\(key) was leased where no instance is being created whose end a container owns.",
            advice:
                "Lease in the factory of a .scoped, .singleton or .multiton service, before it returns, or use withInstance."
        )
    }

    /// Passes leases to a creation for its product.
    ///
    /// If the creation has ended meanwhile, ends the leases that it did not take.
    private func hand(_ leases: [(any HeldLease)?], to holder: Creation) throws {
        let late = leases.filter { $0.map { !holder.hold($0) } ?? false }
        if late.isEmpty { return }
        for lease in late { lease?.end() }
        throw failure(
            .invalidOperation, "\(key) was leased for \(holder.binding.key), whose creation has already ended.",
            advice: "Await the lease in the factory, before it returns.")
    }
}
