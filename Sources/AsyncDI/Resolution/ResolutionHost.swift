/// The part of a container that resolution uses: small, so that a factory's resolver need not know the container.
protocol ResolutionHost: CreationPlace {
    /// The container's registrations and ready instances.
    var table: InstanceTable { get }
    /// A number that no other container ever has, greater than that of every container made before.
    var number: UInt64 { get }
    /// Whether a request may be answered otherwise here than by the parent: something is registered here.
    var hasAnswersOfItsOwn: Bool { get }
    /// Whether this container has ever made a scoped instance without being a scope.
    var hasScopedInstances: Bool { get }
    /// Whether this container, or one that it asks, has ever made an instance of a custom lifetime.
    var hasResettableInstances: Bool { get }
    /// The container's name, as messages show it.
    var displayName: String { get }
    var parentHost: (any ResolutionHost)? { get }
    /// The disposals of this container and of those above it, as far as something waits for one.
    var ends: [Activity] { get }
    /// Whether a call of the current task, outside every run, begins new work that a draining container refuses.
    var isRefusedWhileDraining: Bool { get }
    /// The keys of its registrations; when it is disposed, of those that it had, where there is a container around it.
    var registeredKeys: [ServiceKey] { get }
    /// The name of the container in graphs.
    var ownerLabel: String { get }
    /// The recorders of this container and of those above it.
    var recorders: [Recorder] { get }
    /// The observers that wrap creations.
    var aroundCreations: [any AroundCreation] { get }
    /// Whether observers receive creations.
    var reportsCreations: Bool { get }
    /// The time since the container was created, by its clock.
    func elapsed() -> Duration
    /// Measures by the container's clock, from now on.
    func makeStopwatch() -> Stopwatch
    /// Watches for long waits, nil without observers.
    var stalls: StallMonitor? { get }

    /// Finds the instance, joins its creation or begins one, in one step.
    ///
    /// - Parameters:
    ///   - key: The registration and its arguments.
    ///   - request: The request; the factory of a new creation is given its arguments.
    ///   - attempt: The results of earlier attempts of the same request.
    /// - Returns: The decision for the request.
    func join(_ key: CreationKey, for request: borrowing Request, attempt: borrowing JoinAttempt) -> JoinDecision

    /// Takes a lease of the instance for these arguments, if it is cached and indexed.
    func leaseIndexed(_ binding: Binding, _ arguments: ArgumentPack) -> (cell: Cell, lease: any HeldLease)?

    /// The current cached instance of a key.
    func peek(_ key: CreationKey) -> Peek

    /// Takes a lease of an instance that was given early, if it is cached by now.
    func lease(_ key: CreationKey, _ cell: Cell) -> LeaseDecision

    /// Takes a lease of a storage's instance, nil when that is not the one last stored.
    func lease(
        _ key: CreationKey, loaded cell: Cell, from storage: any InstanceStorage, generation: Int
    ) -> (any HeldLease)?

    /// Publishes an instance, converted, under another key for as long as the original is published.
    func publish(_ converted: Cell, of original: Cell, for key: CreationKey, under alias: Binding)

    /// Loads the pending modules, here and in the containers that this one searches.
    nonisolated(nonsending) func loadModules() async throws
    /// Measures creations while the container starts; nil in one that never did.
    var startMeter: StartMeter? { get }

    /// Decorates the currently inherited registration, or none without one, in place of the previous one.
    func inheritAgain(_ binding: Binding)

    /// The keys of all contributions to the service of a key, an ancestor's first.
    func contributions(to key: ServiceKey) -> [ServiceKey]

    /// The error for a key without a registration, with similar ones.
    func miss(_ key: ServiceKey, asker: Run?) -> ResolutionError
    /// The error for a key that is registered with other arguments, nil when it is not registered at all.
    func mismatch(_ key: ServiceKey, asker: Run?) -> ResolutionError?
    /// The error for a request to a disposed container.
    func disposedError(_ key: ServiceKey?, asker: Run?) -> ResolutionError
    /// The same for a request, of which an interceptor is notified.
    ///
    /// Not called under a lock.
    func refusal(of key: ServiceKey, asker: Run?) -> ResolutionError
}

/// The findings of a request that must try the same container again.
struct JoinAttempt {
    /// The registration clock when the registration was found.
    var clock: UInt
    /// Whether a creation may be started or waited for: not when the asking task is cancelled.
    var mayWait: Bool
    /// Whether a lease is taken with the instance.
    var takesLease = false
    /// A storage made for this request, used if there is none yet.
    var offeredStorage: (any InstanceStorage)?
    /// The storage's generation that was found empty.
    var emptyGeneration: Int?
}

