import Synchronization

/// Work that a task may have to wait for: a creation, a disposal, or a body that holds a lease.
///
/// A node of the graph of waits. Most activities never enter it: no other activity waits for them while they wait
/// themselves. The others enter the graph when they begin to wait.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it holds atomics and constants.
@usableFromInline class Activity: Hashable, @unchecked Sendable {
    /// The call in whose task this activity runs.
    final let enclosing: Asker?
    /// Whether the graph of waits has the edge from ``beginner``, or never needs it.
    private let linked = Atomic(false)
    /// Whether the graph of waits contains this activity, whose end must then remove it.
    private let knownToGraph = Atomic(false)
    private let ended = Atomic(false)
    enum Kind {
        /// A ``Creation``.
        case creation
        /// A ``LeaseBody``: when it ends, its calls and the unfinished instances that it was given are those of the
        /// activity around it.
        case body
        /// A ``Completion``, which is open: other activities name it as one of their ``outer`` ones.
        case disposal
    }

    final let kind: Kind

    init(_ kind: Kind, inside enclosing: Asker? = nil) {
        self.kind = kind
        self.enclosing = enclosing
    }

    /// The activities that cannot end before this one does, although no task of theirs waits for it: disposals.
    ///
    /// Called under the lock of ``Waits/graph``: looks at constants and atomics, and takes no lock but one that is
    /// never held while another one is taken.
    var outer: [Activity] { [] }

    /// The call that waits for this activity from its beginning.
    ///
    /// The graph of waits learns of it when this activity waits itself: until then, it leads nowhere.
    var beginner: Asker? { enclosing }
    /// Enters the wait of the beginner, which the graph does not know of yet.
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
    /// Called under the lock of ``Waits/graph``, or before any other task knows of the activity.
    final func noteLink() { linked.store(true, ordering: .relaxed) }

    /// Marks the activity as part of the graph of waits: its end must look there.
    ///
    /// Sequentially consistent like ``hasEnded``: marking then checking the end, and ending then checking the mark,
    /// cannot both miss.
    final func enterGraph() { knownToGraph.store(true, ordering: .sequentiallyConsistent) }
    final var isInGraph: Bool { knownToGraph.load(ordering: .sequentiallyConsistent) }
    /// Whether the activity has ended, or its end is under way.
    final var hasEnded: Bool { ended.load(ordering: .sequentiallyConsistent) }
    final func noteEnd() { ended.store(true, ordering: .sequentiallyConsistent) }

    /// This activity, or the innermost one around it where this is a body that has ended.
    final var running: Activity? { climbing { $0.hasEnded } }
    /// This activity, or the innermost one around it that is no body.
    final var work: Activity? { climbing { _ in true } }

    private func climbing(outOf isLeft: (LeaseBody) -> Bool) -> Activity? {
        var next: Activity? = self
        while let activity = next, activity.kind == .body {
            // Unchecked because only bodies say that they are.
            let body = unsafeDowncast(activity, to: LeaseBody.self)
            if !isLeft(body) { return body }
            next = body.around
        }
        return next
    }

    @usableFromInline static func == (first: Activity, second: Activity) -> Bool { first === second }
    @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The activity that a call belongs to, and the run that makes the call.
struct Asker: Sendable {
    let activity: Activity
    /// Shown in the path of an error; nil in a body outside every factory.
    let run: Run?
}

/// One call that waits for an activity, as the graph of waits knows it.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it has no state.
@usableFromInline class Suspension: Hashable, @unchecked Sendable {
    @usableFromInline static func == (first: Suspension, second: Suspension) -> Bool { first === second }
    @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
