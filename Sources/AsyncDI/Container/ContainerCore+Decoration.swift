/// Decorations of this container's registrations, own and inherited.
extension ContainerCore {
    /// Adds decorations, and applies them to this container's own registrations.
    ///
    /// ``decorateInherited(_:)`` decorates inherited registrations outside the lock, because other containers have
    /// their own locks.
    func add(_ decorations: [Decoration], in state: inout State, into removals: inout Removals) {
        for decoration in decorations {
            state.decorations.add(decoration)
            for old in state.registrations.records(named: decoration.name) where decoration.applies(to: old.key) {
                let new = decorated(old, by: decoration)
                // An invalid registration stays invalid, decorated or not.
                if new === old { continue }
                replace(old, by: new, in: &state, into: &removals)
                renewForwards(to: new, insteadOf: old, in: &state, into: &removals)
            }
        }
    }

    /// Decorates inherited registrations, present and future.
    func decorateInherited(_ decorations: [Decoration]) {
        guard !decorations.isEmpty else { return }
        let others = Array(searchOrder.dropFirst())
        guard !others.isEmpty else { return }
        let names = Set(decorations.map(\.name))
        // Noted before the look-up, so that a concurrent registration is either found here or offered.
        withState { $0.followed = others }
        for core in others {
            core.withState { state in
                state.decorators[ObjectIdentifier(self), default: (WeakCore(core: self), [])].names.formUnion(names)
            }
        }
        inherit(
            decorations.flatMap { decoration in
                others.flatMap { core in
                    core.withState { $0.registrations.keys(named: decoration.name).filter(decoration.applies) }
                }
            })
    }

    /// The containers that decorate inherited services with these names.
    func decorators(of names: Set<ServiceName>) -> [ContainerCore] {
        withState { state in
            guard state.hasDecorators else { return [] }
            return state.decorators.values.filter { !$0.names.isDisjoint(with: names) }.compactMap(\.core.core)
        }
    }

    /// Informs the containers that decorate services inherited from this one about new registrations, and about the end
    /// of old ones.
    func offer(_ keys: [ServiceKey]) {
        let forwards = withState { state in
            state.hasDecorators ? keys.flatMap { state.registrations.records(forwardingTo: $0).map(\.key) } : nil
        }
        guard let forwards else { return }
        let keys = keys + forwards
        for core in decorators(of: Set(keys.map(ServiceName.init))) {
            core.renewInherited(keys)
            core.inherit(keys)
        }
    }

    /// Drops the instances with which this container decorates those of former registrations.
    ///
    /// Not left to the next request: they lease these, and the successors wait for the leases to end.
    private func renewInherited(_ keys: [ServiceKey]) {
        for key in keys {
            guard let binding = withState({ _ in table.ownRegistration(of: key) }), let base = binding.base,
                base.isInherited, table.currentRegistration(beyondFor: key)?.binding !== base.binding
            else { continue }
            inheritAgain(binding)
            offer([key])
        }
    }

    private func inherit(_ keys: [ServiceKey]) {
        guard !keys.isEmpty else { return }
        // Decorated by the containers in between first, whose locks must not be taken under this one's.
        for key in keys { _ = table.currentRegistration(beyondFor: key) }
        withState { state in
            guard state.life.isOpen else { return }
            for key in keys { inherit(key, in: &state) }
            RegistrationCounter.advance()
        }
    }

    func inheritAnnounced(_ key: ServiceKey) -> Bool {
        withState { state in
            guard state.life.isOpen, state.isDecorated else { return false }
            if inherit(key, in: &state) { RegistrationCounter.advance() }
            return table.ownRegistration(of: key) != nil
        }
    }

    /// A binding with every decoration that applies to it.
    func decorated(_ binding: Binding, in state: State) -> Binding {
        guard state.isDecorated else { return binding }
        return state.decorations.applying(to: binding.key).reduce(binding, decorated)
    }

    /// Decorates the inherited registration of a key, unless the container has its own.
    ///
    /// - Returns: Whether there is one.
    @discardableResult
    private func inherit(_ key: ServiceKey, in state: inout State) -> Bool {
        guard table.ownRegistration(of: key) == nil, let binding = inherited(key, in: state) else { return false }
        _ = state.registrations.add(binding, beside: nil, onDuplicate: .replace)
        table.publish(binding, retired: &state.retired)
        return true
    }

    /// Removes one registration, which is the current one of its key.
    ///
    /// The decorated form of an inherited one takes its place at once: lock-free readers must not find that one
    /// undecorated in between.
    func remove(_ binding: Binding, in state: inout State) {
        state.registrations.remove(binding)
        guard state.isDecorated, let inherited = inherited(binding.key, in: state) else {
            table.unpublish(binding.key, retired: &state.retired)
            return
        }
        _ = state.registrations.add(inherited, beside: nil, onDuplicate: .replace)
        table.publish(inherited, retired: &state.retired)
    }

    /// The decorated form of the registration that a container inherits for a key; nil without one.
    private func inherited(_ key: ServiceKey, in state: State) -> Binding? {
        let decorations = state.decorations.applying(to: key)
        // Not looked up before: the other container may replace it meanwhile, and this would be its last reference.
        guard let first = decorations.first, let (inherited, _) = table.registration(beyondFor: key) else { return nil }
        // Not in a capture list, with which a closure leaves its caller's actor.
        let table = table
        var blueprint = Blueprint(
            key: key, lifetime: inherited.lifetime,
            factory: first.factory { resolver, pack in
                try await resolver.resolveInherited(key, pack, beyond: table)
            })
        blueprint.site = inherited.blueprint.site
        if let extras = inherited.blueprint.extras?.value {
            blueprint.change { ($0.keying, $0.abandonment) = (extras.keying, extras.abandonment) }
        }
        blueprint.factory = decorations.reduce(blueprint.factory) { $1.decorate($0) }
        return Binding(
            blueprint, defaultLifetime: defaultLifetime, problem: inherited.problem, base: .inherited(inherited))
    }

