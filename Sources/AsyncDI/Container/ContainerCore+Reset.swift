/// What a change drops from the caches, to be dealt with outside the lock.
struct Victims {
    /// Newest first.
    var disposables: [Disposable] = []
    var storages: [any InstanceStorage] = []
    /// Released last, outside the lock.
    var cells: [Cell] = []
    var keys: [ServiceKey] = []

    func clearStorages() {
        for storage in storages { storage.clear() }
    }
}

extension ContainerCore.State {
    /// Drops the instances of these keys; what is in flight is given to those who wait, and not kept.
    mutating func drop(from table: InstanceTable, into victims: inout Victims, where isAffected: (CreationKey) -> Bool)
    {
        flights.invalidate(where: isAffected)
        var ids: [DisposalLedger<Disposable>.ID] = []
        for (key, kept) in instances where isAffected(key) && !kept.isFixed {
            remove(key, kept, from: table, into: &victims)
            if let id = kept.ledgerID { ids.append(id) }
        }
        victims.disposables += ledger.take(ids)
    }

    /// A registration is gone: its instances are not handed out any more.
    mutating func drop(_ recipe: Recipe, from table: InstanceTable, into victims: inout Victims) {
        recipe.retire()
        drop(from: table, into: &victims) { $0.recipe === recipe }
        let key = CreationKey(withoutArguments: recipe)
        if let kept = instances[key], kept.isFixed {
            remove(key, kept, from: table, into: &victims)
            if let id = kept.ledgerID, let item = ledger.take(id) { victims.disposables.append(item) }
        }
    }

    private mutating func remove(
        _ key: CreationKey, _ kept: Kept, from table: InstanceTable, into victims: inout Victims
    ) {
        instances[key] = nil
        for published in kept.published { retired += table.unpublish(published.cell, for: published.key) }
        if let storage = kept.storage { victims.storages.append(storage) }
        if let cell = kept.cell { victims.cells.append(cell) }
        victims.keys.append(key.recipe.key)
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
            state.drop(from: table, into: &victims, where: isAffected)
        }
        victims.clearStorages()
        for key in victims.keys { send(.evicted(key)) }
        guard let cleanup = cleanUp(victims.disposables) else { return [] }
        return await cleanup.value
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
                    || key.recipe.key.service == service && areEqual(key.recipe.key.qualifier, qualifier)
            }
        case .arguments(let key, let pack):
            guard let found = table.registration(of: key)?.recipe else { return { _ in false } }
            let target =
                found.blueprint.target
                .flatMap { table.registration(of: $0.from)?.recipe } ?? found
            let affected = CreationKey(target, pack)
            return { $0 == affected }
        }
    }

    private func registeredKeys(of service: any Any.Type, qualifier: (any Qualifier)?) -> Set<ServiceKey> {
        var targets: Set<ServiceKey> = []
        var core: ContainerCore? = self
        while let current = core {
            current.withState { state in
                for key in state.registrations.keys(of: service) where areEqual(key.qualifier, qualifier) {
                    if let from = state.registrations[key]?.blueprint.target?.from { targets.insert(from) }
                }
            }
            core = current.parent
        }
        return targets
    }
}
