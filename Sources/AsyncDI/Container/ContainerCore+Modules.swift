/// Modules whose `loaded` is still to be called, in order.
struct PendingModules {
    private(set) var waiting: [any Module] = []
    /// The binding that loads them: a creation like any other, so that it runs once at a time, is awaited, cancelled
    /// and retried like one.
    private(set) var binding: Binding?

    mutating func add(_ modules: [any Module], toldBy makeBinding: () -> Binding) {
        guard !modules.isEmpty else { return }
        waiting += modules
        if binding == nil { binding = makeBinding() }
    }

    /// Removes the first module, after its `loaded`.
    mutating func removeFirst() { waiting = Array(waiting.dropFirst()) }

    /// The next module to load; nil when none is left, and then the next one that comes begins anew.
    mutating func next() -> (any Module)? {
        if waiting.isEmpty {
            // A request that has found it, but not joined it yet, must not run it beside the next one.
            binding?.retire()
            binding = nil
        }
        return waiting.first
    }
}

/// The product of loading modules, which is empty.
private struct ModulesLoaded: Sendable {}

extension Creation {
    /// Whether it tells modules that they are loaded.
    var loadsModules: Bool { binding.key.service == ModulesLoaded.self }
}

extension ContainerCore {
    /// Notes modules whose registrations were added in the same step.
    func note(_ modules: [any Module], in state: inout State) {
        guard !modules.isEmpty else { return }
        state.modules.add(modules) { modulesBinding() }
        table.hasPendingModules = true
    }

    /// Loads every pending module, first those of the containers that this one searches.
    ///
    /// The current run also loads the modules that `loaded` registers in turn.
    nonisolated(nonsending) func loadModules() async throws {
        for core in fallbacks + [parent].compactMap(\.self) where core.table.hasPendingModules {
            try await core.loadModules()
        }
        while let binding = withState({ $0.modules.binding }) {
            let asker = ResolutionContext.activeRun
            if asker?.holder?.binding === binding { return }
            let request = Request(key: binding.key, pack: .none, host: self, asker: asker)
            _ = try await request.sharedInstance(binding, in: self, isScoped: false, clock: RegistrationCounter.now)
            forget(binding)
        }
        let isLoading = fallbacks + [parent].compactMap(\.self)
        withState { state in
            guard state.modules.binding == nil, !isLoading.contains(where: { $0.table.hasPendingModules }) else {
                return
            }
            table.hasPendingModules = false
        }
    }

    /// The type of the module that is told next that it is loaded; nil when none waits.
    var moduleToBeLoaded: (any Module.Type)? { withState { $0.modules.waiting.first.map { type(of: $0) } } }

    private func forget(_ binding: Binding) {
        var removals = Removals()
        withState { $0.drop(keys: [CreationKey(withoutArguments: binding)], from: table, into: &removals) }
        dispose(of: removals)
    }

    private func modulesBinding() -> Binding {
        var blueprint = Blueprint(
            key: ServiceKey(ModulesLoaded.self), lifetime: Lifetime("loading of modules"),
            factory: ServiceFactory<ModulesLoaded> { [weak self] resolver, _ in
                while let module = self?.withState({ $0.modules.next() }) {
                    try await module.loaded(resolver)
                    self?.withState { $0.modules.removeFirst() }
                }
                return ModulesLoaded()
            })
        blueprint.isHidden = true
        return Binding(blueprint, defaultLifetime: .singleton)
    }
}
