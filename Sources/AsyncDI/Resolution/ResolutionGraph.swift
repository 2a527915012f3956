/// The instances shared within one resolution.
///
/// A graph creation runs in the task of its first request. Another request from a child task waits meanwhile. After the
/// resolution its instances belong to their recipients. A graph that a ``GraphIdentifier`` or a `Lazy` can return to
/// keeps only weak references to them until then.
final class ResolutionGraph: CreationPlace {
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

    /// The graph as used by a task that has outlived scopes.
    ///
    /// Its creations are its own. Another task's request must not fail with one that is refused because of the scopes,
    /// and an instance of another task may have parts that belonged to them. A creation that succeeds has none; its
    /// request then receives the instance that the graph has: ``instance(of:agreeingWith:madeFor:)``.
    init(_ graph: ResolutionGraph, outliving scopes: [any ResolutionHost]) {
        state = Locked(State(isEntered: false))
        outlived = OutlivedScopes(scopes, using: graph.itself)
    }

    /// The graph itself, independent of the task that uses it.
    var itself: ResolutionGraph { outlived?.graph ?? self }

    /// Notes that the graph can be used again after its resolution.
    func keep() {
        state.withLock { $0.keep() }
        outlived?.graph.keep()
    }

    /// The graph's instance for a key: for a task that has outlived scopes, the one that other tasks share, in place of
    /// the one that it has created itself.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - cell: The instance that the task has created.
    ///   - holder: The shared creation whose product will hold the instance.
    /// - Returns: The instance. It is the task's own while another task creates one, and for a holder, because the
    ///   shared one was checked for another holder.
    func instance(of key: CreationKey, agreeingWith cell: Cell, madeFor holder: Creation?) -> Cell {
        guard holder == nil, let graph = outlived?.graph else { return cell }
        let shared = graph.state.withLock { $0.share(cell, for: key) }
        if shared !== cell { state.withLock { $0.hold(shared, for: key, madeFor: nil) } }
        return shared
    }

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
            if let found = state.find(key) {
                if let holder, holder.mustNotShare(whatWasMadeFor: found.holder, in: host) {
                    return .captive(holder: holder, found.cell)
                }
                return .ready(found.cell)
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
        return changeFlights(joining: creation) { flights in
            flights.allowAbandonment(creation)
            return flights.ask(creation.key, asker: asker, mayWait: true)
        }
    }

    func changeFlights<Answer>(joining creation: Creation, _ change: (inout Flights) -> Answer) -> Answer {
        state.withLock { $0.changeFlights(joining: creation, change) }
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

    /// The number of instances that can be found in it.
    var count: Int { state.withLock { $0.instances.count } }

    /// Notes that a request begins to use the graph.
    func enter() {
        state.withLock { $0.uses += 1 }
        outlived?.graph.enter()
    }

    /// Notes the end of a request; the last one ends the resolution.
    func leave() {
        leave { _ in true }
        outlived?.graph.leave()
    }

    /// Notes the end of its maker's request; does nothing the second time.
    func leaveAsMaker() {
        leave { state in
            exchange(&state.isMakerInside, with: false)
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

extension Flights.FinishAction {
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
