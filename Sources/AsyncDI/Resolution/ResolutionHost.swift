/// The part of a container that resolution uses: small, so that a factory's resolver need not know the container.
protocol ResolutionHost: CreationPlace {
    /// The container's registrations and ready instances.
    var table: InstanceTable { get }
    /// A number that no other container ever has, greater than the number of every older container.
    var number: UInt64 { get }
    /// The only container that this one searches, which answers each request as this one does; nil for a container that
    /// has registrations or searches several ones.
    var soleSource: (any ResolutionHost)? { get }
    /// Whether this container has ever created a scoped instance without being a scope.
    var hasScopedInstances: Bool { get }
    /// Whether this container, or one that it searches, has ever created an instance of a custom lifetime.
    var hasResettableInstances: Bool { get }
    /// The name of the container in messages, not put together yet.
    var title: ContainerTitle { get }
    var parentHost: (any ResolutionHost)? { get }
    /// Whether this place was opened as a scope.
    var isScope: Bool { get }
    /// The disposals of this container and of those above it, as far as a call waits for them.
    var ends: [Activity] { get }
    /// The disposal of this container; nil before a call has waited for it.
    var end: Completion? { get }
    /// Whether a call of the current task, outside every run, begins new work that a draining container refuses.
    var isRefusedWhileDraining: Bool { get }
    /// The running body of the innermost scope that the current task works in.
    static var bodyOfCurrentScope: Body? { get }
    /// Arranges that an object forgets the container's instance when the container ends.
    ///
    /// - Returns: False if the container has ended.
    func remember(_ memo: any InstanceMemo) -> Bool
    /// Removes such an object, which is about to be released.
    func forgetMemo(_ identity: ObjectIdentifier)
    /// The keys of its registrations; after its disposal, if it has a parent, the keys of its former registrations.
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
    /// Returns a stopwatch that measures by the container's clock from now on.
    func makeStopwatch() -> Stopwatch
    /// Watches for long waits; nil without observers.
    var stalls: StallMonitor? { get }

    /// Finds the instance, joins its creation or begins one, in one step.
    ///
    /// - Parameters:
    ///   - key: The registration and its arguments.
    ///   - request: The request; the factory of a new creation receives its arguments.
    ///   - attempt: The results of earlier attempts of the same request.
    /// - Returns: The decision for the request.
    func join(_ key: CreationKey, for request: borrowing Request, attempt: borrowing JoinAttempt) -> JoinDecision
    /// Makes the request that launched the creation a waiter, because it has to wait after all.
    func attendNoMore(waitingAs waiter: Waiter) -> Flights.AttendAction
    /// Begins the work of a creation that has waited for its predecessor, unless another step comes first.
    func nextStep(of creation: Creation, after predecessor: Creation.Predecessor) -> Creation.NextStep

    /// Takes a lease of the instance for these arguments, if it is cached and indexed.
    func leaseIndexed(_ binding: Binding, _ arguments: ArgumentPack) -> Request.Delivery?
    /// Leases a cached instance that a reader has found by its arguments; nil where the general path must decide.
    func leaseIndexed(_ found: IndexEntry) -> (any HeldLease)?

    /// The current cached instance of a key.
    func peek(_ key: CreationKey) -> Peek

    /// Takes a lease of an instance that was handed out early, if it is cached by now.
    func lease(_ key: CreationKey, _ cell: Cell) -> LeaseDecision

    /// Takes a lease of a storage's instance; nil when another instance was stored since.
    func lease(
        _ key: CreationKey, loaded cell: Cell, from storage: any InstanceStorage, generation: Int
    ) -> (any HeldLease)?

    /// Publishes an instance, converted, under another key for as long as the original is published.
    ///
    /// - Parameters:
    ///   - converted: The instance in the form of the other key's service.
    ///   - original: The published instance.
    ///   - key: The key of the instance.
    ///   - alias: The registration of the other key.
    ///   - registrationCount: The registration count when that registration was found.
    func publish(
        _ converted: Cell, of original: Cell, for key: CreationKey, under alias: Binding, registrationCount: UInt)

    /// Loads the pending modules, here and in the containers that this one searches.
    nonisolated(nonsending) func loadModules() async throws
    /// Measures creations while the container starts; nil in a container that was never started.
    var startMeter: StartMeter? { get }

    /// Decorates the currently inherited registration, or none without one, in place of the previous one.
    func inheritAgain(_ binding: Binding)
    /// Decorates a registration that a container above is announcing, if this one decorates such.
    ///
    /// - Returns: Whether this one has a registration now.
    func inheritAnnounced(_ key: ServiceKey) -> Bool

