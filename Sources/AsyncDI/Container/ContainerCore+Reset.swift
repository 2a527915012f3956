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
        drop(keys: instances.filter { isAffected($0.key) && !$0.value.isFixed }.map(\.key), from: table, into: &victims)
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
        var ids: [DisposalLedger<Disposable>.ID] = []
        for key in keys {
            guard let index = instances.index(forKey: key) else { continue }
            let (key, kept) = instances.remove(at: index)
            for published in kept.published {
                table.unpublish(published.cell, for: published.key, retired: &retired)
            }
            if let storage = kept.storage { victims.storages.append(storage) }
            if let id = kept.ledgerID { ids.append(id) }
            if let node = kept.node { endUse(node, of: key.recipe, into: &victims) }
            if let indexed = kept.indexed {
                key.recipe.index.load()?.takeUnretainedValue().remove(indexed, retired: &retired)
            }
            victims.entries.append(kept)
            if !key.recipe.blueprint.isHidden { note(.evicted(key.recipe.key)) }
        }
        for item in ledger.take(ids) where !leases.postpone(item) { owe(item, in: &victims) }
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
