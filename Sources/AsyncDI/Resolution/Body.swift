import Synchronization

/// A running body around calls: that of a `withInstance` or of a `withScope`, or the collection of several leases.
///
/// `@unchecked Sendable` because its superclass is; it adds constants, and references that may be replaced
/// while they are read.
@usableFromInline class Body: Activity, @unchecked Sendable {
    /// The activity of the run that began the body.
    ///
    /// Not a constant, so that the deinitializer, which no other task sees, can hand it on; nothing else changes it.
    @exclusivity(unchecked) private final var place: Activity?
    private let begunIn: ReplaceableReference<Activity>
    private let begunBy: ReplaceableReference<Run>
    final override var enclosing: Caller? { around.map { Caller(activity: $0, run: begunBy.load()) } }
    /// The innermost activity around the body, which may be another body.
    ///
    /// Calls of a task that outlives this body belong to it.
    final var around: Activity? { begunIn.load() }

    /// Whether it is the body of a `withScope`.
    final let isOfScope: Bool

    /// A body that a call begins.
    ///
    /// - Parameters:
    ///   - caller: The call; nil outside every activity.
    ///   - isOfScope: Whether it is the body of a `withScope`.
    init(begunBy caller: Caller?, isOfScope: Bool = false) {
        self.isOfScope = isOfScope
        place = caller?.run?.activity
        begunIn = ReplaceableReference(caller?.activity)
        begunBy = ReplaceableReference(caller?.run)
        super.init(.body)
    }

    /// Whether a later body has let go of this one, which a reader may be the last to hold then, even under a lock.
    private let left = Atomic(false)
    final var isLeft: Bool { left.load(ordering: .acquiring) }

    // Each body may start the task with the next one: such a chain may be very long.
    deinit {
        if isLeft {
            releaseElsewhere([begunIn.takeAtEnd(), begunBy.takeAtEnd(), place.take()])
        } else {
            releaseInTurn(begunIn.takeAtEnd())
        }
    }

    /// Releases objects in a task, on behalf of the deinitializer of a body that was left: its thread may hold a lock.
    ///
    /// Their deinitializers are user code, which may need the lock.
    final func releaseElsewhere(_ objects: consuming [(any AnyObject & Sendable)?]) {
        if objects.allSatisfy({ $0 == nil }) { return }
        // Retained by hand: this thread would keep what it captures until after the start of the task, which may end
        // before.
        let remains = Unmanaged.passRetained(Shared(consume objects))
        Task.detached { remains.release() }
    }

    /// Lets go of ended bodies around this one, which has ended itself: the activity around them takes their place.
    ///
    /// Otherwise a chain of bodies without end, each in a task that the one before started, would stay in memory. Not
    /// to be called under a lock.
    func leaveEndedBodies() {
        guard let former = enclosing, former.endedBody != nil else { return }
        var caller: Caller? = former
        while let body = caller?.endedBody {
            body.noteLeft()
            caller = body.enclosing
        }
        begunBy.replace(with: caller?.run)
        begunIn.replace(with: caller?.activity)
        // A search in the graph of waits may have the run, and must not be the last to have it.
        Waits.graph.withLock { _ in }
        withExtendedLifetime(former) {}
    }

    final func noteLeft() { left.store(true, ordering: .releasing) }

    /// Whether a run of this activity makes its calls in the body.
    final func isInside(_ activity: Activity?) -> Bool { place === activity }

    /// Whether the body runs inside another one that was begun in the same run.
    final func isWithin(_ body: Body) -> Bool {
        var next = around
        while let outer = next?.asBody {
            if outer === body { return true }
            next = outer.around
        }
        return false
    }
}

extension Caller {
    /// The body that the call belongs to, if it has ended.
    fileprivate var endedBody: Body? { activity.hasEnded ? activity.asBody : nil }
}
