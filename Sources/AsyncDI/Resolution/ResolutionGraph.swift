/// The instances shared within one resolution.
///
/// A graph creation runs in the task of its first request. Another request from a child task waits meanwhile. After the
/// resolution its instances belong to their recipients. A graph that a ``GraphIdentifier`` or a `Lazy` can return to
/// keeps only weak references to them until then.
final class ResolutionGraph: CreationPlace {
    /// An instance of the graph.
    private struct Entry {
        var cell: Cell
        /// Its first holder, for which the captive rule was checked; nil without a shared holder.
        let holder: Binding?
    }

    private struct State {
        var instances = SmallMap<CreationKey, Entry>()
        /// The containers in which instances were created.
        private var containers = Containers()
        /// A few creations that no other request has joined, because most are never joined.
        private var alone: [Creation] = []
        private static var mostAlone: Int { 8 }
        /// The others.
        private var flights = SingleFlight<CreationKey, Creation, Waiter>()
        /// The number of requests that use the graph.
        var uses: Int
        /// Whether one of them belongs to the graph's maker.
        var isMakerInside: Bool
        private(set) var isKept = false
        /// Of a kept graph, the instances that its current use holds strongly; nil if these may be all.
        private var strong: [CreationKey]?
        /// The number of instances from which on released ones are looked for.
        private var mostInstances = 16

        init(isEntered: Bool) {
            uses = isEntered ? 1 : 0
            isMakerInside = isEntered
        }

        mutating func keep() { isKept = true }

        /// Holds an instance strongly until the end of the use.
        mutating func hold(_ cell: Cell, for key: CreationKey, madeFor holder: Binding?) {
            instances[key] = Entry(cell: cell, holder: holder)
            if isKept { strong?.append(key) }
        }

        /// Ends the use of the graph: a kept one has only weak references from now on.
        ///
        /// - Returns: The released references.
        mutating func end() -> Dropped {
            var dropped = Dropped()
            guard isKept else {
                dropped.instances = exchange(&instances, for: SmallMap())
                return dropped
            }
            let isDue = instances.count > mostInstances
            let keys = strong == nil || isDue ? instances.all.map(\.key) : strong ?? []
            for key in keys {
                guard let (key, entry) = instances.take(key) else { continue }
                // Reading retains the instance; the entry of a released one is not put back.
                let held = entry.cell.strengthened()
                dropped.others += [key, entry, held as Any]
                if held != nil, let cell = entry.cell.weakened() {
                    instances[key] = Entry(cell: cell, holder: entry.holder)
                }
            }
            // Requests' own keys, whose arguments may be others than those of the equal keys above.
            dropped.others.append(exchange(&strong, for: []) as Any)
            if isDue { mostInstances = max(16, instances.count * 2) }
            return dropped
        }

        mutating func finish(
            _ creation: Creation, _ result: Result<Cell, any Error>, dropped: inout Dropped
        ) -> SingleFlight<CreationKey, Creation, Waiter>.FinishAction {
            // The end is noted before the check of the graph of waits: either this sees that the graph contains the
            // creation, or the graph sees the end.
            creation.end(attended: nil)
            let cell = try? result.get()
            let action =
                takeAlone(creation)
                ? .deliver([], keep: cell != nil) : flights.finish(creation, succeeded: cell != nil)
            if case .deliver(_, keep: true) = action, let cell {
                // A creation may end after the resolution that it belongs to.
                let isOver = uses == 0
                let kept = isOver ? (isKept ? cell.weakened() : nil) : cell
                if let kept {
                    hold(kept, for: creation.key, madeFor: creation.madeFor)
                    forgetEndedContainers(after: creation, dropped: &dropped)
                }
            }
            if creation.isInGraph { Waits.graph.withLock { $0.remove(creation) } }
            return action
        }

        mutating func begin(_ creation: Creation) {
            guard alone.count < Self.mostAlone else {
                return flights.start(creation, for: creation.key, endsWhenAbandoned: false)
            }
            if alone.isEmpty { alone.reserveCapacity(4) }
            alone.append(creation)
        }

        /// Joins a key's creation in flight, if one exists.
        mutating func ask(_ key: CreationKey, asker: Run?, holder: Creation?, mayWait: Bool) -> JoinDecision? {
            if let creation = alone.first(where: { $0.key == key }) { share(creation) }
            if let holder, let creation = flights.flight(for: key), holder.mustNotShare(creation) {
                return .captive(holder: holder, nil)
            }
            return flights.ask(key, asker: asker, mayWait: mayWait)
        }

