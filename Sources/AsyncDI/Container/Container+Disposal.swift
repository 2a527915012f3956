extension Container {
    /// Closes everything that the container opened, and waits for it.
    ///
    /// From this moment `resolve` and `register` throw `disposed`. Open scopes end first. Then creations in flight are
    /// cancelled and awaited. Then instances are disposed in the reverse order of their completion, each once. The
    /// disposal runs to its end even in a cancelled task. A second call waits for the first one; after it, `dispose()`
    /// returns quietly. An `onDispose` hook that disposes its own container returns at once. When this returns,
    /// observers, including those of containers below, have received the last event, except in a hook or factory.
    ///
    /// - Throws: ``DisposalError`` with all errors of hooks; ``ResolutionError`` with the code `invalidOperation` when
    ///   a factory of this container calls it.
    public func dispose() async throws {
        try await core.tellingObservers { try await core.dispose() }
    }

    /// Waits until observers have received every event up to now.
    ///
    /// Use it in a test of an observer. An observer itself must not call it, nor a hook or factory that an observer
    /// waits for.
    public nonisolated func deliverEvents() async {
        _ = await core.events?.mark()?.wait(atMost: nil, clock: core.clock)
    }

    /// Closes everything that the container opened, and waits for it until the deadline.
    ///
    /// - Parameter deadline: The longest wait, for observers too, by the container's clock. Disposal continues
    ///   afterwards. The end of a `withContainer` of this container waits no longer either.
    /// - Throws: ``DisposalError``, which names the work that the disposal waits for, and this container's instances
    ///   that bodies lease; ``activity()`` has everything else that has not ended.
    public func dispose(deadline: Duration) async throws {
        try await core.tellingObservers(until: deadline) { try await core.dispose(deadline: deadline) }
    }

    /// Ends a scope that was opened by hand, because its work failed.
    ///
    /// The same as ``dispose()``, but `onDispose` hooks see the error in ``DisposalReason/error``, and a unit of work
    /// rolls back.
    /// ```swift
    /// let session = try await container.openScope("session")
    /// try await edit(in: session)
    /// try await session.dispose(failing: SignedOut())  // instead of dispose(), which commits
    /// ```
    /// A drain does not wait for such a scope, and a call that finds it disposed returns quietly. Where lost work must
    /// be an error, use `withScope`, or ``OwnedScope/finish(_:)``.
    ///
    /// - Parameter error: The error of the work in the scope.
    /// - Throws: The same as ``dispose()``.
    public func dispose(failing error: any Error) async throws {
        try await core.tellingObservers { try await core.dispose(reason: DisposalReason(error: error)) }
    }

    /// Lets the current work end, refuses new work, then disposes the container.
    ///
    /// From this moment on, a request from outside begins no scope, no lease and no creation: it throws `disposed`.
    /// Cached instances can still be resolved, so that health checks continue to work. Running bodies of `withScope`
    /// and `withInstance`, with an instance of this container or one below it, run to their end undisturbed, and can
    /// create further instances. So can creations of shared instances in flight. Then the container is disposed. It
    /// does not wait for a scope that was opened by hand, nor for a transient or graph instance that is created outside
    /// every body. The drain of a scope also waits for its own body, or for the parts that are under way of an
    /// ``OwnedScope`` with `isDrained`.
    ///
    /// - Parameter deadline: The longest wait for that work, by the container's clock. After it the container is
    ///   disposed nevertheless, and bodies that still run are cut short. The disposal may take as much time again, at
    ///   least a second, and so may the last events of observers; a longer disposal continues in the background.
    ///   Without a deadline the wait is unlimited.
    /// - Throws: The same as ``dispose()``, or with a deadline as ``dispose(deadline:)``; ``ResolutionError`` with the
    ///   code `invalidOperation` in a body that it would wait for, and without a deadline in a factory or hook that
    ///   such a body waits for.
    public func drain(deadline: Duration? = nil) async throws {
        // The disposal after the deadline takes its time, and so may the last events, as long again.
        try await core.tellingObservers(for: deadline.map { max($0, .seconds(1)) }) {
            try await core.drain(deadline: deadline)
        }
    }

    /// Waits for the leases of one instance to end, and disposes it.
    ///
    /// From this moment on, no lease of the instance begins: a request for these arguments waits until the instance is
    /// disposed, and then gets a new one, also after the deadline: requests then wait for the holders of the leases,
    /// which ``activity()`` counts. An inherited service, decorated or not, is drained in the container that registered
    /// it. Use this to close a tenant's database before its file is moved. A cancellation of the caller does not end
    /// the wait; a deadline does.
    /// ```swift
    /// try await container.drain(TenantPool.self, arguments: "acme", deadline: .seconds(30))
    /// ```
    /// - Parameters:
    ///   - service: The service type.
    ///   - qualifier: The qualifier that the service was registered with.
    ///   - first: The first argument.
    ///   - rest: The other arguments.
    ///   - deadline: The longest wait, by the container's clock; unlimited when nil.
    /// - Throws: ``DisposalError`` with the errors of hooks, or with ``ResolutionError/Code/disposalTimedOut``;
    ///   ``ResolutionError`` with the code `argumentMismatch` when the service is only registered with other types of
    ///   arguments, with the code `invalidOperation` in a body or factory that holds a lease of the instance, or in a
    ///   body whose scope has an instance that does, and without a deadline also when a container inside that scope has
    ///   one, or when an instance that belongs to no scope holds a lease: reset that instance first.
    public func drain<Service, First: Sendable, each Argument: Sendable>(
        _ service: Service.Type, qualifier: (any Qualifier)? = nil,
        arguments first: First, _ rest: repeat each Argument, deadline: Duration? = nil
    ) async throws {
        let pack = Arguments(first, repeat each rest)
        let key = ServiceKey(Service.self, qualifier: qualifier, arguments: type(of: pack))
        try await core.drain(key, pack, deadline: deadline)
    }
}

