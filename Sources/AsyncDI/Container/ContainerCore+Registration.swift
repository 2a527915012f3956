/// Adding, replacing and removing registrations.
extension ContainerCore {
    /// Registers the contents of the initializer, which cannot throw: problems are thrown by every resolve of their key.
    func setUp(_ registrations: Registrations) {
        if registrations.isEmpty { return }
        let (recipes, decorations, modules) = contents(of: registrations)
        let rejections = rejections(among: recipes)
        // Nothing can have been made yet.
        var victims = Victims()
        withState { state in
            state.registrations.reserve(recipes.count)
            table.reserve(recipes.count, retired: &state.retired)
            for recipe in recipes {
                if let problem = recipe.problem { state.setUpProblems.append(problem) }
                let place = table.ownPlace(of: recipe.key)
                switch state.registrations.add(recipe, beside: place.recipe, onDuplicate: duplicatePolicy) {
                case .added: break
                case .replaced(let old): old.retire()
                case .kept: continue
                case .rejected:
                    guard let old = place.recipe, let problem = rejections[ObjectIdentifier(recipe)] else {
                        preconditionFailure("what is rejected was registered before in the same list")
                    }
                    state.setUpProblems.append(problem)
                    let poisoned = Recipe(recipe.blueprint, defaultLifetime: defaultLifetime, problem: problem)
                    state.registrations.exchange(old, for: poisoned)
                    publish(poisoned, at: place, in: &state)
                    continue
                }
                publish(recipe, at: place, in: &state)
                // What a request's scope is given is its data, and no news.
                if !isScope || recipe.blueprint.instance == nil && !recipe.blueprint.isExpected {
                    state.note(.registered, .registered(recipe.key))
                }
            }
            add(decorations, in: &state, into: &victims)
            note(modules, in: &state)
        }
        decorateInherited(decorations)
    }

    /// Registers one.
    func register(_ draft: Recipe) throws {
        // Whatever makes it more than one recipe is decided about as a list is.
        guard draft.blueprint.isSimple, duplicatePolicy != .reject else {
            return try register(Registrations(draft))
        }
        let recipe = draft.taken(defaultLifetime: defaultLifetime)
        var victims = Victims()
        let outcome: Outcome = withState { state in
            guard state.phase == .open else { return .disposed }
            add(recipe, in: &state, into: &victims)
            RegistrationClock.advance()
            return .registered(isDecorated: state.rarely { !$0.decorators.isEmpty })
        }
        guard case .registered(let isDecorated) = outcome else { throw disposedError(recipe.key, asker: nil) }
        if !victims.isEmpty { dispose(of: victims) }
        if isDecorated { offer([recipe.key]) }
    }

    /// Registers all or nothing.
    func register(_ registrations: Registrations) throws {
        let (recipes, decorations, modules) = contents(of: registrations)
        if let problem = recipes.lazy.compactMap(\.problem).first { throw problem }
        var victims = Victims()
        let outcome: Outcome = withState { state in
            guard state.phase == .open else { return .disposed }
            if duplicatePolicy == .reject, let duplicate = duplicate(among: recipes) { return duplicate }
            for recipe in recipes { add(recipe, in: &state, into: &victims) }
            add(decorations, in: &state, into: &victims)
            note(modules, in: &state)
            RegistrationClock.advance()
            return .registered(isDecorated: state.rarely { !$0.decorators.isEmpty })
        }
        switch outcome {
        case .disposed: throw disposedError(recipes.first?.key, asker: nil)
        case .duplicate(let second, let first): throw duplicateError(second, of: first)
        case .registered(let isDecorated):
            dispose(of: victims)
            decorateInherited(decorations)
            if isDecorated { offer(recipes.map(\.key)) }
        }
    }

    /// Adds one registration to those that are there.
    private func add(_ recipe: Recipe, in state: inout State, into victims: inout Victims) {
        forgetInherited(recipe.key, in: &state, into: &victims)
        let recipe = decorated(recipe, in: state)
        let place = table.ownPlace(of: recipe.key)
        switch state.registrations.add(recipe, beside: place.recipe, onDuplicate: duplicatePolicy) {
        case .added: break
        case .replaced(let old):
            state.drop([old], from: table, into: &victims)
            renewForwards(of: old.key, in: &state, into: &victims)
        case .kept, .rejected: return
        }
        publish(recipe, at: place, in: &state)
        state.note(.registered, .registered(recipe.key))
    }

