/// Adding, replacing and removing registrations.
extension ContainerCore {
    /// Registers the contents of the initializer, which cannot throw; every resolve of an invalid key throws its
    /// problem.
    func setUp(_ registrations: Registrations) {
        if registrations.isEmpty { return }
        let (bindings, decorations, modules) = contents(of: registrations)
        let rejections = Dictionary(
            uniqueKeysWithValues: duplicates(among: bindings).map {
                (ObjectIdentifier($0.second), duplicateError($0.second, of: $0.first))
            })
        // No instance can exist yet, so the removals remain empty.
        var removals = Removals()
        withState { state in
            state.registrations.reserve(bindings.count)
            table.reserve(bindings.count, retired: &state.retired)
            var ignored: ServiceKey?
            for binding in bindings {
                // When a registration is ignored, so are its other types.
                if let ignored, binding.blueprint.target?.from == ignored { continue }
                ignored = nil
                let place = table.ownPlace(of: binding.key)
                switch state.registrations.add(binding, beside: place.binding, onDuplicate: duplicatePolicy) {
                case .added: break
                case .replaced(let old):
                    old.retire()
                    renewForwards(to: binding, insteadOf: old, in: &state, into: &removals)
                case .kept:
                    if binding.blueprint.target == nil { ignored = binding.key }
                    continue
                case .rejected:
                    guard let old = place.binding, let problem = rejections[ObjectIdentifier(binding)] else {
                        preconditionFailure("what is rejected was registered before in the same list")
                    }
                    let poisoned = Binding(
                        binding.blueprint, defaultLifetime: defaultLifetime, problem: old.problem ?? problem)
                    state.registrations.exchange(old, for: poisoned)
                    publish(poisoned, at: place, in: &state)
                    continue
                }
                publish(binding, at: place, in: &state)
                // The registrations of a request's scope are its data, and cause no events.
                if !isScope || !isGiven(binding) { state.note(.registered, .registered(binding.key)) }
            }
            add(decorations, in: &state, into: &removals)
            note(modules, in: &state)
        }
        decorateInherited(decorations)
    }

    /// Whether a registration of this container, or the one behind it, supplies an instance or expects one.
    private func isGiven(_ binding: Binding) -> Bool {
        guard let forward = binding.blueprint.target else {
            return binding.blueprint.instance != nil || binding.blueprint.isExpected
        }
        return table.ownRegistration(of: forward.from).map { $0 !== binding && isGiven($0) } ?? false
    }

    /// Registers one draft.
    func register(_ draft: Binding) throws {
        // A draft that may be more than one binding is registered as a list.
        guard duplicatePolicy != .reject, settings.takesAsItIs(draft) else {
            return try register(Registrations(draft))
        }
        let binding = draft.taken(defaultLifetime: defaultLifetime)
        var removals = Removals()
        let (isOpen, announcement) = withAnnouncement(of: { [ServiceName(binding.key)] }) { state in
            guard state.life.isOpen else { return false }
            add(binding, in: &state, into: &removals)
            RegistrationCounter.advance()
            return true
        }
        defer { announcement?.end() }
        // Made outside the lock, because a qualifier's description is user code.
        guard isOpen else { throw refusal(toRegister: binding.key) }
        dispose(of: removals)
        if announcement != nil { offer([binding.key]) }
    }