    func inheritAgain(_ binding: Binding) {
        var removals = Removals()
        withState { state in
            guard state.life.isOpen, table.ownRegistration(of: binding.key) === binding else { return }
            if let new = inherited(binding.key, in: state) {
                // Replaced in place, because lock-free readers must not find the undecorated registration in between.
                replace(binding, by: new, in: &state, into: &removals)
            } else {
                forgetInherited(binding, in: &state, into: &removals)
                table.unpublish(binding.key, retired: &state.retired)
            }
            RegistrationCounter.advance()
        }
        dispose(of: removals)
    }

    /// Drops a registration that exists only to decorate an inherited service.
    ///
    /// Readers find it until the caller, which must do so, has put another one in its place, or has emptied that.
    func forgetInherited(_ binding: Binding, in state: inout State, into removals: inout Removals) {
        state.registrations.remove(binding)
        state.drop([binding], into: &removals)
    }

    private func replace(_ old: Binding, by new: Binding, in state: inout State, into removals: inout Removals) {
        state.registrations.exchange(old, for: new)
        if case .instance(let base)? = new.base {
            // The container still owns the instance and disposes it, but from now on requests find only its decorated
            // form.
            if let kept = state.instances[CreationKey(withoutArguments: base)] { state.unpublish(kept) }
            if base !== old { state.drop([old], keepingBases: true, into: &removals) }
        } else {
            state.drop([old], into: &removals)
        }
        table.publish(new, retired: &state.retired)
    }

    /// Renews the types that are forwarded to a changed service, whose lifetime they take over.
    ///
    /// Drops decorated ones, also in scopes, because they hold the old instances behind them. The containers that
    /// decorate inherited ones notice by the new registration.
    func renewForwards(
        to service: Binding, insteadOf old: Binding, in state: inout State, into removals: inout Removals
    ) {
        guard
            state.isDecorated || state.hasDecorators || old.problem != nil || !service.isShared(like: old)
        else { return }
        for alias in state.registrations.records(forwardingTo: service.key) {
            var blueprint = alias.blueprint
            blueprint.createLikeForwarded(service.blueprint)
            // That of the service is repaired with it.
            let problem = alias.problem?.code == .duplicateRegistration ? alias.problem : service.problem
            let renewed = Binding(blueprint, defaultLifetime: defaultLifetime, problem: problem, base: alias.base)
            replace(alias, by: renewed, in: &state, into: &removals)
        }
    }

    private func decorated(_ binding: Binding, by decoration: Decoration) -> Binding {
        guard binding.problem == nil else { return binding }
        var blueprint = binding.blueprint
        var base = binding.base
        // Not in capture lists, with which a closure leaves its caller's actor.
        let (settings, table) = (settings, table)
        if let instance = blueprint.instance {
            base = .instance(binding)
            blueprint.change { $0.disposalHooks = [] }
            blueprint.factory = decoration.factory { resolver, _ in
                settings.interceptors.didResolve(binding)
                return try resolver.resolveRegistered(binding, instance, in: table)
            }
        } else if let forward = blueprint.target {
            base = .forward(binding)
            blueprint.change {
                $0.target = nil
                $0.underlying = forward.from
            }
            blueprint.factory = decoration.factory { resolver, pack in
                try await resolver.resolveForward(binding, pack, in: table)
            }
        }
        blueprint.factory = decoration.decorate(blueprint.factory)
        return Binding(blueprint, defaultLifetime: defaultLifetime, base: base)
    }
}

extension Binding {
    /// Whether instances are certainly shared as those of another registration of the key are.
    fileprivate func isShared(like other: Binding) -> Bool {
        lifetime == other.lifetime && blueprint.keying?.isComputed != true
            && other.blueprint.keying?.isComputed != true
    }
}

extension ContainerCore.State {
    /// Whether the container decorates anything.
    var isDecorated: Bool { rarely { !$0.decorations.isEmpty } }
    /// Whether other containers decorate registrations that they inherit from this one.
    var hasDecorators: Bool { rarely { !$0.decorators.isEmpty } }
}

extension Container {
    /// Wraps a service, here and in the scopes of this container: see ``Decoration``.
    ///
    /// Existing instances are dropped and disposed, as if the registration were replaced.
    /// ```swift
    /// try await container.decorate((any UserRepository).self) { resolver, inner in
    ///     LoggingRepository(inner, logger: try await resolver.resolve())
    /// }
    /// ```
    /// - Parameters:
    ///   - service: The type under which the service is registered.
    ///   - qualifier: The qualifier that it was registered with.
    ///   - fileID: The file that messages show for the decoration.
    ///   - line: The line that messages show for the decoration.
    ///   - decorator: Receives the instance of the factory, or of an earlier decorator, and returns the one to resolve.
    /// - Throws: ``ResolutionError`` with the code `disposed`.
    public func decorate<Service: Sendable>(
        _ service: Service.Type = Service.self, qualifier: (any Qualifier)? = nil,
        fileID: String = #fileID, line: UInt = #line,
        _ decorator: nonisolated(nonsending) @escaping @Sendable (Resolver, Service) async throws -> Service
    ) throws {
        let decoration = Decoration(service, qualifier: qualifier, fileID: fileID, line: line, decorator)
        try core.register(Registrations(decoration))
    }
}
