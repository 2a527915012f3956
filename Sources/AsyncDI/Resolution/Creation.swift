/// One run of a factory and its hooks for a shared or graph instance: the shell around the decisions of ``SingleFlight`` and
/// ``WaitForGraph``.
final class Creation: Sendable, Hashable {
    let key: CreationKey
    let pack: ArgumentPack
    /// The container that the factory's resolver asks.
    let host: any ResolutionHost
    /// Where the instance is cached.
    let place: any CreationPlace
    /// The container that the instance's life is bound to, nil for a graph instance.
    let home: (any ResolutionHost)?
    /// Where a custom lifetime keeps the instance.
    let storage: (any InstanceStorage)?
    /// The registration clock when the registration was found.
    let clock: UInt
    let stopwatch: Stopwatch?
    /// How many creations this one is made inside of.
    private let depth: Int
    private static let greatestDepthOnOneStack = 8
    /// Whether the instance goes into another one under the same key, and is not to be found itself.
    let isInner: Bool
    private let state = Locked(State())

    private struct State {
        var instance: Cell?
        var failure: (any Error)?
        /// What the factory leased for the instance; nil once the instance, or its failure, has taken them over.
        var leases: [any HeldLease]? = []
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    init(
        _ key: CreationKey, for request: Request, asking host: any ResolutionHost, place: any CreationPlace,
        home: (any ResolutionHost)?, storage: (any InstanceStorage)? = nil, clock: UInt = 0,
        stopwatch: Stopwatch? = nil
    ) {
        self.key = key
        pack = request.pack
        self.host = host
        self.place = place
        self.home = home
        self.storage = storage
        self.clock = clock
        self.stopwatch = stopwatch
        isInner = request.isInner
        depth = request.asker?.creation.map { $0.depth + 1 } ?? 0
    }

    var recipe: Recipe { key.recipe }
    /// The instance, from the moment the factory returns it.
    var instance: Cell? { state.withLock { $0.instance } }
    /// Why the creation failed.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Keeps what the factory leased as long as the instance.
    ///
    /// Returns false when the creation has ended: a task that outlives the factory has nothing to hold a lease for.
    func hold(_ lease: any HeldLease) -> Bool {
        state.withLock { state in
            state.leases?.append(lease)
            return state.leases != nil
        }
    }

    /// Takes the leases out, once; none are held from now on.
    func takeLeases() -> [any HeldLease] {
        state.withLock { state in
            defer { state.leases = nil }
            return state.leases ?? []
        }
    }

    /// Whether the product lives longer than that of another creation.
    func outlives(_ other: Creation) -> Bool {
        guard let home, let otherHome = other.home else { return false }
        if home === otherHome { return recipe.lifetime.outlivesScopes }
        var place = otherHome.parentHost
        while let current = place {
            if current === home { return true }
            place = current.parentHost
        }
        return false
    }

    // MARK: In a task of its own

    /// Runs a shared creation.
    ///
    /// What the owner caches must not depend on who asked first: it runs detached; a scoped creation sees its asker's
    /// task-locals.
    ///
    /// Where it can, it begins in the asker's thread: a factory that does not suspend is over when this returns. Not when
    /// others are being made around it: the thread's stack would grow with the depth of the dependencies.
    func launch() {
        let priority = Task.currentPriority
        if depth < Self.greatestDepthOnOneStack, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            if key.recipe.lifetime.sharing == .owner {
                adopt(Task.immediateDetached(priority: priority) { await self.runShared() })
            } else {
                adopt(Task.immediate(priority: priority) { await self.runShared() })
            }
        } else if key.recipe.lifetime.sharing == .owner {
            adopt(Task.detached(priority: priority) { await self.runShared() })
        } else {
            adopt(Task(priority: priority) { @concurrent in await self.runShared() })
        }
    }

