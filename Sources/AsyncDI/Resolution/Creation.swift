import Synchronization

/// One run of a factory and its hooks for a shared or graph instance: the shell around the decisions of
/// ``SingleFlight`` and ``WaitForGraph``.
///
/// `@unchecked Sendable` because its superclass is; the members that it adds are constant, atomic, or explained at
/// their declarations.
final class Creation: Activity, @unchecked Sendable {
    let key: CreationKey
    let pack: ArgumentPack
    /// The container that the factory's resolver uses.
    let host: any ResolutionHost
    /// The graph that caches the instance; nil for a shared instance.
    private let graph: ResolutionGraph?
    /// The storage in which a custom lifetime keeps the instance, until the creation ends.
    let storageReference: PassingReference<Shared<any InstanceStorage>>
    var storage: (any InstanceStorage)? { storageReference.load()?.value }
    /// Whether a storage keeps the instance.
    var isStored: Bool { !storageReference.isEmpty }
    /// The registration count when the registration was found.
    let registrationCount: UInt
    /// The time of its beginning, by the container's stopwatch; zero for a graph instance.
    let begin: Duration
    /// The number of creations around this one.
    let depth: Int
    /// The start that it belongs to, directly or through a factory; nil for a graph instance, and outside every start.
    let start: EnclosingStart?
    /// Whether the instance becomes part of another one under the same key, and is not found itself.
    let isInner: Bool
    /// The registration that will hold a graph instance; nil without a shared holder.
    let madeFor: Binding?
    /// Whether its container is newer than that of any run that it is created for, however far out: see
    /// ``Run/isInNewer``.
    let isInNewer: Bool
    /// The run that requested a creation with a task of its own, until the creation ends.
    let begunBy: PassingReference<Run>
    var asker: Run? { begunBy.load() }
    /// The activity of the call that began a creation with a task of its own, until the creation ends.
    let begunIn: PassingReference<Activity>
    /// Whether no activity waits for the creation from its beginning.
    var isBegunOutside: Bool { begunIn.isEmpty }
    /// The wait of the request that attends the creation, from its entry into the graph of waits until the request
    /// suspends.
    ///
    /// Unsafe because it belongs to the lock of ``Waits/graph``.
    @exclusivity(unchecked) nonisolated(unsafe) var attendance: Waiter?
    /// The previous instance or creation of the same key.
    ///
    /// The factory runs after its end, so that one key never has two instances.
    ///
    /// Unsafe because only the call that begins the creation reads it before the creation has a task, and afterwards
    /// only that task accesses it. The task releases it before the factory runs, because a resolver that an instance
    /// keeps refers to this creation and must not keep earlier instances.
    @exclusivity(unchecked) nonisolated(unsafe) var predecessor: Predecessor?
    /// The greatest priority that its task has received.
    let priority = Atomic<UInt8>(0)
    /// The outcome of the creation, for the request that launched and attends it.
    ///
    /// Unsafe because it is written once, before `ended` is set, and read only by that request, after it has seen
    /// `ended`.
    @exclusivity(unchecked) nonisolated(unsafe) private var attendedOutcome: Waiter.Outcome?
    /// The uncommon state, created at the first use.
    let extras = AtomicReference<Extras>()

    /// The state that most creations do not need.
    final class Extras: Sendable {
        struct State {
            /// The unfinished instance.
            var instance: Cell?
            var failure: (any Error)?
            /// The factory's leases for the instance; nil once the instance or the creation's failure has taken them
            /// over.
            var leases: [any HeldLease]? = []
            var task: Task<Void, Never>?
            var isCancelled = false
            /// Whether its requests are decided on again, because of a change before its factory had the instances.
            var isOvertaken = false
            /// The wait for the disposal of the previous instance; nil without one.
            var successorWait: SuccessorWait?
            var waiting = Waiting()
            /// The starts of other containers that wait for the instance, and follow it to its own dependencies.
            var startsElsewhere: [ObjectIdentifier: StartMeter] = [:]
            /// Finished when the creation ends, for drains and successors.
            var end: EndOfCreation?
            /// Finished when hooks end that run in a task of their own.
            var hooks: Completion?
        }

        /// Nil only in ``ended``.
        let state: Locked<State>?

        init() { state = Locked(State()) }

        private init(ended: Void) { state = nil }

        /// The value for a creation that has ended without extras; it never changes.
        ///
        /// All containers share it. Without content, it is part of the program, whose references are not counted.
        static let ended = Extras(ended: ())
    }

    /// A creation in a task of its own.
    init(
        _ key: CreationKey, for request: borrowing Request, asking host: any ResolutionHost,
        storage: (any InstanceStorage)?, registrationCount: UInt, begin: Duration, after predecessor: Predecessor? = nil
    ) {
        self.key = key
        pack = request.pack
        self.host = host
        graph = nil
        storageReference = PassingReference(storage.map { Shared($0) })
        self.predecessor = predecessor
        self.registrationCount = registrationCount
        self.begin = begin
        isInner = request.isInner
        madeFor = nil
        let asker = request.asker
        let outer = asker?.holder?.start
        start = request.isOfStart ? EnclosingStart(request.host.startMeter, inside: outer) : outer
        begunBy = PassingReference(asker)
        begunIn = PassingReference(host.caller(of: asker)?.activity)
        isInNewer = asker.map { $0.isInNewer || host.number > $0.host.number } ?? false
        depth = asker?.creationDepth ?? 0
        super.init(.creation)
        if case .disposal(let wait)? = predecessor { note(wait) }
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
        storageReference = PassingReference(nil)
        predecessor = nil
        registrationCount = 0
        begin = .zero
        self.madeFor = madeFor
        self.isInner = isInner
        start = nil
        // The hooks may run in a task of their own.
        begunBy = PassingReference(key.binding.hasHooks ? run : nil)
        begunIn = PassingReference(nil)
        isInNewer = run.map { $0.isInNewer || host.number > $0.host.number } ?? false
        depth = run?.creationDepth ?? 0
        super.init(.creation, inside: host.caller(of: run))
    }

