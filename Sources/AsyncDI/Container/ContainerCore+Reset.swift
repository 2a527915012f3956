/// What a change drops from the caches, to be dealt with outside the lock.
struct Victims {
    /// Newest first.
    var disposables: [Disposable] = []
    var storages: [any InstanceStorage] = []
    /// Released last, outside the lock: deinitialisers are user code.
    var entries: [Kept] = []
    /// What the instances were found by, of which the same is true.
    var keys: [CreationKey] = []
    /// Watchers of idle instances that have nothing left to watch.
    var watchers: [Task<Void, Never>] = []

    var isEmpty: Bool {
        disposables.isEmpty && storages.isEmpty && entries.isEmpty && keys.isEmpty && watchers.isEmpty
    }

    func clearStorages() {
        for storage in storages { storage.clear() }
    }
}

extension ContainerCore.State {
    /// Drops the instances of these keys; what is in flight is given to those who wait, and not kept.
    mutating func drop(from table: InstanceTable, into victims: inout Victims, where isAffected: (CreationKey) -> Bool)
    {
        flights.invalidate(where: isAffected)
        drop(instances.all.filter { !$0.isFixed && isAffected($0.key) }, from: table, into: &victims)
    }

    /// A registration is gone: its instances are not handed out any more.
    ///
    /// An instance that it decorates goes with it, unless it is only decorated anew.
    mutating func drop(
        _ recipe: Recipe, keepingBase: Bool = false, from table: InstanceTable, into victims: inout Victims
    ) {
        recipe.retire()
        drop(from: table, into: &victims) { $0.recipe === recipe || $0.recipe.blueprint.underlying == recipe.key }
        drop(keys: [CreationKey(withoutArguments: recipe)], from: table, into: &victims)
        if !keepingBase, case .instance(let base)? = recipe.base { drop(base, from: table, into: &victims) }
    }

    /// Drops cached instances.
    ///
    /// Those that are leased are disposed when their last lease ends.
    mutating func drop(keys: [CreationKey], from table: InstanceTable, into victims: inout Victims) {
        drop(keys.compactMap { instances[$0] }, from: table, into: &victims)
    }

    mutating func drop(_ dropped: [Kept], from table: InstanceTable, into victims: inout Victims) {
        var ids: [DisposalLedger<Disposable>.ID] = []
        for kept in dropped {
            instances.remove(kept)
            unpublish(kept, from: table)
            if let storage = kept.storage { victims.storages.append(storage) }
            if let id = kept.ledgerID { ids.append(id) }
            if let node = kept.node { endUse(node, of: kept.recipe, into: &victims) }
            if kept.arguments != nil {
                kept.recipe.index.load()?.takeUnretainedValue().remove(kept, retired: &retired)
            }
            victims.entries.append(kept)
            if !kept.recipe.blueprint.isHidden { note(.evicted(kept.recipe.key)) }
        }
        for item in ledger.take(ids) where !leases.postpone(item) { owe(item, in: &victims) }
    }

    /// Takes an instance back from readers who look for its service.
    mutating func unpublish(_ kept: Kept, from table: InstanceTable) {
        if kept.isPublished, let cell = kept.cell {
            table.unpublish(cell, for: kept.recipe.key, retired: &retired)
            kept.isPublished = false
        }
        guard kept.hasAliases else { return }
        for alias in self.aliases.removeValue(forKey: ObjectIdentifier(kept)) ?? [] {
            table.unpublish(alias.cell, for: alias.key, retired: &retired)
            // Perhaps the last reference to the instance, when another one has taken its place.
            retired.append(alias.cell)
        }
        kept.hasAliases = false
    }

    /// An instance is to be disposed outside the lock.
    mutating func owe(_ item: Disposable, in victims: inout Victims) {
        owed += 1
        victims.disposables.append(item)
    }
}

/// Forgetting cached instances.
extension ContainerCore {
    /// What a reset is about.
    enum ResetTarget {
        case everything
        case lifetime(Lifetime)
        case service(any Any.Type, (any Qualifier)?)
        case arguments(ServiceKey, ArgumentPack)
    }

    func reset(_ target: ResetTarget, throughAncestors: Bool) async throws {
        var errors: [any Error] = []
        var core: ContainerCore? = self
        while let current = core {
            errors += try await current.resetHere(target)
            core = throughAncestors ? current.parent : nil
        }
        if !errors.isEmpty { throw DisposalError(errors: errors) }
    }

    private func resetHere(_ target: ResetTarget) async throws -> [any Error] {
        let isAffected = selection(target)
        var victims = Victims()
        try withState { state in
            guard state.phase == .open else { throw disposedError(nil, asker: nil) }
            // What is hidden is no instance of anybody's: modules that are being told must not be told twice.
            state.drop(from: table, into: &victims) { !$0.recipe.blueprint.isHidden && isAffected($0) }
        }
        return await dispose(of: victims)?.value ?? []
    }

    private func selection(_ target: ResetTarget) -> (CreationKey) -> Bool {
        switch target {
        case .everything:
            return { _ in true }
        case .lifetime(let lifetime):
            return { $0.recipe.lifetime == lifetime }
        case .service(let service, let qualifier):
            // Asking for a forwarded type means the service behind it.
            let targets = registeredKeys(of: service, qualifier: qualifier)
            return { key in
                targets.contains(key.recipe.key)
                    || key.recipe.blueprint.underlying.map {
                        $0.service == service && areEqual($0.qualifier, qualifier)
                    }
                        == true
                    || key.recipe.key.service == service && areEqual(key.recipe.key.qualifier, qualifier)
            }
        case .arguments(let key, let pack):
            guard let (found, owner) = table.registration(of: key) else { return { _ in false } }
            // What is behind a forwarded type is what its own container has, whatever overrides it on the way.
            let target = found.forwardedKey.flatMap { owner.registration(of: $0)?.recipe } ?? found
            let affected = CreationKey(target, pack)
            return { key in
                key == affected
                    || key.recipe.blueprint.underlying == target.key && key.arguments == affected.arguments
            }
        }
    }

    /// The keys of the services behind a type that they are forwarded to.
    func registeredKeys(of service: any Any.Type, qualifier: (any Qualifier)?) -> Set<ServiceKey> {
        var targets: Set<ServiceKey> = []
        var core: ContainerCore? = self
        while let current = core {
            current.withState { state in
                for recipe in state.registrations.records(of: service) where areEqual(recipe.key.qualifier, qualifier) {
                    if let from = recipe.forwardedKey { targets.insert(from) }
                }
            }
            core = current.parent
        }
        return targets
    }
}