    /// The keys of all contributions to the service of a key; those of an ancestor come first.
    func contributions(to key: ServiceKey) -> [ServiceKey]

    /// The error for a key without a registration, with similar keys; that of a disposed container after its end.
    ///
    /// Not called under a lock.
    func miss(_ key: ServiceKey, asker: Run?) -> ResolutionError
    /// The container's own registrations under another type, to which the key's service may apply, or under another
    /// qualifier.
    func suppliedKeys(near key: ServiceKey) -> [ServiceKey]
    /// Another current container of the task, neither above nor below this one, that has a registration for a key.
    func supplierAround(of key: ServiceKey) -> (any ResolutionHost)?
    /// The error for a key that is registered with other arguments; nil when it is not registered at all.
    func mismatch(_ key: ServiceKey, asker: Run?) -> ResolutionError?
    /// The error for a request to a disposed container.
    func disposedError(_ key: ServiceKey?, asker: Run?) -> ResolutionError
    /// The same for a request, which also notifies an interceptor.
    ///
    /// Not called under a lock.
    func refusal(of key: ServiceKey, asker: Run?) -> ResolutionError
}

/// The name of a container in messages, not put together until it is read.
struct ContainerTitle: Sendable {
    let name: String?
    let isRoot: Bool

    var text: String {
        if let name { return "container \"\(singleLine(name))\"" }
        return isRoot ? "the root container" : "an unnamed child container"
    }
}

extension ResolutionHost {
    /// The name of the container in messages.
    var displayName: String { title.text }

    /// Whether this container is a scope or child of another one, at any depth.
    func isBelow(_ other: any ResolutionHost) -> Bool {
        var above = parentHost
        while let host = above {
            if host === other { return true }
            above = host.parentHost
        }
        return false
    }
}

extension ResolutionHost {
    /// The activity that a call of the current task belongs to, nil outside every activity.
    ///
    /// `run` is the run that makes the call, nil outside every run.
    func caller(of run: Run?) -> Caller? {
        let activity = run?.activity
        let leaseBody = LeaseContext.activeBody
        var innermost = activity
        if let leaseBody, leaseBody.isInside(activity) { innermost = leaseBody }
        // A run that was begun in a lease's body belongs to that body, in which the scope may have been opened.
        let outerBody = activity?.asBody
        // Most activities open no scope: their calls need no look at the current one.
        if outerBody != nil || activity?.opensScopes != false, let scopeBody = Self.bodyOfCurrentScope,
            scopeBody.isInside(activity) || outerBody.map(scopeBody.isWithin) == true,
            // Otherwise both bodies were begun in the same run, and the scope's may be inside the other one.
            innermost === activity || leaseBody.map(scopeBody.isWithin) == true
        {
            innermost = scopeBody
        }
        return innermost.map { Caller(activity: $0, run: run) }
    }
}

/// A lease that delays the disposal of a cached instance until it is ended.
protocol HeldLease: AnyObject, Sendable {
    func end()
    /// Passes the lease to an instance, which may decorate the leased one: a drain waits only for the leases of bodies.
    func passToInstance(of holder: Creation, decorating: Bool)
    /// Notes that a body holds the lease that held none before, so that waits for the instance's disposal are decided
    /// on again.
    func noteBody()
    /// Whether the leased instance has a hook or leases of its own, for which its disposal is more than an event.
    var delaysDisposal: Bool { get }
    /// The disposals that cannot end before the lease does.
    var outer: [Activity] { get }
}

/// The place of a creation: a container or a graph.
protocol CreationPlace: AnyObject, Sendable {
    /// Changes the flights, among them one that other requests may join, in one step under the lock.
    func changeFlights<Answer>(joining creation: Creation, _ change: (inout Flights) -> Answer) -> Answer
    /// Ends the creation, as the graph of waits has decided.
    func finish(_ creation: Creation, _ result: Result<Cell, any Error>)
    /// Ends the creation, unless the graph of waits contains it and must decide.
    ///
    /// - Returns: Whether the creation has ended.
    func finishAlone(_ creation: Creation, _ result: Result<Cell, any Error>) -> Bool
}

extension CreationPlace {
    /// A waiter was cancelled.
    func leave(_ waiter: Waiter) {
        let action = changeFlights(joining: waiter.creation) { $0.leave(waiter.creation, waiter: waiter) }
        if action == .cancelFlight { waiter.creation.cancel() }
    }

    /// Notes that the unfinished instance is held: the creation must run to its end.
    func pin(_ creation: Creation) { changeFlights(joining: creation) { $0.pin(creation) } }

    /// Notes a cancellation that does not come from the creation's waiters: they start over when it fails.
    func abandon(_ creation: Creation) { changeFlights(joining: creation) { $0.abandon(creation) } }
}