extension ContainerCore {
    /// Runs a disposal, and waits until observers have received its last event.
    ///
    /// Not in a hook or factory: a slow observer must not delay it. Nor at the end of a `withScope`, which is a
    /// server's every request.
    ///
    /// - Parameters:
    ///   - deadline: The end of the wait, counted from now.
    ///   - time: The longest duration of the wait.
    ///   - isEndOfBody: Whether the wait ends with the deadline of any call that disposes the container.
    ///   - disposal: The disposal to run.
    /// - Throws: The error of the disposal.
    nonisolated(nonsending) func tellingObservers(
        until deadline: Duration? = nil, for time: Duration? = nil, isEndOfBody: Bool = false,
        _ disposal: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        guard ResolutionContext.activeRun == nil else { return try await disposal() }
        // Containers below this one may have observers of their own, and are disposed with it.
        var queues = eventQueues
        let end = deadline.map { stopwatch.elapsed() + $0.addable }
        let result: Result<Void, any Error>
        do { result = .success(try await disposal()) } catch { result = .failure(error) }
        let last = time.map { stopwatch.elapsed() + $0.addable } ?? end
        // A call that was refused has disposed nothing.
        if let last, table.isClosed { noteDeadline(last) }
        // An earlier call may have disposed them, and others may have been made meanwhile.
        for queue in disposalUnderWay?.queuesBelow ?? [] { queues[ObjectIdentifier(queue)] = queue }
        for queue in queues.values {
            guard let mark = queue.mark() else { continue }
            if isEndOfBody {
                _ = await waitUntilEarliestDeadline(for: mark)
            } else {
                _ = await mark.wait(atMost: last.map { max($0 - stopwatch.elapsed(), .zero) }, clock: clock)
            }
        }
        try result.get()
    }

    /// The queues of this container's observers and of those of the containers below it, each once.
    private var eventQueues: [ObjectIdentifier: EventQueue] {
        var queues: [ObjectIdentifier: EventQueue] = [:]
        // A list, because scopes may be nested very deep.
        var remaining = [self]
        while let core = remaining.popLast() {
            if let events = core.events { queues[ObjectIdentifier(events)] = events }
            remaining += core.childCores
        }
        return queues
    }
}
