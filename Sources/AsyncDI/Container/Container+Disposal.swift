extension Container {
    /// Closes everything that the container opened, and waits for it.
    ///
    /// From this moment `resolve` and `register` throw `disposed`. Open scopes go first; creations in flight are
    /// cancelled and awaited; then instances are disposed in the reverse order of their completion, each once. Runs to
    /// the end even in a cancelled task. A second call waits for the first one; after it, `dispose()` returns quietly.
    /// An `onDispose` hook that disposes its own container returns at once. Observers have had the last event when this
    /// returns, except for a scope, and except in a hook or factory.
    ///
    /// - Throws: ``DisposalError`` with everything that hooks threw; ``ResolutionError`` with the code
    ///   `invalidOperation` when a factory of this container calls it.
    public func dispose() async throws {
        try await core.tellingObservers { try await core.dispose() }
    }

    /// Waits until observers have had every event up to now.
    ///
    /// For tests of what an observer got; not for an observer itself, nor for a hook or factory that one waits for.
    public nonisolated func deliverEvents() async { await core.events?.catchUp(deadline: nil, clock: core.clock) }

    /// Closes everything that the container opened, and waits for it, but not longer than the deadline.
    ///
    /// - Parameter deadline: How long to wait, also for observers, by the container's clock. Disposal goes on afterwards.
    /// - Throws: ``DisposalError``, which names the unfinished work.
    public func dispose(deadline: Duration) async throws {
        try await core.tellingObservers(until: deadline) { try await core.dispose(deadline: deadline) }
    }

    /// Ends a scope that was opened by hand, because its work failed.
    ///
    /// The same as ``dispose()``, but `onDispose` hooks see the error in ``DisposalReason/error``, and a unit of work
    /// rolls back.
    /// ```swift
    /// let scope = try await container.openScope("import")
    /// do {
    ///     try await runImport(in: scope)
    /// } catch {
    ///     try await scope.dispose(failing: error)
    ///     throw error
    /// }
    /// try await scope.dispose()  // commits
    /// ```
    /// - Parameter error: Why the work in the scope failed.
    /// - Throws: The same as ``dispose()``.
    public func dispose(failing error: any Error) async throws {
        try await core.tellingObservers { try await core.dispose(reason: DisposalReason(error: error)) }
    }

    /// Lets the work that is under way end, refuses new work, then disposes the container.
    ///
    /// From this moment on, a request from outside begins no scope, no lease and no creation: it throws `disposed`.
    /// Cached instances are still given out, so that a health check goes on. Bodies of `withScope` and `withInstance`
    /// that run, in this container or below it, run to their end undisturbed, and create what they still need. So do
    /// creations in flight. Then the container is disposed. A scope that was opened by hand is not waited for.
    ///
    /// - Parameter deadline: How long to wait for that, by the container's clock; then the container is disposed all
    ///   the same, and the bodies that still run are cut short. Observers get the last events within as much time again.
    ///   Waits as long as it takes when nil.
    /// - Throws: The same as ``dispose()``; ``ResolutionError`` with the code `invalidOperation` in a body that it
    ///   would wait for.
    public func drain(deadline: Duration? = nil) async throws {
        // The disposal after the deadline takes its time, and so may the last events, as long again.
        try await core.tellingObservers(for: deadline) { try await core.drain(deadline: deadline) }
    }

    /// Lets the leases of one instance end, disposes it, and waits for that.
    ///
    /// From this moment on, no lease of the instance begins: a request for these arguments waits until the instance is
    /// disposed, and then gets a new one. A tenant's database is closed in this way before its file is moved.
    /// ```swift
    /// try await container.drain(TenantPool.self, arguments: "acme", deadline: .seconds(30))
    /// ```
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    ///   - deadline: How long to wait, by the container's clock; as long as it takes when nil.
    /// - Throws: ``DisposalError`` with what hooks threw, or with ``ResolutionError/Code/disposalTimedOut``;
    ///   ``ResolutionError`` with the code `invalidOperation` in a body that holds a lease of the instance, and without
    ///   a deadline when an instance holds one that lives as long as the container: reset that instance first.
    public func drain<Service, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument, deadline: Duration? = nil
    ) async throws {
        let pack = Arguments(first, repeat each rest)
        let key = ServiceKey(service, qualifier: qualifier, arguments: type(of: pack))
        try await core.drain(key, pack, deadline: deadline)
    }
}

extension ContainerCore {
    /// Runs a disposal, and waits until observers have had its last event.
    ///
    /// Not for scopes, which end all the time, nor in a hook or factory: an observer that is slow must not hold them up.
    ///
    /// - Parameters:
    ///   - deadline: When the wait ends, counted from now.
    ///   - time: How long the wait may take.
    ///   - disposal: What is run.
    /// - Throws: The error of the disposal.
    nonisolated(nonsending) func tellingObservers(
        until deadline: Duration? = nil, for time: Duration? = nil,
        _ disposal: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        guard let events, !isScope, ResolutionContext.activeRun == nil else { return try await disposal() }
        let end = deadline.map { stopwatch.elapsed() + $0.addable }
        let result: Result<Void, any Error>
        do { result = .success(try await disposal()) } catch { result = .failure(error) }
        await events.catchUp(deadline: end.map { max($0 - stopwatch.elapsed(), .zero) } ?? time, clock: clock)
        try result.get()
    }
}
