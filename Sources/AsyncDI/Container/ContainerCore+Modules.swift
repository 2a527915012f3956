/// The modules whose `loaded` has not been called yet, in order.
struct PendingModules {
    var waiting: [any Module] = []
    /// The binding whose creation loads the modules.
    ///
    /// Like every creation, it runs once at a time and can be awaited, cancelled and retried.
    var binding: Binding?

    /// Removes the first module, after its `loaded`; the container may have been dropped meanwhile, and its modules
    /// with it.
    mutating func removeFirst() { if !waiting.isEmpty { waiting.removeFirst() } }

    /// The next module to load; nil when none is left.
    ///
    /// A later module then starts a new creation.
    mutating func next() -> (any Module)? {
        if waiting.isEmpty {
            // A request that has found this binding, but not joined its creation yet, must not run it in parallel with
            // the next one.
            binding?.retire()
            binding = nil
        }
        return waiting.first
    }
}

extension ContainerCore {
    /// Notes modules whose registrations were added in the same step.
    func note(_ modules: [any Module], in state: inout State) {
        guard !modules.isEmpty else { return }
        state.modules.waiting += modules
        if state.modules.binding == nil { state.modules.binding = modulesBinding() }
        table.hasPendingModules = true
    }

    /// Lets requests that reach modules of this container from others wait for them: from those below it, and from
    /// those that fall back on one of these.
    func passOnPendingModules() {
        var remaining = [self]
        var seen: Set<ObjectIdentifier> = []
        while let core = remaining.popLast() {
            guard seen.insert(ObjectIdentifier(core)).inserted else { continue }
            // Under the lock: the end of a load in progress there sees the mark above it, or comes before this one.
            let dependents = core.withState { state in
                core.table.hasPendingModules = true
                return state.dependents.values.compactMap(\.core)
            }
            remaining += core.childCores + dependents
        }
    }

    /// Loads every pending module, beginning with those of the containers that this one searches.
    ///
    /// The current run also loads the modules that `loaded` registers in turn.
    nonisolated(nonsending) func loadModules() async throws {
        let sources = fallbacks + [parent].compactMap(\.self)
        // Those of a disposed fallback are never loaded.
        func isPending(_ core: ContainerCore) -> Bool { core.table.hasPendingModules && !core.table.isClosed }
        for core in sources where isPending(core) { try await core.loadModules() }
        while let binding = withState({ $0.modules.binding }) {
            let asker = ResolutionContext.activeRun
            if asker?.holder?.binding === binding { return }
            let request = Request(key: binding.key, pack: .none, host: self, asker: asker)
            _ = try await request.sharedInstance(binding, in: self, registrationCount: RegistrationCounter.now)
            var removals = Removals()
            withState { $0.drop(.keys([CreationKey(withoutArguments: binding)]), into: &removals) }
            dispose(of: removals)
        }
        withState { state in
            guard state.modules.binding == nil, !sources.contains(where: isPending) else { return }
            table.hasPendingModules = false
        }
    }

    /// The type of the module whose `loaded` is called next; nil when none is pending.
    var moduleToBeLoaded: (any Module.Type)? { withState { $0.modules.waiting.first.map { type(of: $0) } } }

    private func modulesBinding() -> Binding {
        var blueprint = Blueprint(
            key: ServiceKey(ModulesLoaded.self), lifetime: Lifetime("loading of modules"),
            factory: ServiceFactory<ModulesLoaded> { [weak self] resolver, _ in
                while let module = self?.withState({ $0.modules.next() }) {
                    // `loaded` may ignore a cancellation and return: no later module is told then.
                    try Task.checkCancellation()
                    do {
                        try await module.loaded(resolver)
                    } catch {
                        throw ResolutionError.ofLoading(module, by: resolver.run?.binding, error)
                    }
                    self?.withState { $0.modules.removeFirst() }
                }
                return ModulesLoaded()
            })
        blueprint.change { $0.isHidden = true }
        return Binding(blueprint, defaultLifetime: .singleton)
    }
}

/// The service that stands in a path for `loaded` of one module.
private struct ModuleLoaded<Loading: Module>: Sendable, NamedInMessages {
    static func nameInMessages(of part: (any Any.Type) -> String) -> String { "\(part(Loading.self)).loaded" }
}

extension ResolutionError {
    /// The error of a module's `loaded`, with the module in its path; another error is unchanged.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - binding: The registration whose creation loads it: another container's modules have other names.
    ///   - error: The error of `loaded`.
    /// - Returns: The error for the callers.
    static func ofLoading(_ module: some Module, by binding: Binding?, _ error: any Error) -> any Error {
        func step<Loading: Module>(_: Loading) -> PathStep { PathStep(key: ServiceKey(ModuleLoaded<Loading>.self)) }
        if let error = error as? ResolutionError {
            return error.at(error.steps.map { $0.binding === binding ? step(module) : $0 })
        }
        guard error is CancellationError, !Task.isCancelled else { return error }
        return ResolutionError(
            .creationCancelled,
            "\(step(module).key) threw CancellationError, although its task was not cancelled.",
            advice: "Look for a task that this code itself cancels, and throw your own error instead.",
            underlying: error)
    }
}
