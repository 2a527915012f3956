/// Adding, replacing and removing registrations.
extension ContainerCore {
    /// Registers what was given to the initialiser, where nothing can be thrown: problems are thrown by every resolve of their key.
    func setUp(_ registrations: Registrations) {
        let recipes = registrations.blueprints.flatMap(recipes(for:))
        withState { state in
            for recipe in recipes {
                if let problem = recipe.problem { state.setUpProblems.append(problem) }
                switch state.registrations.add(recipe, for: recipe.key, onDuplicate: duplicatePolicy) {
                case .added: publish(recipe, in: &state)
                case .replaced(let old):
                    old.retire()
                    publish(recipe, in: &state)
                case .kept: break
                case .rejected:
                    let problem = duplicateError(recipe.key)
                    state.setUpProblems.append(problem)
                    let poisoned = Recipe(recipe.blueprint, defaultLifetime: defaultLifetime, problem: problem)
                    state.registrations.update(poisoned, for: recipe.key)
                    publish(poisoned, in: &state)
                }
            }
        }
        for recipe in recipes { send(.registered(recipe.key)) }
    }

    /// Registers all or nothing.
    func register(_ blueprints: [Blueprint]) throws {
        let recipes = blueprints.flatMap(recipes(for:))
        if let problem = recipes.lazy.compactMap(\.problem).first { throw problem }
        var registered: [ServiceKey] = []
        var victims = Victims()
        try withState { state in
            guard state.phase == .open else { throw disposedError(recipes.first?.key, asker: nil) }
            if duplicatePolicy == .reject { try rejectDuplicates(recipes, in: state) }
            for recipe in recipes {
                switch state.registrations.add(recipe, for: recipe.key, onDuplicate: duplicatePolicy) {
                case .added: break
                case .replaced(let old): state.drop(old, from: table, into: &victims)
                case .kept, .rejected: continue
                }
                publish(recipe, in: &state)
                registered.append(recipe.key)
            }
            RegistrationClock.advance()
        }
        dispose(of: victims)
        for key in registered { send(.registered(key)) }
    }

    /// Takes back every registration of a service with this qualifier and these argument types (all, when nil).
    func unregister(_ service: any Any.Type, qualifier: (any Qualifier)?, arguments: ArgumentPack.Type?) -> Bool {
        var victims = Victims()
        let removed: [ServiceKey] = withState { state in
            guard state.phase == .open else { return [] }
            let keys = state.registrations.keys(of: service).filter {
                areEqual($0.qualifier, qualifier) && (arguments == nil || $0.arguments == arguments)
            }
            var removed: [ServiceKey] = []
            for key in keys {
                guard let recipe = state.registrations.remove(key) else { continue }
                removed.append(key)
                state.retired += table.publish(Recipe?.none, for: key)
                for forward in recipe.blueprint.forwards
                where state.registrations[forward.to]?.blueprint.target?.from == key {
                    if let alias = state.registrations.remove(forward.to) { alias.retire() }
                    state.retired += table.publish(Recipe?.none, for: forward.to)
                }
                state.drop(recipe, from: table, into: &victims)
            }
            if !removed.isEmpty { RegistrationClock.advance() }
            return removed
        }
        dispose(of: victims)
        return !removed.isEmpty
    }

    // MARK: Recipes

    /// The recipe of a registration and those of the types that it is forwarded to.
    private func recipes(for blueprint: Blueprint) -> [Recipe] {
        let recipe = Recipe(
            blueprint, defaultLifetime: defaultLifetime, problem: blueprint.problem(defaultLifetime: defaultLifetime))
        return [recipe]
            + blueprint.forwards.map {
                Recipe(blueprint.forwarding(by: $0), defaultLifetime: defaultLifetime, problem: recipe.problem)
            }
    }

    private func rejectDuplicates(_ recipes: [Recipe], in state: State) throws(ResolutionError) {
        var seen: Set<ServiceKey> = []
        for recipe in recipes where state.registrations[recipe.key] != nil || !seen.insert(recipe.key).inserted {
            throw duplicateError(recipe.key)
        }
    }

    private func duplicateError(_ key: ServiceKey) -> ResolutionError {
        ResolutionError(
            .duplicateRegistration, "\(key) is already registered in \(displayName), which rejects duplicates.",
            advice: "Remove one of them, tell them apart by a qualifier, or choose onDuplicate: .replace or .keep.",
            steps: [PathStep(key: key, recipe: nil, pack: .none)])
    }

    /// Makes a registration visible to readers; an instance that came with it is there at once.
    private func publish(_ recipe: Recipe, in state: inout State) {
        state.retired += table.publish(recipe, for: recipe.key)
        guard let cell = recipe.blueprint.instance, recipe.problem == nil else { return }
        var kept = Kept(cell: cell, published: [Publication(key: recipe.key, cell: cell)], isFixed: true)
        if recipe.hasDisposalHooks {
            kept.ledgerID = state.ledger.record(Disposable(cell: cell, recipe: recipe))
        }
        cell.isSharedBelow = true
        state.instances[CreationKey(withoutArguments: recipe)] = kept
        state.retired += table.publish(cell, for: recipe.key)
    }
}