        /// Drops instances that were created in containers that have ended, which no request can reach.
        ///
        /// This happens once for as many new containers as are alive.
        private mutating func forgetEndedContainers(after creation: Creation, dropped: inout Dropped) {
            guard let ended = containers.note(creation.host, dropped: &dropped) else { return }
            for (key, entry) in instances.all where ended.contains(key.asked ?? 0) {
                dropped.others += [key, entry]
                instances[key] = nil
            }
        }

        /// Changes the flight of a creation that other requests may have joined.
        mutating func change<Answer>(
            _ creation: Creation,
            _ change: (inout SingleFlight<CreationKey, Creation, Waiter>) -> Answer
        ) -> Answer {
            share(creation)
            return change(&flights)
        }

        private mutating func share(_ creation: Creation) {
            if takeAlone(creation) { flights.start(creation, for: creation.key, endsWhenAbandoned: false) }
        }

        private mutating func takeAlone(_ creation: Creation) -> Bool {
            guard let index = alone.lastIndex(where: { $0 === creation }) else { return false }
            alone.remove(at: index)
            return true
        }
    }

    private let state: Locked<State>
    /// The scopes that the task of this resolution has outlived; nil without any.
    let outlived: OutlivedScopes?

    /// An empty graph.
    ///
    /// - Parameter isEntered: Whether its maker already uses it and will leave it.
    init(isEntered: Bool = false) {
        state = Locked(State(isEntered: isEntered))
        outlived = nil
    }

    /// The graph as used by a task that has outlived scopes; it has the same instances.
    init(_ graph: ResolutionGraph, outliving scopes: [any ResolutionHost]) {
        let graph = graph.itself
        state = graph.state
        outlived = OutlivedScopes(scopes, using: graph)
    }

    /// The graph itself, independent of the task that uses it.
    var itself: ResolutionGraph { outlived?.graph ?? self }

    /// Notes that the graph can be used again after its resolution.
    func keep() { state.withLock { $0.keep() } }

    /// Finds the instance, joins its creation or begins one to be run by the caller, in one step.
    ///
    /// - Parameters:
    ///   - key: The registration, its arguments and the requested container.
    ///   - pack: The arguments, for the factory of a new creation.
    ///   - host: The requested container.
    ///   - asker: The requesting run.
    ///   - holder: The shared creation whose product will hold the instance.
    ///   - isInner: Whether the instance becomes part of another one under the same key.
    ///   - mayWait: Whether a creation may be begun or waited for.
    ///   - own: The creation that the request has begun before, and that others complete.
    /// - Returns: The decision for the request.
    func join(
        _ key: CreationKey, _ pack: ArgumentPack, host: any ResolutionHost, asker: Run?, holder: Creation?,
        isInner: Bool = false, mayWait: Bool, after own: Creation? = nil
    ) -> JoinDecision {
        state.withLock { state in
            if let found = state.instances[key], let cell = found.cell.strengthened() {
                if let holder, found.holder !== holder.binding, holder.mustNotShare(whatWasMadeIn: host) {
                    return .captive(holder: holder, cell)
                }
                // Hooks may outlive their resolution, and no request leaves the graph after them.
                if cell !== found.cell, state.uses > 0 { state.hold(cell, for: key, madeFor: found.holder) }
                return .ready(cell)
            }
            if let decision = state.ask(key, asker: asker, holder: holder, mayWait: mayWait) { return decision }
            // A hook of its cycle may have failed before this request could wait for it. A cancellation is another
            // request's: this one starts over.
            if let own, let failure = own.failure, !(failure is CancellationError) {
                return .ended(.failure(failure), own)
            }
            guard mayWait else { return .refused }
            // No other request would find it, nor would this one if another task must finish it.
            guard key.isEqualToItself else { return .unusableArguments }
            let creation = Creation(
                key, pack, asking: host, in: self, enclosing: asker, madeFor: holder?.binding, isInner: isInner)
            state.begin(creation)
            return .start(creation, nil)
        }
    }

    /// The asker's task no longer runs the creation.
    ///
    /// From now on the creation is cancelled when no request waits for it.
    func handOver(_ creation: Creation, asker: Run) -> JoinDecision? {
        Waits.graph.withLock { graph in
            graph.leave(creation)
            creation.noteLink()
        }
        return state.withLock { state in
            state.change(creation) { flights in
                flights.allowAbandonment(creation)
                return flights.ask(creation.key, asker: asker, mayWait: true)
            }
        }
    }

