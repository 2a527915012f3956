/// The one graph of waits in the process: cycles may span containers.
///
/// Most activities do not wait, and no creation waits for them. They never enter the graph. ``Activity/isInGraph``
/// marks the others. The mark is set under the lock of a creation's place or by the activity's own calls, before the
/// activity's end checks it. Calls of a task that outlives its activity may come later: they set the mark, then check
/// ``Activity/hasEnded``.
enum Waits {
    typealias Graph = WaitForGraph<Activity, Suspension, Run?>

    /// Its lock may be taken under the lock of a place, never the other way round.
    static let graph = Locked(
        Graph(outer: { $0.outer }, kind: { $0.kind }, yields: { ($0 as? SuccessorWait)?.yields == true }))

    /// Checks a call that is about to wait in an activity.
    static func ask(_ suspension: Suspension, from caller: Caller, for target: Activity) -> Graph.AskAction {
        target.enterGraph()
        let beginnings = beginnings(of: caller.activity)
        return graph.withLock { graph in
            // The removal of an ended disposal has passed, and would not remove this wait.
            if target.kind == .disposal, target.hasEnded { return .wait(releasing: []) }
            guard let activity = entering(caller.activity) else { return .wait(releasing: []) }
            // Only now, because only a waiting activity can be part of a cycle.
            link(activity, to: beginnings, in: &graph)
            return graph.ask(suspension, from: activity, label: caller.run, for: target)
        }
    }

    /// An activity and the call that waits for it from its beginning.
    private typealias Beginning = (inner: Activity, caller: Caller)

    /// The beginnings that lead to an activity and may not be in the graph yet, the nearest first.
    ///
    /// Read outside the lock, because the last reference to a run may be released here.
    private static func beginnings(of activity: Activity) -> [Beginning] {
        var beginnings: [Beginning] = []
        var inner = activity
        while !inner.isLinkedToBeginner, let caller = inner.beginner {
            beginnings.append((inner, caller))
            inner = caller.activity
        }
        return beginnings
    }

    /// Enters the edges to an activity that is about to wait.
    ///
    /// No activity waits for a task that outlives its own: an ended activity does not enter again, because its removal
    /// has passed.
    private static func link(_ activity: Activity, to beginnings: [Beginning], in graph: inout Graph) {
        var inner = activity
        for beginning in beginnings where beginning.inner === inner {
            if inner.hasEnded || inner.isLinkedToBeginner { return }
            inner.noteLink()
            guard let outer = entering(beginning.caller.activity) else { return }
            inner.enterWaitOfBeginner(in: outer, beginning.caller.run, into: &graph)
            inner = outer
        }
    }

    /// The waiter of the request that began a creation and attended it until now.
    static func waiter(attending creation: Creation) -> Waiter {
        if creation.isBegunOutside { return Waiter(for: creation) }
        creation.enterGraph()
        // Nil after the creation's end. A new wait then has no effect, but an existing one is taken over.
        let caller = creation.beginner
        let beginnings = caller.map { self.beginnings(of: $0.activity) } ?? []
        return graph.withLock { graph in
            if let waiter = creation.attendance.take() { return waiter }
            let waiter = Waiter(for: creation)
            creation.noteLink()
            if let caller, let activity = entering(caller.activity) {
                link(activity, to: beginnings, in: &graph)
                graph.begin(waiter, from: activity, label: caller.run, for: creation)
            }
            return waiter
        }
    }

    /// Removes the wait of the request that attends a creation, because it has the outcome and will not wait.
    static func forgetAttendance(of creation: Creation) {
        let waiter = graph.withLock { graph in
            if let waiter = creation.attendance { graph.withdraw(waiter) }
            return creation.attendance.take()
        }
        withExtendedLifetime(waiter) {}
    }

    /// The activity, or for an ended body the innermost running activity around it; from now on its end checks the
    /// graph.
    ///
    /// Nil if it has ended: no activity waits for a task that outlives its own.
    private static func entering(_ activity: Activity) -> Activity? {
        var activity = activity
        while true {
            // Marked before the check of its end: either this sees the end, or the end sees the mark.
            activity.enterGraph()
            guard let running = activity.running else { return nil }
            if running === activity { return activity.hasEnded ? nil : activity }
            activity = running
        }
    }

    /// Begins the wait of a container's call, other than a request, for an activity.
    ///
    /// Called outside every lock, because it resumes requests that receive an unfinished instance so that the wait can
    /// end.
    ///
    /// - Returns: The runs between the target and the caller if the wait would never end; otherwise nil.
    static func begin(_ suspension: Suspension, from caller: Caller, for target: Activity) -> [Run]? {
        switch ask(suspension, from: caller, for: target) {
        case .cycle(let runs): return runs.compactMap(\.self)
        case .wait(let releasing): release(releasing)
        case .takeEarly: break
        }
        return nil
    }

    /// The waits that are in the graph now, in no particular order.
    static func all() -> [(from: Activity, to: Activity)] {
        graph.withLock { $0.places.values.map { ($0.from, $0.to) } }
    }

    /// Ends the wait of a call.
    static func end(_ suspension: Suspension) { graph.withLock { $0.withdraw(suspension) } }

    /// Notes the end of an activity.
    static func end(_ activity: Activity) {
        activity.noteEnd()
        if activity.isInGraph { graph.withLock { $0.remove(activity) } }
    }

    /// Notes the end of a body.
    ///
    /// Tasks that outlive it, and the unfinished instances that it received, then belong to the activity around it.
    static func end(_ body: Body) {
        body.noteEnd()
        defer { body.leaveEndedBodies() }
        guard body.isInGraph else { return }
        graph.withLock { graph in
            let outer = body.around?.running
            outer?.enterGraph()
            graph.dissolve(body, into: outer?.hasEnded == false ? outer : nil)
        }
        releaseDropped()
    }

    /// Releases the creations that the graph does not need any more; called outside every lock.
    static func releaseDropped() {
        let dropped = graph.withLock { $0.takeDropped() }
        withExtendedLifetime(dropped) {}
    }
}

extension Waits {
    /// Lets waiters continue, as the graph has decided; called outside every lock.
    static func release(_ released: [Graph.Released]) {
        for (waiter, early) in released {
            guard let early else {
                // Unchecked because only these waits yield.
                unsafeDowncast(waiter, to: SuccessorWait.self).yield()
                continue
            }
            // Unchecked because only creations have an instance before they are complete.
            let creation = unsafeDowncast(early, to: Creation.self)
            creation.place.pin(creation)
            // Without an instance, the creation has completed since the decision: the waiter repeats its look-up and
            // finds it.
            let outcome = creation.instance.map(Waiter.Outcome.instance) ?? .retry
            unsafeDowncast(waiter, to: Waiter.self).resume(outcome)  // Unchecked because only requests wait for these.
        }
    }
}
