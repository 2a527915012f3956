extension Container {
    /// Loads every ``Module``, and creates every service registered as ``Registration/eager()`` in this
    /// container.
    ///
    /// A scope also creates the eager ``Lifetime/scoped`` services that it inherits, from the nearest registrations.
    /// Their instances belong to the scope. A container that is no scope leaves those out that need a value which only
    /// scopes supply, directly or through others: see ``Registration/init(expected:qualifier:fileID:line:)``.
    ///
    /// Independent services are created concurrently, so this takes as long as the longest chain of dependencies.
    /// When one fails, the others are cancelled, and the instances that the start created in this container are
    /// disposed before this throws, with the error as ``DisposalReason/error``; the container may be started again.
    /// Modules stay loaded. So do instances that a scope's start created in a container above it, and those that other
    /// requests created meanwhile. If a body or such an instance leases one that the start created, or if a
    /// cancelled factory, or the disposal of an instance whose hook failed, goes on for more than a second, all of them
    /// stay, because they may be in use.
    /// ``Container/startFailure`` names the service that failed, and so do observers.
    /// ```swift
    /// let container = Container {
    ///     Registration(Database.self, lifetime: .singleton) { _ in try await Database.open("app.sqlite") }.eager()
    ///     Registration(Cache.self, lifetime: .singleton) { _ in try await Cache.warm() }.eager()
    /// }
    /// let report = try await container.start()
    /// print(report)  // start took 2.3 s; Database took 2.1 s of it
    /// ```
    /// - Returns: The created services, with the duration of each creation.
    /// - Throws: The problems of the registrations given to the initializer; else the error of a module or factory;
    ///   ``ResolutionError``.
    @discardableResult
    public func start() async throws -> StartReport {
        try await core.start()
    }

    /// Creates every service of a lifetime that is registered without arguments in this container, eager or not.
    ///
    /// For ``Lifetime/scoped``, and every lifetime whose instances belong to the container that resolves them, this
    /// includes inherited services, and a container that is no scope leaves the same ones out as ``start()``.
    /// Independent services are created concurrently.
    ///
    /// - Parameter lifetime: The lifetime whose services are created.
    /// - Throws: A factory's error; ``ResolutionError``.
    public func prewarm(_ lifetime: Lifetime = .singleton) async throws {
        try await core.prewarm(lifetime)
    }
}

extension ContainerCore {
    /// Starts the container.
    ///
    /// - Parameter undoesFailure: Whether the instances of a start that fails are disposed here.
    /// - Returns: The report of the start.
    /// - Throws: The same as ``Container/start()``.
    func start(undoesFailure: Bool = true) async throws -> StartReport {
        let meter = startReference.loadOrInitialize { StartMeter(clock) }
        let begin = meter.begin()
        var eager: ServiceKey?
        var isLoading = false
        do {
            try withState { state in
                guard state.life.isOpen else { throw disposedError(nil, asker: nil) }
                if let problem = state.invalidRegistrations.first { throw problem }
            }
            isLoading = true
            try await loadModules()
            isLoading = false
            if let failure = await make(isOfStart: true, where: { $0.blueprint.isEager }) {
                eager = failure.key
                throw failure.error
            }
            // Disposed meanwhile, it may lack instances.
            if table.isClosed { throw disposedError(nil, asker: nil) }
        } catch {
            // The other creations were cancelled with the start: none of them failed.
            if error is CancellationError, Task.isCancelled { eager = nil }
            if undoesFailure { await waitForUsers(of: meter) }
            // Before the records are taken: a creation that ends in between is recorded.
            let isOver = isWithoutUsers(of: meter)
            let failure = meter.fail(of: eager, since: begin)
            note(StartFailure(of: error, failure, module: isLoading ? moduleToBeLoaded : nil))
            // A creation that goes on after its cancellation, or the disposal of one that failed, may use them.
            if undoesFailure, isOver {
                await dispose(failure.unused, reason: DisposalReason(error: error, hasCaller: false))
            }
            throw error
        }
        note(nil)
        return meter.end(since: begin)
    }

    /// Notes the failure of the latest start, nil for one that succeeded.
    func note(_ failure: StartFailure?) {
        let former = withState { state -> StartFailure? in
            guard failure != nil || state.rarely({ $0.startFailure != nil }) else { return nil }
            return exchange(&state.startFailure, with: failure)
        }
        // Released outside the lock, because the end of an error may be user code.
        withExtendedLifetime(former) {}
    }

    fileprivate func prewarm(_ lifetime: Lifetime) async throws {
        try checkOpen()
        let failure = await make { $0.lifetime == lifetime && $0.key.arguments == nil && !$0.key.isMaking }
        if let failure { throw failure.error }
        // A disposal that has begun meanwhile may have come before some of them.
        try checkOpen()
    }

    /// Makes the selected services, independent ones concurrently.
    ///
    /// - Returns: The first failure, for which the other creations were cancelled.
    private func make(
        isOfStart: Bool = false, where isSelected: (Binding) -> Bool
    ) async -> (key: ServiceKey, error: any Error)? {
        let own = withState { $0.registrations.inOrder.filter(isSelected).map(\.key) }
        let keys = (own + inheritedKeys(where: isSelected)).filter { !isLeftToScopes($0) }
        let asker = ResolutionContext.activeRun
        return await withTaskGroup(of: (key: ServiceKey, error: any Error)?.self) { group in
            for key in keys {
                group.addTask {
                    let request = Request(
                        key: key, pack: .none, host: self, asker: asker, isOfStart: isOfStart, isUnheld: true)
                    do {
                        _ = try await request.optionalCell()
                        return nil
                    } catch let error as ResolutionError where !self.isScope && error.isOfValueLeftToScopes(of: self) {
                        // Of a closure, only its run can tell.
                        return nil
                    } catch {
                        return (key, error)
                    }
                }
            }
            for await failure in group.compactMap(\.self) {
                group.cancelAll()
                return failure
            }
            return nil
        }
    }

    /// The services selected among those that are registered elsewhere, and whose instances belong to this container.
    private func inheritedKeys(where isSelected: (Binding) -> Bool) -> [ServiceKey] {
        var seen: Set<ServiceKey> = []
        return searchOrder.dropFirst().flatMap { core in
            core.withState {
                $0.registrations.inOrder.filter { $0.lifetime.sharing == .resolvingContainer && isSelected($0) }
            }
        }
        .filter { binding in
            // A nearer registration hides it; not one that decorates it.
            var nearest = table.registration(of: binding.key)?.binding
            while let decorating = nearest, case .inherited(let inner)? = decorating.base { nearest = inner }
            return nearest === binding && seen.insert(binding.key).inserted
        }
        .map(\.key)
    }
}
