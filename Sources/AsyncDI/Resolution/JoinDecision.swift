/// The findings of a request that must try the same container again.
struct JoinAttempt {
    /// The registration count when the registration was found.
    var registrationCount: UInt
    /// Whether a creation may be started or waited for: false when the requesting task is cancelled.
    var mayWait: Bool
    /// Whether a lease is taken with the instance.
    var takesLease = false
    /// A storage created for this request, used if none exists yet.
    var offeredStorage: (any InstanceStorage)?
    /// The generation in which the storage was found empty.
    var emptyGeneration: Int?
}

/// The answer to a request for a shared or graph instance.
enum JoinDecision {
    case ready(Cell)
    /// The same, leased in this step.
    case leased(Cell, any HeldLease)
    /// An unfinished instance that the requester may receive, because both are in a cycle of properties.
    case early(Cell)
    /// The graph's instance was created for another holder, and may hold instances that this holder must not hold.
    ///
    /// Includes the instance, so that it is released outside the lock.
    case captive(holder: Creation, Cell?)
    /// Wait, after these waiters have continued, so that a cycle can.
    case wait(Waiter, releasing: [Waits.Graph.Released])
    /// Launch a new creation, then wait for it.
    ///
    /// Without a waiter, the request attends the creation until it has to wait.
    case start(Creation, Waiter?)
    /// The creation was launched, and has ended.
    case ended(Waiter.Outcome, Creation)
    /// Waiting would never end.
    case cycle([Run])
    /// Load from the storage.
    ///
    /// If the storage is empty, repeat the request and report that.
    case load(any InstanceStorage, generation: Int)
    /// The lifetime needs a storage: create one and repeat the request.
    case makeStorage
    /// The registration was replaced since it was found: look it up again.
    case stale
    /// The requesting task is cancelled, and no instance exists yet.
    case refused
    /// The instance before this one is leased by an instance of a container that ends after the request.
    case leasedAround(any ResolutionHost)
    /// The arguments are not equal to themselves.
    case unusableArguments
    case disposed(any ResolutionHost)
}

/// The answer to a request for a lease of an instance that was delivered without one, because it was unfinished.
enum LeaseDecision {
    case leased(any HeldLease)
    /// Evicted or reset since the look-up: the request must be repeated.
    case gone
    /// The requester is in a cycle of properties with the instance, and received it early.
    case unfinished
}

/// The creations in flight in one place.
typealias Flights = SingleFlight<CreationKey, Creation, Waiter>

extension Flights {
    /// Joins the flight of a key, if one exists.
    ///
    /// Called under the lock of the flight's place, so that one step finds the flight, checks that the wait would end,
    /// and begins the wait.
    mutating func ask(_ key: CreationKey, asker: Run?, mayWait: Bool, takesLease: Bool = false) -> JoinDecision? {
        guard let creation = flight(for: key) else { return nil }
        // Checked before the graph decides, because a decision that releases other waiters must be carried out.
        guard mayWait else { return .refused }
        let waiter = Waiter(for: creation, takesLease: takesLease)
        var released: [Waits.Graph.Released] = []
        if let caller = creation.host.caller(of: asker) {
            switch Waits.ask(waiter, from: caller, for: creation) {
            case .cycle(let runs):
                return .cycle(runs.compactMap(\.self))
            case .takeEarly:
                pin(creation)
                guard let cell = creation.instance else { preconditionFailure("the factory has returned an instance") }
                return .early(cell)
            case .wait(let releasing):
                released = releasing
            }
        }
        join(creation, waiter: waiter)
        return .wait(waiter, releasing: released)
    }
}