    /// Registers all registrations or none.
    func register(_ registrations: Registrations) throws {
        let (bindings, decorations, modules) = contents(of: registrations)
        if let problem = bindings.lazy.compactMap(\.problem).first { throw problem }
        var removals = Removals()
        var duplicate: (second: Binding, first: Binding)?
        // In the same way as for one draft.
        let (isOpen, announcement) = withAnnouncement(of: { Set(bindings.map { ServiceName($0.key) }) }) { state in
            guard state.life.isOpen else { return false }
            duplicate = duplicates(among: bindings).first
            if duplicate != nil { return true }
            // First: a request that finds one of the registrations sees the pending module.
            note(modules, in: &state)
            var ignored: ServiceKey?
            for binding in bindings {
                // When a registration is ignored, so are its other types.
                if let ignored, binding.blueprint.target?.from == ignored { continue }
                let isAdded = add(binding, in: &state, into: &removals)
                ignored = isAdded || binding.blueprint.target != nil ? nil : binding.key
            }
            add(decorations, in: &state, into: &removals)
            RegistrationCounter.advance()
            return true
        }
        defer { announcement?.end() }
        if let (second, first) = duplicate { throw duplicateError(second, of: first) }
        guard isOpen else { throw refusal(toRegister: bindings.first?.key) }
        if !modules.isEmpty { passOnPendingModules() }
        dispose(of: removals)
        decorateInherited(decorations)
        guard announcement != nil else { return }
        let decorated = withState { state in
            decorations.flatMap { state.registrations.keys(named: $0.name).filter($0.applies) }
        }
        offer(bindings.map(\.key) + decorated)
    }

    /// Adds one registration.
    ///
    /// - Returns: Whether it was added: not when the container keeps an earlier one.
    @discardableResult
    private func add(_ binding: Binding, in state: inout State, into removals: inout Removals) -> Bool {
        let binding = decorated(binding, in: state)
        let place = table.ownPlace(of: binding.key)
        var former = place.binding
        if let inherited = former, inherited.base?.isInherited == true {
            forgetInherited(inherited, in: &state, into: &removals)
            former = nil
        }
        switch state.registrations.add(binding, beside: former, onDuplicate: duplicatePolicy) {
        case .added: break
        case .replaced(let old):
            state.drop([old], into: &removals)
            renewForwards(to: binding, insteadOf: old, in: &state, into: &removals)
        case .kept, .rejected: return false
        }
        publish(binding, at: place, in: &state)
        state.note(.registered, .registered(binding.key))
        return true
    }

    /// Removes every registration of a service with this qualifier and these argument types (all, when nil).
    func unregister(_ service: any Any.Type, qualifier: (any Qualifier)?, arguments: ArgumentPack.Type?) -> Bool {
        let name = ServiceName(ServiceKey(service, qualifier: qualifier))
        return unregister { state in
            state.registrations.records(named: name).filter {
                !$0.key.isContribution && (arguments == nil || $0.key.arguments == arguments)
            }
        }
    }

    /// Removes the selected registrations, and disposes their instances.
    func unregister(_ select: (inout State) -> [Binding]) -> Bool {
        var removals = Removals()
        let removed: [Binding] = withState { state in
            guard state.life.isOpen else { return [] }
            var removed: [Binding] = []
            for binding in select(&state) where binding.isCurrent && binding.base?.isInherited != true {
                removed.append(binding)
                remove(binding, in: &state)
                // Also those of a registration that this one has replaced.
                for alias in state.registrations.records(forwardingTo: binding.key)
                where alias.base?.isInherited != true {
                    remove(alias, in: &state)
                    alias.retire()
                    removed.append(alias)
                }
            }
            state.drop(removed, into: &removals)
            if !removed.isEmpty { RegistrationCounter.advance() }
            return removed
        }
        dispose(of: removals)
        if !removed.isEmpty { offer(removed.map(\.key)) }
        return !removed.isEmpty
    }

    // MARK: Bindings

