/// Adding, replacing and removing registrations.
extension ContainerCore {
    /// Registers what was given to the initialiser, where nothing can be thrown: problems are thrown by every resolve of their key.
    func setUp(_ registrations: Registrations) {
        if registrations.isEmpty { return }
        let recipes = registrations.blueprints.flatMap(recipes(for:))
        let rejections = rejections(among: recipes)
        // Nothing can have been made yet.
        var victims = Victims()
        withState { state in
            for recipe in recipes {
                if let problem = recipe.problem { state.setUpProblems.append(problem) }
                switch state.registrations.add(recipe, for: recipe.key, onDuplicate: duplicatePolicy) {
                case .added: break
                case .replaced(let old): old.retire()
                case .kept: continue
                case .rejected:
                    guard let problem = rejections[ObjectIdentifier(recipe)] else {
                        preconditionFailure("what is rejected was registered before in the same list")
                    }
                    state.setUpProblems.append(problem)
                    let poisoned = Recipe(recipe.blueprint, defaultLifetime: defaultLifetime, problem: problem)
                    state.registrations.update(poisoned, for: recipe.key)
                    publish(poisoned, in: &state)
                    continue
                }
                publish(recipe, in: &state)
                state.note(.registered(recipe.key))
            }
            add(registrations.decorations, in: &state, into: &victims)
            note(registrations.modules, in: &state)
        }
        decorateInherited(registrations.decorations)
    }

    /// Registers all or nothing.
    func register(_ registrations: Registrations) throws {
        let recipes = registrations.blueprints.flatMap(recipes(for:))
        if let problem = recipes.lazy.compactMap(\.problem).first { throw problem }
        var victims = Victims()
        let refusal: Refusal? = withState { state in
            guard state.phase == .open else { return .disposed }
            if duplicatePolicy == .reject, let duplicate = duplicate(among: recipes, in: state) { return duplicate }
            for recipe in recipes {
                forgetInherited(recipe.key, in: &state, into: &victims)
                let recipe = decorated(recipe, in: state)
                switch state.registrations.add(recipe, for: recipe.key, onDuplicate: duplicatePolicy) {
                case .added: break
                case .replaced(let old):
                    state.drop(old, from: table, into: &victims)
                    renewForwards(of: old.key, in: &state, into: &victims)
                case .kept, .rejected: continue
                }
                publish(recipe, in: &state)
                state.note(.registered(recipe.key))
            }
            add(registrations.decorations, in: &state, into: &victims)
            note(registrations.modules, in: &state)
            RegistrationClock.advance()
            return nil
        }
        switch refusal {
        case .disposed: throw disposedError(recipes.first?.key, asker: nil)
        case .duplicate(let second, let first): throw duplicateError(second, of: first)
        case nil: dispose(of: victims)
        }
        decorateInherited(registrations.decorations)
        offer(recipes.map(\.key))
    }

    /// Why nothing was registered: made into an error outside the lock, because a qualifier's description is user code.
    private enum Refusal {
        case disposed
        case duplicate(Recipe, of: Recipe)
    }

    /// Takes back every registration of a service with this qualifier and these argument types (all, when nil).
    func unregister(_ service: any Any.Type, qualifier: (any Qualifier)?, arguments: ArgumentPack.Type?) -> Bool {
        unregister { state in
            state.registrations.keys(of: service).filter {
                if case .contribution = $0.role { return false }
                return areEqual($0.qualifier, qualifier) && (arguments == nil || $0.arguments == arguments)
            }
        }
    }

    /// Takes back the registrations that are selected; their instances are disposed.
    func unregister(_ select: (State) -> [ServiceKey]) -> Bool {
        var victims = Victims()
        let removed: [ServiceKey] = withState { state in
            guard state.phase == .open else { return [] }
            var removed: [ServiceKey] = []
            for key in select(state) where state.registrations[key]?.base?.isInherited != true {
                guard let recipe = state.registrations.remove(key) else { continue }
                removed.append(key)
                state.retired += table.publish(Recipe?.none, for: key)
                for forward in recipe.blueprint.forwards
                where state.registrations[forward.to]?.forwardedKey == key {
                    if let alias = state.registrations.remove(forward.to) { alias.retire() }
                    state.retired += table.publish(Recipe?.none, for: forward.to)
                }
                state.drop(recipe, from: table, into: &victims)
            }
            inheritInstead(of: removed, in: &state)
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

    /// The errors of those that a container which rejects duplicates does not take, when it has nothing yet.
    private func rejections(among recipes: [Recipe]) -> [ObjectIdentifier: ResolutionError] {
        guard duplicatePolicy == .reject else { return [:] }
        var seen: [ServiceKey: Recipe] = [:]
        var rejections: [ObjectIdentifier: ResolutionError] = [:]
        for recipe in recipes {
            guard let first = seen.updateValue(recipe, forKey: recipe.key) else { continue }
            rejections[ObjectIdentifier(recipe)] = duplicateError(recipe, of: first)
        }
        return rejections
    }

    private func duplicate(among recipes: [Recipe], in state: State) -> Refusal? {
        var seen: [ServiceKey: Recipe] = [:]
        for recipe in recipes {
            let taken = state.registrations[recipe.key].flatMap { $0.base?.isInherited == true ? nil : $0 }
            if let first = taken ?? seen.updateValue(recipe, forKey: recipe.key) {
                return .duplicate(recipe, of: first)
            }
        }
        return nil
    }

    private func duplicateError(_ second: Recipe, of first: Recipe) -> ResolutionError {
        let key = second.key
        let place = first.blueprint.site.map { " (\($0))" } ?? ""
        return ResolutionError(
            .duplicateRegistration, "\(key) is already registered in \(displayName)\(place), which rejects duplicates.",
            advice: "Remove one of them, tell them apart by a qualifier, or choose onDuplicate: .replace or .keep.",
            steps: [PathStep(key: key, recipe: nil, pack: .none, site: second.blueprint.site)])
    }

    /// Makes a registration visible to readers; an instance that came with it is there at once.
    private func publish(_ recipe: Recipe, in state: inout State) {
        state.retired += table.publish(recipe, for: recipe.key)
        if case .instance(let inner)? = recipe.base { keepInstance(of: inner, isFound: false, in: &state) }
        keepInstance(of: recipe, isFound: true, in: &state)
    }

    /// Keeps the instance that a registration came with, if it did, to be found and disposed.
    private func keepInstance(of recipe: Recipe, isFound: Bool, in state: inout State) {
        guard let cell = recipe.blueprint.instance, recipe.problem == nil else { return }
        var kept = Kept(cell: cell, isFixed: true)
        if recipe.hasDisposalHooks {
            kept.ledgerID = state.ledger.record(Disposable(cell: cell, recipe: recipe))
        }
        if isFound {
            cell.isSharedBelow = true
            kept.published = [Publication(key: recipe.key, cell: cell)]
            state.retired += table.publish(cell, for: recipe.key)
        }
        state.instances[CreationKey(withoutArguments: recipe)] = kept
    }
}