    private func adopt(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        // The last waiter may have left between the start of the flight and this line.
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// A waiter's priority reaches the creation (SE-0462).
    func escalate(to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        state.withLock { $0.task }?.escalatePriority(to: priority)
    }

    private func runShared() async {
        let graph = ResolutionGraph(isEntered: true)
        let frame = Frame(sharedCreation: self, graph: graph)
        let result: Result<Void, any Error>
        do {
            try await makeInstance(in: frame)
            try await runHooks(in: frame)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        frame.end()
        graph.leave()
        settle(result, in: frame)
    }

    /// Runs the hooks of a graph creation apart from the task that ran its factory, and ends it.
    func launchHooks(in frame: Frame, endingWith factoryFrame: Frame) {
        let task = Task(priority: Task.currentPriority) { @concurrent in
            let result: Result<Void, any Error>
            do {
                try await self.runHooks(in: frame)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            frame.end()
            factoryFrame.end()
            self.settle(result, in: frame)
        }
        adopt(task)
    }

    // MARK: Steps

    /// Runs the factory.
    nonisolated(nonsending) func makeInstance(in frame: Frame) async throws {
        let resolver = Resolver(host: host, frame: frame)
        let instance = try await translatingCancellation(in: frame) {
            try await ResolutionContext.$frame.bind(frame) {
                try await recipe.blueprint.factory.makeCell(resolver, pack) { original in
                    state.withLock { $0.instance = original }
                }
            }
        }
        state.withLock { $0.instance = instance }
        if !recipe.blueprint.propertyHooks.isEmpty { Waits.graph.withLock { $0.instanceMade(by: self) } }
    }

    /// Runs the hooks: properties first, so that `onCreate` sees the whole instance.
    nonisolated(nonsending) func runHooks(in frame: Frame) async throws {
        guard recipe.hasHooks, let instance else { return }
        try await recipe.runHooks(instance, in: frame)
    }

    /// Ends the creation, or holds it until the instances that it was given early are complete.
    ///
    /// - Returns: Whether the creation has ended.
    @discardableResult
    func settle(_ result: Result<Void, any Error>, in frame: Frame) -> Bool {
        switch result {
        case .success:
            switch Waits.graph.withLock({ $0.ownWorkDone(self) }) {
            case .complete(let group):
                for creation in group { creation.succeed() }
                return true
            case .hold(let waiters):
                place.pin(self)
                Creation.release(waiters)
                return false
            case .fail(let cause):
                fail(cause.failure ?? CancellationError())
                return true
            }
        case .failure(let error):
            fail((error as? ResolutionError)?.relative(to: self, in: frame) ?? error)
            return true
        }
    }

    /// Gives waiters the unfinished instances that let a cycle of properties go on.
    static func release(_ waiters: [(waiter: Waiter, early: Creation)]) {
        for (waiter, early) in waiters {
            early.place.pin(early)
            // Complete since the decision: the waiter looks again and finds it.
            waiter.resume(early.instance.map(Waiter.Outcome.instance) ?? .retry)
        }
    }

    private func succeed() {
        guard let instance else { preconditionFailure("a complete creation has an instance") }
        place.finish(self, .success(instance))
        forget()
    }

    private func fail(_ error: any Error) {
        state.withLock { $0.failure = error }
        let others = Waits.graph.withLock { $0.fail(self) }
        place.finish(self, .failure(error))
        for creation in others {
            creation.state.withLock { $0.failure = error }
            creation.place.finish(creation, .failure(error))
            creation.forget()
        }
        forget()
    }

    /// A resolver that somebody keeps leads here: it must not keep the instance too.
    private func forget() {
        let instance = state.withLock { state in
            defer {
                state.task = nil
                state.instance = nil
            }
            return state.instance
        }
        withExtendedLifetime(instance) {}
    }

    static func == (first: Creation, second: Creation) -> Bool { first === second }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Recipe {
    /// Runs the hooks of an instance: properties first, so that `onCreate` sees the whole instance.
    nonisolated(nonsending) func runHooks(_ instance: Cell, in frame: Frame) async throws {
        let resolver = Resolver(host: frame.host, frame: frame)
        try await translatingCancellation(in: frame) {
            try await ResolutionContext.$frame.bind(frame) {
                frame.recorded?.isSettingProperties = true
                for hook in blueprint.propertyHooks { try await hook(resolver, instance, frame.pack) }
                frame.recorded?.isSettingProperties = false
                for hook in blueprint.creationHooks { try await hook(resolver, instance, frame.pack) }
            }
        }
    }
}

/// Runs a factory or hooks; a `CancellationError` that they throw although nobody cancelled this task is a failure of theirs,
/// and must not be taken for the caller's own cancellation.
nonisolated(nonsending) func translatingCancellation<R: Sendable>(
    in frame: Frame, _ body: nonisolated(nonsending) () async throws -> R
) async throws -> R {
    do {
        return try await body()
    } catch {
        throw translated(error, in: frame)
    }
}

func translated(_ error: any Error, in frame: Frame) -> any Error {
    frame.recorded?.fail()
    guard error is CancellationError, !Task.isCancelled else { return error }
    return ResolutionError(
        .creationCancelled, "the factory of \(frame.recipe.key) threw CancellationError, but nobody cancelled it.",
        advice: "Look for a task that the factory cancels itself, and throw an error of your own instead.",
        steps: frame.path, asker: frame, underlying: error)
}

/// Measures how long a creation takes, by the container's clock.
struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) {
        func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
            let start = clock.now
            return { start.duration(to: clock.now) }
        }
        elapsed = start(clock)
    }
}