    func leave(_ waiter: Waiter) {
        let action = state.withLock { $0.change(waiter.creation) { $0.leave(waiter.creation, waiter: waiter) } }
        if action == .cancelFlight { waiter.creation.cancel() }
    }

    func pin(_ creation: Creation) {
        state.withLock { $0.change(creation) { $0.pin(creation) } }
    }

    /// Notes that the task that runs the creation was cancelled, which must not cancel the other waiters.
    func abandon(_ creation: Creation) {
        state.withLock { $0.change(creation) { $0.abandon(creation) } }
    }

    func finish(_ creation: Creation, _ result: Result<Cell, any Error>) {
        var dropped = Dropped()
        state.withLock { $0.finish(creation, result, dropped: &dropped) }.resumeWaiters(with: result)
        withExtendedLifetime(dropped) {}
    }

    func finishAlone(_ creation: Creation, _ result: Result<Cell, any Error>) -> Bool {
        var dropped = Dropped()
        let action = state.withLock { state in
            creation.isInGraph ? nil : state.finish(creation, result, dropped: &dropped)
        }
        action?.resumeWaiters(with: result)
        withExtendedLifetime(dropped) {}
        return action != nil
    }

    /// References that are released outside the lock, because deinitializers are user code.
    private struct Dropped {
        var instances: SmallMap<CreationKey, Entry>?
        var others: [Any] = []
    }

    /// The containers in which a graph is used: in most cases one.
    private struct Containers {
        private struct Other {
            weak var host: (any ResolutionHost)?
        }

        private var first: UInt64?
        private var others: [UInt64: Other] = [:]
        private var mostOthers = 16

        /// Notes the container in which an instance was created.
        ///
        /// Returns the numbers of containers that have ended since, or nil while the check is not due.
        mutating func note(_ host: any ResolutionHost, dropped: inout Dropped) -> Set<UInt64>? {
            let number = host.number
            guard let first else {
                first = number
                return nil
            }
            guard number != first, others[number] == nil else { return nil }
            others[number] = Other(host: host)
            guard others.count > mostOthers else { return nil }
            var ended: Set<UInt64> = []
            for (number, other) in others {
                // Reading retains the container, and may be the last reference to it.
                if let host = other.host { dropped.others.append(host) }
                if other.host?.table.isClosed != false { ended.insert(number) }
            }
            for number in ended { others[number] = nil }
            mostOthers = max(16, others.count * 2)
            return ended
        }
    }

    /// The number of instances that can be found in it.
    var count: Int { state.withLock { $0.instances.count } }

    /// Notes that a request begins to use the graph.
    func enter() { state.withLock { $0.uses += 1 } }

    /// Notes the end of a request; the last one ends the resolution.
    func leave() { leave { _ in true } }

    /// Notes the end of its maker's request; does nothing the second time.
    func leaveAsMaker() {
        leave { state in
            exchange(&state.isMakerInside, for: false)
        }
    }

    private func leave(if mayLeave: (inout State) -> Bool) {
        let released = state.withLock { state -> Dropped? in
            guard mayLeave(&state) else { return nil }
            state.uses -= 1
            return state.uses == 0 && !state.instances.isEmpty ? state.end() : nil
        }
        withExtendedLifetime(released) {}
    }
}

extension SingleFlight<CreationKey, Creation, Waiter>.FinishAction {
    /// Carries the action out, outside every lock.
    ///
    /// Each waiter that takes a lease receives one that was begun for it.
    func resumeWaiters(with result: Result<Cell, any Error>, makeLease: (() -> any HeldLease)? = nil) {
        switch self {
        case .retry(let waiters):
            for waiter in waiters { waiter.resume(.retry) }
        case .deliver(let waiters, _):
            guard !waiters.isEmpty else { return }
            for waiter in waiters {
                switch result {
                case .success(let cell):
                    if waiter.takesLease, let lease = makeLease?() {
                        // The waiter was cancelled after the creation ended, so the lease ends here.
                        if !waiter.resume(.leased(cell, lease)) { lease.end() }
                    } else {
                        waiter.resume(.instance(cell))
                    }
                case .failure(let error): waiter.resume(.failure(error))
                }
            }
        }
    }
}
