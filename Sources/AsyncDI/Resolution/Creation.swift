import Synchronization

/// One run of a factory and its hooks for a shared or graph instance: the shell around the decisions of
/// ``SingleFlight`` and ``WaitForGraph``.
///
/// `@unchecked Sendable` because its superclass is; what it adds is constant, atomic, or said to be safe where it
/// stands.
final class Creation: Activity, @unchecked Sendable {
    let key: CreationKey
    let pack: ArgumentPack
    /// The container that the factory's resolver asks.
    let host: any ResolutionHost
    /// Where a graph instance is cached.
    private let graph: ResolutionGraph?
    /// Where a custom lifetime keeps the instance.
    let storage: (any InstanceStorage)?
    /// The registration clock when the registration was found.
    let clock: UInt
    /// When it began, by the container's stopwatch; zero for a graph instance.
    let begin: Duration
    /// The number of creations around this one.
    private let depth: Int
    private static let greatestDepthOnOneStack = 8
    /// Whether a start began it, or a factory on behalf of one.
    let isOfStart: Bool
    /// Whether the instance goes into another one under the same key, and is not to be found itself.
    let isInner: Bool
    /// The registration that will hold a graph instance, nil where nothing shared will.
    let madeFor: Binding?
    /// Whether it is made in a container newer than that of a run it is made for, however far out: see
    /// ``Run/isInNewer``.
    let isInNewer: Bool
    /// The run that requested a creation with its own task, until it ends.
    let begunBy: PassingReference<Run>
    var asker: Run? { begunBy.load() }
    /// The activity of the call that began a creation with a task of its own, until the creation ends.
    let begunIn: PassingReference<Activity>
    /// Whether no activity waits for the creation from its beginning.
    var isBegunOutside: Bool { begunIn.isEmpty }
    /// The wait of the request that attends the creation, between its entry into the graph of waits and the moment when
    /// the request waits in fact.
    ///
    /// Unsafe because it belongs to the lock of ``Waits/graph``.
    @exclusivity(unchecked) nonisolated(unsafe) var attendance: Waiter?
    /// The disposal of the instance that the same registration had for the same arguments before.
    ///
    /// The factory runs once it is over: there are never two instances for one key.
    ///
    /// Unsafe because after `init` it is touched by the creation's own task only, which releases it before the
    /// factory runs: a resolver that an instance keeps leads here, and must not keep the instances before it.
    @exclusivity(unchecked) nonisolated(unsafe) private var predecessor: Disposable?
    /// The greatest priority that its task was given.
    private let priority = Atomic<UInt8>(0)
    /// The outcome of the creation, for the request that launched and attends it.
    ///
    /// Unsafe because it is written once, before `ended` is set, and read by that one only, after `ended` was seen.
    @exclusivity(unchecked) nonisolated(unsafe) private var attendedOutcome: Waiter.Outcome?
    /// Made when something happens that does not happen in most creations.
    let extras = AtomicReference<Extras>()

    /// The state that most creations do not need.
    final class Extras: Sendable {
        struct State {
            /// The unfinished instance.
            var instance: Cell?
            var failure: (any Error)?
            /// The factory's leases for the instance; nil once the instance, or its failure, has taken them over.
            var leases: [any HeldLease]? = []
            var task: Task<Void, Never>?
            var isCancelled = false
            /// Whether a reset or replacement came before its factory ran.
            var isOvertaken = false
            var waiting = Waiting()
            /// Finished when the creation ends, for drains.
            var end: EndOfCreation?
        }

        let state = Locked(State())
        /// Stands for that of a creation which has ended without one: stays as it is.
        static let ended = Extras()
    }

    /// A creation in a task of its own.
    init(
        _ key: CreationKey, for request: borrowing Request, asking host: any ResolutionHost,
        storage: (any InstanceStorage)?, clock: UInt, begin: Duration, after predecessor: Disposable? = nil
    ) {
        self.key = key
        pack = request.pack
        self.host = host
        graph = nil
        self.storage = storage
        self.predecessor = predecessor
        self.clock = clock
        self.begin = begin
        isInner = request.isInner
        madeFor = nil
        let asker = request.asker
        isOfStart = request.isOfStart || asker?.holder?.isOfStart == true
        begunBy = PassingReference(asker)
        begunIn = PassingReference(Waits.asker(of: asker)?.activity)
        isInNewer = asker.map { $0.isInNewer || host.number > $0.host.number } ?? false
        depth = request.asker?.creation.map { $0.depth + 1 } ?? 0
        super.init(.creation)
    }