    /// A container's disposal waits for its creations.
    ///
    /// A lease of an unfinished instance waits for that instance. A drain of a key waits for the end of its creation.
    override var outer: [Activity] {
        let others: [Activity]? = extrasIfAny { state in
            (state.leases?.flatMap(\.outer) ?? []) + [state.end, state.hooks].compactMap(\.self)
        }
        return (home?.ends ?? []) + (others ?? [])
    }
    override var beginner: Caller? {
        guard graph == nil else { return enclosing }
        return begunIn.load().map { Caller(activity: $0, run: begunBy.load()) }
    }

    override func enterWaitOfBeginner(in outer: Activity, _ run: Run?, into graph: inout Waits.Graph) {
        // A graph creation runs in the task of its beginner.
        if enclosing != nil { return super.enterWaitOfBeginner(in: outer, run, into: &graph) }
        let waiter = Waiter(for: self)
        attendance = waiter
        graph.begin(waiter, from: outer, label: run, for: self)
    }

    var binding: Binding { key.binding }
    /// The place that caches the instance.
    var place: any CreationPlace {
        if let graph { graph } else { host }
    }
    /// The container that ends the instance's life; nil for a graph instance.
    var home: (any ResolutionHost)? { graph == nil ? host : nil }
    /// The instance from the return of the factory on, if hooks or a group delay the end of the creation.
    var instance: Cell? { extrasIfAny { $0.instance } }
    /// The error of the creation, kept if its group may need it.
    var failure: (any Error)? { extrasIfAny { $0.failure } }

    func extras<R>(_ body: (inout Extras.State) -> R?) -> R? {
        extras.loadOrInitialize { Extras() }.state?.withLock(body) ?? nil
    }

    /// Notes the wait for the disposal of the previous instance, which another request may end.
    func note(_ wait: SuccessorWait) { _ = extras { $0.successorWait = wait } }
    var successorWait: SuccessorWait? { extrasIfAny { $0.successorWait } }
    func forgetSuccessorWait() {
        let wait = extrasIfAny { $0.successorWait.take() }
        withExtendedLifetime(wait) {}
    }

    func extrasIfAny<R>(_ body: (inout Extras.State) -> R?) -> R? {
        extras.object?.state?.withLock(body) ?? nil
    }

    /// Whether others find the creation in a graph that belongs to another shared creation than that of an activity.
    ///
    /// Those that wait for it then wait for the work of the other one, as the second caller of a ``Lazy`` does.
    func isGraphInstance(outside waiting: Creation?) -> Bool { graph != nil && sharedCreation !== waiting }

    // MARK: In a task of its own

    func cancel() {
        let task = extras { state in
            state.isCancelled = true
            return state.task
        }
        // A request of the creation that waits cancels another one in turn.
        if let task { doInTurn { task.cancel() } }
    }

    /// Passes a waiter's priority to the creation (SE-0462).
    func escalate(to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        // Most waiters have the priority that the creation was launched with.
        guard priority.rawValue > self.priority.load(ordering: .relaxed) else { return }
        self.priority.max(priority.rawValue, ordering: .relaxed)
        // No task exists yet while the factory runs in the launching thread, which checks the priority afterwards.
        guard let task = extras({ $0.task }) else { return }
        doInTurn { task.escalatePriority(to: priority) }
    }

    /// Ends the creation, with the outcome for the attending request, if any.
    ///
    /// Called under the lock of its place, in the step in which the flight ends.
    func end(attended outcome: Waiter.Outcome?) {
        attendedOutcome = outcome
        noteEnd()
    }

    /// Returns the outcome of an ended creation once, to the request that attends it.
    func takeAttendedOutcome() -> Waiter.Outcome? {
        hasEnded ? attendedOutcome.take() : nil
    }

    @inline(__always)
    func runShared(_ wrappers: [CreationWrapper], _ later: LaterWrappers?) async {
        let run = Run(sharedCreation: self)
        defer { later?.giveUp() }
        let result: Result<Cell, any Error>
        do {
            try checkRepetition(in: run)
            if predecessor != nil { try await awaitPredecessor(in: run) }
            let wrappers = if let later { await later.take() } else { wrappers }
            let instance: Cell
            if wrappers.isEmpty {
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

    // MARK: Steps

    /// Runs the factory.
    ///
    /// - Parameters:
    ///   - run: The run of the creation.
    ///   - isolation: The caller's isolation. A creation with a task of its own has no isolation to return to, and in a
    ///     task that began at once, each query of its executor takes a lock of the runtime.
    /// - Returns: The instance.
    /// - Throws: The factory's error.
    @inline(__always)
    func makeInstance(in run: Run, isolation: isolated (any Actor)? = #isolation) async throws -> Cell {
        let instance = try await run.makeCell(isolation: isolation) { show($0) }
        instanceMade(instance)
        return instance
    }

    /// Notes that the factory has returned.
    private func instanceMade(_ instance: Cell) {
        guard binding.hasHooks else { return }
        show(instance)
        if !binding.blueprint.propertyHooks.isEmpty {
            enterGraph()
            Waits.graph.withLock { $0.instanceMade(by: self) }
        }
    }

    /// Keeps the unfinished instance for the creations in its cycle, and for its disposal if the creation fails.
    func show(_ instance: Cell) { _ = extras { $0.instance = instance } }
}
