import Synchronization

/// Work that a task may have to wait for: a creation, a disposal or drain, or a body.
///
/// A node of the graph of waits. Most activities never enter it: no other activity waits for them while they wait
/// themselves. The others enter the graph when they begin to wait.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it holds atomics, constants, and a
/// reference that only its deinitializer changes.
@usableFromInline class Activity: Hashable, @unchecked Sendable {
    /// The call in whose task this activity runs.
    var enclosing: Caller? { keptCaller }
    /// Not a constant, so that the deinitializer, which no other task sees, can release it in turn.
    @exclusivity(unchecked) private final var keptCaller: Caller?
    /// Whether the graph of waits has the edge from ``beginner``, or never needs it.
    private let linked = Atomic(false)
    /// Whether the graph of waits contains this activity, whose end must then remove it.
    private let knownToGraph = Atomic(false)
    private let ended = Atomic(false)
    private let scoping = Atomic(false)
    enum Kind {
        /// A ``Creation``.
        case creation
        /// A ``Body``.
        ///
        /// After its end, its calls and the unfinished instances that it received belong to the activity around it.
        case body
        /// A ``Completion``.
        ///
        /// It is open: other activities name it among their ``outer`` activities.
        case disposal
    }

    final let kind: Kind

    /// This, if it is a creation.
    final var asCreation: Creation? {
        // Unchecked because only creations have this kind.
        kind == .creation ? unsafeDowncast(self, to: Creation.self) : nil
    }
    /// This, if it is a body.
    final var asBody: Body? {
        // Unchecked because only bodies have this kind.
        kind == .body ? unsafeDowncast(self, to: Body.self) : nil
    }

    init(_ kind: Kind, inside enclosing: Caller? = nil) {
        self.kind = kind
        keptCaller = enclosing
    }

    // Each may start the task with the next one: such a chain may be very long.
    deinit {
        guard let activity = keptCaller?.activity else { return }
        keptCaller = nil
        releaseInTurn(consume activity)
    }

    /// The disposals that cannot end before this activity does, although none of their tasks waits for it.
    ///
    /// Called under the lock of ``Waits/graph``. It reads constants and atomics, and takes only locks that are never
    /// held while another lock is taken.
    var outer: [Activity] { [] }

    /// The call that waits for this activity from its beginning.
    ///
    /// The wait enters the graph of waits when this activity itself waits. Until then it cannot be part of a cycle.
    var beginner: Caller? { enclosing }
    /// Enters the wait of the beginner, which is not in the graph yet.
    ///
    /// Called under the lock of ``Waits/graph``.
    ///
    /// - Parameters:
    ///   - outer: The activity that the beginner belongs to.
    ///   - run: The run that makes the beginner's call.
    ///   - graph: The graph.
    func enterWaitOfBeginner(in outer: Activity, _ run: Run?, into graph: inout Waits.Graph) {
        graph.enter(self, inside: outer, label: run)
    }
    final var isLinkedToBeginner: Bool { linked.load(ordering: .relaxed) }
    /// Called under the lock of ``Waits/graph``, or before another task can have the activity.
    final func noteLink() { linked.store(true, ordering: .relaxed) }

    /// Marks the activity as part of the graph of waits, from which its end must remove it.
    ///
    /// Sequentially consistent like ``hasEnded``: marking then checking the end, and ending then checking the mark,
    /// cannot both miss.
    final func enterGraph() { knownToGraph.store(true, ordering: .sequentiallyConsistent) }
    final var isInGraph: Bool { knownToGraph.load(ordering: .sequentiallyConsistent) }
    /// Whether the activity has ended, or its end is under way.
    final var hasEnded: Bool { ended.load(ordering: .sequentiallyConsistent) }
    final func noteEnd() { ended.store(true, ordering: .sequentiallyConsistent) }

    /// Whether this is the body of a `withScope`.
    final var isBodyOfScope: Bool { asBody?.isOfScope == true }
    /// Whether a run of this activity has opened a scope with a body, in which its calls may be.
    final var opensScopes: Bool { scoping.load(ordering: .relaxed) }
    /// Called before the body begins, by its task.
    final func noteScope() { scoping.store(true, ordering: .relaxed) }

    /// The innermost shared creation that this activity is part of, itself included; nil outside every one.
    final var sharedCreation: Creation? {
        var next: Activity? = self
        while let activity = next {
            if let creation = activity.asCreation, creation.home != nil { return creation }
            next = activity.enclosing?.activity
        }
        return nil
    }

    /// This activity, or for an ended body the innermost running activity around it.
    final var running: Activity? { climbing { $0.hasEnded } }
    /// This activity, or for a body the innermost activity around it that is not a body.
    final var work: Activity? { climbing { _ in true } }

    private func climbing(outOf isLeft: (Body) -> Bool) -> Activity? {
        var next: Activity? = self
        while let body = next?.asBody {
            if !isLeft(body) { return body }
            next = body.around
        }
        return next
    }

    @usableFromInline static func == (first: Activity, second: Activity) -> Bool { first === second }
    @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The activity that a call belongs to, and the run that makes the call.
struct Caller: Sendable {
    let activity: Activity
    /// Shown in the path of an error; nil in a body outside every factory.
    let run: Run?
}

/// One call that waits for an activity: a waiter in the graph of waits.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has no state.
@usableFromInline class Suspension: Hashable, @unchecked Sendable {
    @usableFromInline static func == (first: Suspension, second: Suspension) -> Bool { first === second }
    @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