    /// A creation for a graph, in the task of the request.
    init(
        _ key: CreationKey, _ pack: ArgumentPack, asking host: any ResolutionHost, in graph: ResolutionGraph,
        enclosing run: Run?, madeFor: Binding?, isInner: Bool
    ) {
        self.key = key
        self.pack = pack
        self.host = host
        self.graph = graph
        storage = nil
        predecessor = nil
        clock = 0
        begin = .zero
        self.madeFor = madeFor
        self.isInner = isInner
        isOfStart = false
        // Its hooks may have a task of their own.
        begunBy = PassingReference(key.binding.hasHooks ? run : nil)
        begunIn = PassingReference(nil)
        isInNewer = run.map { $0.isInNewer || host.number > $0.host.number } ?? false
        depth = run?.creation.map { $0.depth + 1 } ?? 0
        super.init(.creation, inside: Waits.asker(of: run))
    }

    override var outer: [Activity] { endsAndLeases }
    override var beginner: Asker? {
        guard graph == nil else { return enclosing }
        return begunIn.load().map { Asker(activity: $0, run: begunBy.load()) }
    }

    override func enterWaitOfBeginner(in outer: Activity, _ run: Run?, into graph: inout Waits.Graph) {
        // The task of a graph creation is its beginner's.
        if enclosing != nil { return super.enterWaitOfBeginner(in: outer, run, into: &graph) }
        let waiter = Waiter(for: self)
        attendance = waiter
        graph.begin(waiter, from: outer, label: run, for: self)
    }

    var binding: Binding { key.binding }
    /// Where the instance is cached.
    var place: any CreationPlace {
        if let graph { graph } else { host }
    }
    /// The container that the instance's life is bound to, nil for a graph instance.
    var home: (any ResolutionHost)? { graph == nil ? host : nil }
    /// The instance, from the moment the factory returns it, where hooks or a group keep it from being finished.
    var instance: Cell? { extrasIfAny { $0.instance } ?? nil }
    /// Why the creation failed, where its group may ask.
    var failure: (any Error)? { extrasIfAny { $0.failure } ?? nil }

    func extras<R>(_ body: (inout Extras.State) -> R) -> R? {
        let extras = extras.loadOrInitialize { Extras() }
        return extras === Extras.ended ? nil : extras.state.withLock(body)
    }

    func extrasIfAny<R>(_ body: (inout Extras.State) -> R) -> R? {
        guard let extras = extras.object, extras !== Extras.ended else { return nil }
        return extras.state.withLock(body)
    }

    // MARK: In a task of its own