    /// What became of registrations: made into an error outside the lock, because a qualifier's description is user code.
    private enum Outcome {
        /// Whether other containers decorate what they inherit from here.
        case registered(isDecorated: Bool)
        case disposed
        case duplicate(Recipe, of: Recipe)
    }

    /// Takes back every registration of a service with this qualifier and these argument types (all, when nil).
    func unregister(_ service: any Any.Type, qualifier: (any Qualifier)?, arguments: ArgumentPack.Type?) -> Bool {
        let name = ServiceName(ServiceKey(service, qualifier: qualifier))
        return unregister { state in
            state.registrations.records(named: name).filter {
                !$0.key.isContribution && (arguments == nil || $0.key.arguments == arguments)
            }
        }
    }

    /// Takes back the registrations that are selected; their instances are disposed.
    func unregister(_ select: (inout State) -> [Recipe]) -> Bool {
        var victims = Victims()
        let removed: [ServiceKey] = withState { state in
            guard state.phase == .open else { return [] }
            var removed: [ServiceKey] = []
            var retired: [Recipe] = []
            for recipe in select(&state) where recipe.isCurrent && recipe.base?.isInherited != true {
                removed.append(recipe.key)
                retired.append(recipe)
                remove(recipe, in: &state)
                for forward in recipe.blueprint.forwards {
                    guard let alias = table.ownRegistration(of: forward.to), alias.forwardedKey == recipe.key else {
                        continue
                    }
                    remove(alias, in: &state)
                    alias.retire()
                    retired.append(alias)
                }
            }
            state.drop(retired, from: table, into: &victims)
            inheritInstead(of: removed, in: &state)
            if !removed.isEmpty { RegistrationClock.advance() }
            return removed
        }
        dispose(of: victims)
        return !removed.isEmpty
    }

    /// Takes back one registration, which has its key.
    func remove(_ recipe: Recipe, in state: inout State) {
        state.registrations.remove(recipe)
        table.unpublish(recipe.key, retired: &state.retired)
    }

    // MARK: Recipes

    /// The recipes of the registrations and of the types that they are forwarded to, and what else there is.
    private func contents(of registrations: Registrations) -> ([Recipe], [Decoration], [any Module]) {
        var recipes: [Recipe] = []
        var decorations: [Decoration] = []
        var modules: [any Module] = []
        recipes.reserveCapacity(registrations.count)
        registrations.forEach { draft in
            if draft.blueprint.isSimple {
                recipes.append(draft.taken(defaultLifetime: defaultLifetime))
                return
            }
            let blueprint = draft.blueprint
            let problem = blueprint.problem(defaultLifetime: defaultLifetime)
            recipes.append(Recipe(blueprint, defaultLifetime: defaultLifetime, problem: problem))
            for forward in blueprint.forwards {
                let alias = blueprint.forwarding(by: forward)
                recipes.append(Recipe(alias, defaultLifetime: defaultLifetime, problem: problem))
            }
        } decoration: {
            decorations.append($0)
        } module: {
            modules.append($0)
        }
        return (recipes, decorations, modules)
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

    private func duplicate(among recipes: [Recipe]) -> Outcome? {
        var seen: [ServiceKey: Recipe] = [:]
        for recipe in recipes {
            let taken = table.ownRegistration(of: recipe.key).flatMap { $0.base?.isInherited == true ? nil : $0 }
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
    private func publish(_ recipe: Recipe, at place: InstanceTable.OwnPlace, in state: inout State) {
        table.publish(recipe, at: place, retired: &state.retired)
        if recipe.blueprint.isSimple, recipe.base == nil { return }
        if case .instance(let inner)? = recipe.base { keepInstance(of: inner, isFound: false, in: &state) }
        keepInstance(of: recipe, isFound: true, in: &state)
    }

    /// Keeps the instance that a registration came with, if it did, to be found and disposed.
    private func keepInstance(of recipe: Recipe, isFound: Bool, in state: inout State) {
        guard let cell = recipe.blueprint.instance, recipe.problem == nil else { return }
        let key = CreationKey(withoutArguments: recipe)
        let kept = Kept(key, cell: cell)
        kept.isFixed = true
        if recipe.hasDisposalHooks {
            kept.ledgerID = state.ledger.record(Disposable(cell, key, in: self))
        }
        if isFound {
            cell.isSharedBelow = true
            kept.isPublished = true
            table.publish(cell, for: recipe.key, retired: &state.retired)
        }
        // A recipe is new to its container: nothing of it is kept yet.
        state.instances.insert(kept, insteadOf: nil)
    }
}
