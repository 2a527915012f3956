/// A run that creates a transient or graph instance here: in the task of the caller.
extension Run {
    /// Finds a graph instance, or begins to create it.
    static func beginGraph(
        _ binding: Binding, host: any ResolutionHost, table: InstanceTable, asker: Run?
    ) -> Answer {
        let graph = asker?.graph ?? ResolutionGraph(isEntered: true)
        let key = CreationKey(withoutArguments: binding, asked: host)
        switch graph.join(key, .none, host: host, asker: asker, holder: asker?.holder, mayWait: !Task.isCancelled) {
        case .ready(let cell):
            return .instance(cell)
        case .start(let creation, _):
            let run = Run(of: creation, inside: asker, graph: graph, table: table)
            guard let error = creation.repetition(in: run) else { return .run(run) }
            _ = run.failed(error)
            return .other(DecidedRequest(run.request, for: binding, .cycle([])))
        case let decision:
            // In a graph of its own, because the task is cancelled and the cancellation is the answer.
            let request = Request(key: binding.key, pack: .none, host: host, asker: asker)
            return .other(DecidedRequest(request, for: binding, decision))
        }
    }

    /// Creates the instance, and ends the run.
    @inlinable @inline(never)
    nonisolated(nonsending) func make<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        try await makeHere(service)
    }

    /// The same as a part of its caller.
    ///
    /// The cost of a transient instance is mostly the path to its factory. Each asynchronous function on that path is a
    /// large part of it.
    @inlinable @inline(__always)
    nonisolated(nonsending) func makeHere<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        defer { finish() }
        let instance: Service
        do {
            if Task.isCancelled { throw CancellationError() }
            instance = try await callFactory(service)
        } catch {
            throw failed(error)
        }
        guard isOfGraphInstance else { return instance }
        if try settles(StrongCell(instance)) { return instance }
        return try await again(service)
    }

    /// The factory has thrown: a graph creation ends.
    @usableFromInline func failed(_ error: any Error) -> any Error {
        let error = translated(error, in: self)
        guard isOfGraphInstance else { return error }
        if Task.isCancelled { graph.abandon(graphCreation) }
        graphCreation.settle(.failure(error), in: self)
        return error
    }

    /// Ends the graph creation, unless it has to wait for unfinished instances that it received.
    @usableFromInline func settles(_ instance: Cell) throws -> Bool {
        let isComplete = graphCreation.settle(.success(instance), in: self)
        // Ended before any wait: a task that outlives the factory is no longer inside this run.
        end()
        guard isComplete else { return false }
        guard let failure = graphCreation.failure else { return true }
        // It received the instance of a creation that was cancelled, but not on behalf of this task: it starts over.
        if failure is CancellationError, !Task.isCancelled { return false }
        // It received an unfinished instance whose creation has failed meanwhile, and fails with it.
        throw request.delivered(failure, by: graphCreation)
    }

    /// Waits until others have completed the graph instance.
    @usableFromInline
    nonisolated(nonsending) func again<Service: Sendable>(_ service: Service.Type) async throws -> Service {
        try await request.again(binding, as: service, after: graphCreation)
    }

    /// Ends the run, and leaves the graph that the run entered.
    @usableFromInline func finish() {
        if isActive { end() }
        if !isOfGraphInstance { leaveOwnGraph() } else if parent == nil { graph.leaveAsMaker() }
    }

    /// The request that this run for a graph instance answers, in the run's graph.
    private var request: Request {
        Request(key: binding.key, pack: .none, host: host, asker: parent, graph: graph)
    }

    private var graphCreation: Creation {
        guard let creation else { preconditionFailure("a run for a graph instance is a creation") }
        return creation
    }
}

/// User code in a run.
extension Run {
    @usableFromInline static let current = ResolutionContext.$run

    /// Calls the factory of a service whose type is known inside this run.
    @inlinable @inline(__always)
    func callFactory<Service: Sendable>(
        _ service: Service.Type, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Service {
        // The closure captures the isolation: it stays on the caller's executor.
        try await Run.current.withValue(self) {
            _ = isolation
            // Unchecked because the key under which the registration was found has proved the type.
            return try await unsafeDowncast(binding.blueprint.factory, to: ServiceFactory<Service>.self).make(
                Resolver(self), pack)
        }
    }

    /// Calls a factory of an erased type, or hooks, inside this run.
    @inline(__always)
    func call<R>(
        isolation: isolated (any Actor)? = #isolation, _ code: nonisolated(nonsending) () async throws -> sending R
    ) async throws -> sending R {
        try await Run.current.bind(self, isolation: isolation, code)
    }

    /// Calls the factory, and translates a cancellation that is not the caller's.
    @inline(__always)
    func makeCell(
        isolation: isolated (any Actor)? = #isolation, beforeDecoration: (Cell) -> Void = { _ in }
    ) async throws -> Cell {
        let resolver = Resolver(self)
        do {
            return try await Run.current.withValue(
                self,
                operation: {
                    _ = isolation
                    return try await binding.blueprint.factory.makeCell(
                        resolver, pack, beforeDecoration: beforeDecoration)
                }, isolation: isolation)
        } catch {
            throw translated(error, in: self)
        }
    }
}