    /// Runs a shared creation.
    ///
    /// An instance that the owner caches must not depend on the first caller: its creation runs detached. A scoped
    /// creation sees its caller's task-locals.
    ///
    /// Where it can, it begins in the caller's thread: a factory that does not suspend is over when this returns. Not
    /// when others are being made around it: the thread's stack would grow with the depth of the dependencies.
    func launch() {
        let priority = Task.currentPriority
        self.priority.max(priority.rawValue, ordering: .relaxed)
        // Where it waits for its predecessor first, it may be overtaken: observers are asked once it begins.
        let wrappers = predecessor == nil ? self.wrappers : []
        let later = predecessor == nil ? nil : LaterWrappers(of: self)
        let task: Task<Void, Never>
        if depth < Self.greatestDepthOnOneStack, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            if key.binding.lifetime.sharing == .registeringContainer {
                task = Task.immediateDetached(name: binding.taskName, priority: priority) {
                    await self.runShared(wrappers, later)
                }
            } else {
                task = Task.immediate(name: binding.taskName, priority: priority) {
                    await self.runShared(wrappers, later)
                }
            }
        } else if key.binding.lifetime.sharing == .registeringContainer {
            task = Task.detached(priority: priority) { await self.runShared(wrappers, later) }
        } else {
            task = Task(priority: priority) { @concurrent in await self.runShared(wrappers, later) }
        }
        if !hasEnded { adopt(task, launchedWith: priority) }
    }

    private func adopt(_ task: Task<Void, Never>, launchedWith priority: TaskPriority) {
        let isCancelled = extras { state in
            state.task = task
            return state.isCancelled
        }
        // The last waiter may have left between the start of the flight and this line.
        if isCancelled == true { task.cancel() }
        // And one with a higher priority may have come.
        let wanted = TaskPriority(rawValue: self.priority.load(ordering: .relaxed))
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), wanted > priority else { return }
        task.escalatePriority(to: wanted)
    }

    func cancel() {
        let task = extras { state in
            state.isCancelled = true
            return state.task
        }
        if let task = task ?? nil { task.cancel() }
    }

    /// A waiter's priority reaches the creation (SE-0462).
    func escalate(to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        // Most waiters have the priority that the creation was launched with.
        guard priority.rawValue > self.priority.load(ordering: .relaxed) else { return }
        self.priority.max(priority.rawValue, ordering: .relaxed)
        // There is none yet while the factory runs in the launching thread, which looks for the priority
        // then.
        guard let task = extras({ $0.task }) ?? nil else { return }
        task.escalatePriority(to: priority)
    }

    /// The creation has ended; an attending request, if any, gets this.
    ///
    /// Called under the lock of its place, in the step in which the flight ends.
    func end(attended outcome: Waiter.Outcome?) {
        attendedOutcome = outcome
        noteEnd()
    }

    /// The outcome of the creation, if it has ended: for the request that attends it, once.
    func takeAttendedOutcome() -> Waiter.Outcome? {
        guard hasEnded else { return nil }
        defer { attendedOutcome = nil }
        return attendedOutcome
    }

    @inline(__always)
    private func runShared(_ wrappers: [CreationWrapper], _ later: LaterWrappers?) async {
        let run = Run(sharedCreation: self)
        defer { later?.giveUp() }
        let result: Result<Cell, any Error>
        do {
            if isInNewer, asker?.isRepeated(binding, pack, in: host) == true {
                throw ResolutionError.circular([run.step], asker: run)
            }
            if let predecessor {
                self.predecessor = nil
                try await predecessor.isOver(before: self, in: run)
                // Overtaken by a reset while it waited: its requests join the creation that came after it.
                if !place.isCurrent(self) {
                    _ = extras { $0.isOvertaken = true }
                    place.abandon(self)
                    throw CancellationError()
                }
            }
            let instance: Cell
            if let later {
                instance = try await makeInstance(in: run, wrappedBy: later)
            } else if wrappers.isEmpty {
                instance = try await makeInstance(in: run, isolation: nil)
                if binding.hasHooks { try await binding.runHooks(instance, in: run) }
            } else {
                instance = try await makeInstance(in: run, wrappedBy: wrappers[...], isolation: nil)
            }
            result = .success(instance)
        } catch {
            result = .failure(error)
        }
        run.end()
        run.leaveOwnGraph()
        settle(result, in: run)
    }

    /// Runs the hooks of a graph creation apart from the task that ran its factory, and ends it.
    func launchHooks(of instance: Cell, in run: Run, endingWith factoryRun: Run) {
        let priority = Task.currentPriority
        self.priority.max(priority.rawValue, ordering: .relaxed)
        let task = Task(priority: priority) { @concurrent in
            let result: Result<Cell, any Error>
            do {
                try await self.binding.runHooks(instance, in: run)
                result = .success(instance)
            } catch {
                result = .failure(error)
            }
            run.end()
            factoryRun.end()
            self.settle(result, in: run)
        }
        adopt(task, launchedWith: priority)
    }

    // MARK: Steps

    /// Runs the factory.
    ///
    /// - Parameters:
    ///   - run: The run of the creation.
    ///   - isolation: The caller's isolation. A task of its own has none to return to: in a task that began at once,
    ///     asking which executor that is takes a lock of the runtime each time.
    /// - Returns: The instance.
    /// - Throws: The factory's error.
    @inline(__always)
    func makeInstance(in run: Run, isolation: isolated (any Actor)? = #isolation) async throws -> Cell {
        let instance = try await run.makeCell(isolation: isolation) { show($0) }
        instanceMade(instance)
        return instance
    }

    /// The factory has returned.
    private func instanceMade(_ instance: Cell) {
        guard binding.hasHooks else { return }
        show(instance)
        if !binding.blueprint.propertyHooks.isEmpty {
            enterGraph()
            Waits.graph.withLock { $0.instanceMade(by: self) }
        }
    }

    /// There is an instance, unfinished: for those in a cycle with it, and to be disposed if the creation fails.
    func show(_ instance: Cell) { _ = extras { $0.instance = instance } }
}