/// The answer to a request for a shared or graph instance.
enum JoinDecision {
    case ready(Cell)
    /// The same, leased in this step.
    case leased(Cell, any HeldLease)
    /// An unfinished instance that the asker may see, being in a cycle of properties with it.
    case early(Cell)
    /// The graph's instance was created for another holder, and may hold instances that this holder must not.
    ///
    /// The instance comes along to be released outside the lock.
    case captive(holder: Creation, Cell?)
    /// Wait, once these waiters have been given the instances that let it go on.
    case wait(Waiter, releasing: [(waiter: Waiter, early: Creation)])
    /// A new creation: launch it, then wait for it. Without a waiter it is attended until it is known that waiting is
    /// needed.
    case start(Creation, Waiter?)
    /// It was launched, and has ended.
    case ended(Waiter.Outcome, Creation)
    /// Waiting would never end.
    case cycle([Run])
    /// Load from the storage; when it is empty, ask again and say so.
    case load(any InstanceStorage, generation: Int)
    /// The lifetime needs a storage: make one and ask again.
    case makeStorage
    /// The registration was replaced since it was found: look it up again.
    case stale
    /// The asking task is cancelled, and there is no instance yet.
    case refused
    /// The instance before this one is leased by an instance of a container that ends after the request.
    case leasedAround(any ResolutionHost)
    /// The arguments are not equal to themselves.
    case unusableArguments
    case disposed(any ResolutionHost)
}

/// The answer to a request for a lease on an instance that was given without one, because it was unfinished.
enum LeaseDecision {
    case leased(any HeldLease)
    /// Evicted or reset since the look-up: the request must be repeated.
    case gone
    /// The asker is in a cycle of properties with it, and was given it early.
    case unfinished
}

/// A lease that delays the disposal of a cached instance until it is ended.
protocol HeldLease: AnyObject, Sendable {
    func end()
    /// The lease is that of an instance from now on: a container that is drained waits for those of bodies only.
    func passToInstance(of holder: Creation)
    /// The disposals that cannot end before the lease does.
    var outer: [Activity] { get }
}

/// Where creations happen: a container, or a graph.
protocol CreationPlace: AnyObject, Sendable {
    /// The request that launched the creation has to wait for it after all.
    func attendNoMore(waitingAs waiter: Waiter)
        -> SingleFlight<CreationKey, Creation, Waiter>.AttendAction
    /// A waiter was cancelled.
    func leave(_ waiter: Waiter)
    /// The unfinished instance is held: the creation must go on to its end.
    func pin(_ creation: Creation)
    /// Whether requests still join the creation, and its instance will be kept.
    func isCurrent(_ creation: Creation) -> Bool
    /// The creation is cancelled on behalf of others than those that wait for it: these start over when it fails.
    func abandon(_ creation: Creation)
    /// The creation ended, as the graph of waits has decided.
    func finish(_ creation: Creation, _ result: Result<Cell, any Error>)
    /// The creation ended, unless the graph of waits knows of it and must be asked.
    ///
    /// - Returns: Whether the creation has ended.
    func finishAlone(_ creation: Creation, _ result: Result<Cell, any Error>) -> Bool
}

extension SingleFlight<CreationKey, Creation, Waiter> {
    /// Joins the flight of a key if there is one.
    ///
    /// Called under the lock of the flight's place, so that finding the flight, asking whether the wait would end, and
    /// waiting are one step.
    mutating func ask(_ key: CreationKey, asker: Run?, mayWait: Bool, takesLease: Bool = false) -> JoinDecision? {
        guard let creation = flight(for: key) else { return nil }
        // Before the graph is asked: its answer may release others, and must then be carried out.
        guard mayWait else { return .refused }
        let waiter = Waiter(for: creation, takesLease: takesLease)
        var released: [(waiter: Waiter, early: Creation)] = []
        if let asker = Waits.asker(of: asker) {
            switch Waits.ask(waiter, from: asker, for: creation) {
            case .cycle(let runs):
                return .cycle(runs.compactMap(\.self))
            case .takeEarly:
                pin(creation)
                guard let cell = creation.instance else { preconditionFailure("what is made has an instance") }
                return .early(cell)
            case .wait(let releasing):
                released = Waits.released(releasing)
            }
        }
        join(creation, waiter: waiter)
        return .wait(waiter, releasing: released)
    }
}