    /// The bindings of the registrations and of their forwarded types, and the decorations and modules.
    private func contents(of registrations: Registrations) -> ([Binding], [Decoration], [any Module]) {
        var bindings: [Binding] = []
        var decorations: [Decoration] = []
        var modules: [any Module] = []
        bindings.reserveCapacity(registrations.count)
        registrations.forEach { draft in
            if settings.takesAsItIs(draft) {
                bindings.append(draft.taken(defaultLifetime: defaultLifetime))
                return
            }
            var blueprint = draft.blueprint
            blueprint.becomeOneOfItsKind(again: draft.isTakenAgain)
            blueprint = blueprint.intercepted(by: settings.interceptors, in: self)
            let problem = blueprint.problem(defaultLifetime: defaultLifetime)
            bindings.append(Binding(blueprint, defaultLifetime: defaultLifetime, problem: problem))
            for forward in blueprint.forwards {
                let alias = blueprint.forwarding(by: forward)
                bindings.append(Binding(alias, defaultLifetime: defaultLifetime, problem: problem))
            }
        } decoration: {
            decorations.append($0)
        } module: {
            modules.append($0)
        }
        return (bindings, decorations, modules)
    }

    /// The bindings that the container rejects, each with an earlier one that has its key.
    private func duplicates(among bindings: [Binding]) -> [(second: Binding, first: Binding)] {
        guard duplicatePolicy == .reject else { return [] }
        var seen: [ServiceKey: Binding] = [:]
        return bindings.compactMap { binding in
            let taken = table.ownRegistration(of: binding.key).flatMap { $0.base?.isInherited == true ? nil : $0 }
            return (taken ?? seen.updateValue(binding, forKey: binding.key)).map { (binding, $0) }
        }
    }

    private func duplicateError(_ second: Binding, of first: Binding) -> ResolutionError {
        let key = second.key
        let place = first.blueprint.site.map { " (\($0))" } ?? ""
        return ResolutionError(
            .duplicateRegistration, "\(key) is already registered in \(displayName)\(place), which rejects duplicates.",
            advice: "Remove one of them, distinguish them by a qualifier, or choose onDuplicate: .replace or .keep.",
            steps: [PathStep(key: key, site: second.blueprint.site)])
    }

    /// Makes a registration visible to readers; an instance that came with it is found at once.
    private func publish(_ binding: Binding, at place: InstanceTable.OwnPlace, in state: inout State) {
        table.publish(binding, at: place, retired: &state.retired)
        if binding.blueprint.isSimple, binding.blueprint.instance == nil, binding.base == nil { return }
        if case .instance(let inner)? = binding.base { keepInstance(of: inner, isFound: false, in: &state) }
        keepInstance(of: binding, isFound: true, in: &state)
    }

    /// Keeps the instance of a registration that came with one, so that it is found and disposed.
    private func keepInstance(of binding: Binding, isFound: Bool, in state: inout State) {
        guard let cell = binding.blueprint.instance, binding.problem == nil else { return }
        let isNoticed = !settings.interceptors.isEmpty
        if isFound, !isNoticed { table.publish(cell, in: binding, retired: &state.retired) }
        // Most values of a request's scope are only read from the table.
        guard isNoticed || binding.hasDisposalHooks else { return }
        let kept = state.addEntry(cell, of: binding, isPublished: isFound && !isNoticed)
        // The first request of the instance must be noticed.
        kept.isToBePublished = isFound && isNoticed
        if binding.hasDisposalHooks {
            kept.ledgerID = state.record(Disposable(cell, kept.key, in: self))
        }
    }
}

extension ContainerCore.State {
    /// The cached instance of a key.
    ///
    /// A registration that came with its instance may have no entry before this call.
    mutating func cached(_ key: CreationKey) -> CacheEntry? {
        if let kept = instances[key] { return kept }
        let binding = key.binding
        guard let cell = binding.blueprint.instance, binding.isCurrent, binding.problem == nil else { return nil }
        return addEntry(cell, of: binding, isPublished: table.ownRegistration(of: binding.key) === binding)
    }

    /// Makes the entry of a registration that came with its instance.
    fileprivate mutating func addEntry(_ cell: Cell, of binding: Binding, isPublished: Bool) -> CacheEntry {
        let kept = CacheEntry(CreationKey(withoutArguments: binding), cell: cell)
        kept.isPublished = isPublished
        instances.insert(kept, insteadOf: nil)
        return kept
    }
}
