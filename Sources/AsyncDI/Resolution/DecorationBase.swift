/// The object of a decorated registration, where it is not a factory of the same container.
enum DecorationBase: Sendable {
    /// An instance registered as such.
    case instance(Binding)
    /// A forwarded type.
    case forward(Binding)
    /// An inherited registration.
    case inherited(Binding)

    var binding: Binding {
        switch self {
        case .instance(let binding), .forward(let binding), .inherited(let binding): binding
        }
    }

    var isInherited: Bool {
        if case .inherited = self { true } else { false }
    }
}

extension Resolver {
    /// Resolves the instance to decorate.
    ///
    /// - Parameters:
    ///   - key: The key under which it is inherited.
    ///   - pack: The arguments.
    ///   - table: The container in which it is decorated.
    /// - Returns: The instance to wrap.
    /// - Throws: The error of resolving it.
    nonisolated(nonsending) func resolveInherited(
        _ key: ServiceKey, _ pack: ArgumentPack, beyond table: InstanceTable
    ) async throws -> Cell {
        while true {
            let registrationCount = RegistrationCounter.now
            var request = request(key, pack)
            request.isInner = true
            // Looked up again, rather than remembered: it may have been replaced since.
            guard let (binding, found) = table.currentRegistration(beyondFor: key) else {
                throw request.missing(in: table.host)
            }
            if let problem = binding.problem { throw problem }
            request.asker?.recorded?.asks(for: binding, in: found)
            if let cell = try await request.resolveBase(
                binding, owner: found.host, registrationCount: registrationCount)
            {
                return cell
            }
        }
    }

    /// Resolves the service behind a decorated forwarded type.
    nonisolated(nonsending) func resolveForward(_ alias: Binding, _ pack: ArgumentPack, in table: InstanceTable)
        async throws -> Cell
    {
        while true {
            let registrationCount = RegistrationCounter.now
            if let cell = try await request(alias.key, pack).resolveBase(
                alias, owner: table.host, registrationCount: registrationCount)
            {
                return cell
            }
        }
    }

    /// The registered instance to decorate, leased if a hook closes it.
    ///
    /// - Parameters:
    ///   - binding: Its registration.
    ///   - instance: The instance.
    ///   - table: The container in which it is registered.
    /// - Returns: The instance.
    /// - Throws: `CancellationError` if it has been replaced and closed: the requests for its decoration start over.
    func resolveRegistered(_ binding: Binding, _ instance: Cell, in table: InstanceTable) throws -> Cell {
        guard binding.hasDisposalHooks else { return instance }
        switch table.host.lease(CreationKey(withoutArguments: binding), instance) {
        case .leased(let lease):
            hold(lease, in: asker?.holder)
        case .gone:
            guard let holder = asker?.holder else { break }
            // No failure, for observers.
            _ = holder.extras { $0.isOvertaken = true }
            holder.place.abandon(holder)
            throw CancellationError()
        case .unfinished:
            break
        }
        return instance
    }
}

extension Request {
    /// The decorated instance, leased where it could be disposed while its wrapper is still in use.
    fileprivate nonisolated(nonsending) func resolveBase(
        _ binding: Binding, owner: any ResolutionHost, registrationCount: UInt
    ) async throws -> Cell? {
        // A forwarded type may have the lifetime of a service that has been replaced since.
        guard binding.lifetime.ownsInstances || binding.blueprint.target != nil else {
            return try await resolveCell(binding, owner: owner, registrationCount: registrationCount)
        }
        guard
            let found = try await leasedCell(
                binding, owner: owner, registrationCount: registrationCount, isBase: true)
        else { return nil }
        // Without a holder, this task has outlived the creation of the wrapper.
        if let lease = found.lease { hold(lease, in: holder) }
        return found.cell
    }
}

extension InstanceTable {
    /// The nearest registration of a key; the decoration of an inherited registration is renewed when that one has been
    /// replaced.
    func currentRegistration(of key: ServiceKey) -> (binding: Binding, table: InstanceTable)? {
        currentRegistration(of: key, isOwnIncluded: true)
    }

    /// The same where this container looks when it has none itself.
    func currentRegistration(beyondFor key: ServiceKey) -> (binding: Binding, table: InstanceTable)? {
        currentRegistration(of: key, isOwnIncluded: false)
    }

    private func currentRegistration(
        of key: ServiceKey, isOwnIncluded: Bool
    ) -> (binding: Binding, table: InstanceTable)? {
        // The announced registration for which the containers on the way have been asked, and which none decorates.
        var undecorated: Binding?
        while let (binding, table, isAnnounced) = nearestRegistration(of: key, isOwnIncluded: isOwnIncluded) {
            if isAnnounced, binding !== undecorated {
                if !decorate(key, inheritedFrom: table, isOwnIncluded: isOwnIncluded) { undecorated = binding }
                continue
            }
            // The outermost first: an inherited registration may itself decorate one that has changed.
            guard let base = binding.base, base.isInherited,
                table.currentRegistration(beyondFor: key)?.binding !== base.binding
            else { return (binding, table) }
            table.host.inheritAgain(binding)
        }
        return nil
    }

    /// Decorates a registration in the containers on the way to it that have not heard of it yet, the furthest first.
    ///
    /// - Returns: Whether one of them has a registration now.
    private func decorate(_ key: ServiceKey, inheritedFrom origin: InstanceTable, isOwnIncluded: Bool) -> Bool {
        var between: [InstanceTable] = []
        _ = firstTable { table -> Void? in
            if table === origin { return () }
            if table !== self || isOwnIncluded { between.append(table) }
            return nil
        }
        return between.reversed().reduce(false) { $1.host.inheritAnnounced(key) || $0 }
    }
}

/// Passes the lease of a decorated instance to the creation of its decoration, or ends it without one.
private func hold(_ lease: any HeldLease, in holder: Creation?) {
    if holder?.hold(lease, decorating: true) != true { lease.end() }
}
