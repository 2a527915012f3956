/// The waits between unfinished activities in the whole process.
///
/// It decides whether one more wait would never end.
///
/// A pure value. A *node* is an activity: a creation, a disposal or drain, or a body. A *waiter* is one
/// suspended call inside a node. A *label* describes that call in the path of an error. Calls outside every activity
/// cannot close a cycle and are not recorded.
///
/// Some edges are not stored: a container's disposal waits for all activities in the container. Such a node is *open*.
/// Each inner node names the open nodes that cannot end before it does. The search for a path therefore runs from both
/// ends: forward from the target along stored edges, and backward from the asker along all of them. It ends as soon as
/// either side is exhausted. A request that joins the head of a long chain, or comes from its tail, therefore takes
/// constant time. (Two-way search for incremental cycle detection: M. A. Bender, J. T. Fineman, S. Gilbert, R. E.
/// Tarjan, "A New Approach to Incremental Cycle Detection and Related Problems", 2015.)
///
/// Only the request that would close a cycle is refused, as in Guice's `CycleDetectingLock`. Unlike locks, instances
/// can be handed out early: once a creation's instance is *made* and only its hooks run, a request of the same cycle
/// receives it at once. Such creations form a group, which completes or fails as a whole: a creation whose own work is
/// done is *held* until all instances that it received early are done too. Early instances cannot open a cycle in which
/// a disposal waits for the end of one of these creations: see ``lockedPath(from:to:unlessReleased:)``.
///
/// Some waits *yield*: they end early where they would be part of a cycle, whichever of its waits comes last.
struct WaitForGraph<Node: Hashable, Waiter: Hashable, Label> {
    struct Place {
        let from: Node
        let to: Node
    }

    private(set) var places: [Waiter: Place] = [:]
    /// For each node, the targets that its requests wait for.
    private(set) var waits: [Node: [Node: [Waiter: Label]]] = [:]
    /// For each node, the nodes whose requests wait for it.
    private(set) var waitedBy: [Node: Set<Node>] = [:]
    /// Creations that run in the task of another one, which continues when they return.
    private(set) var contents: [Node: [Node: Label]] = [:]
    private(set) var enclosing: [Node: Node] = [:]
    /// Creations that are held, or whose instance exists while their hooks run.
    private(set) var made: Set<Node> = []
    /// For each node, the creations whose unfinished instances it received.
    private(set) var early: [Node: Set<Node>] = [:]
    /// For each node, the nodes that received its unfinished instance.
    private(set) var givenTo: [Node: Set<Node>] = [:]
    /// Creations whose own work is done and that wait for their group, with their numbers in the order in which they
    /// finished their work.
    private(set) var held: [Node: Int] = [:]
    private var heldCount = 0
    /// Creations that will fail, with the failed one whose instance they received.
    private(set) var doomed: [Node: Node] = [:]
    /// The disposals that calls have waited for, until they end.
    private var awaitedDisposals: Set<Node> = []
    /// Failed creations that only their effect on another one has kept, to be released outside the graph's lock.
    private var dropped: [Node] = []
    /// The open nodes that cannot end before a node does.
    let outer: (Node) -> [Node]
    let kind: (Node) -> Activity.Kind
    /// Whether a wait ends early where it would be part of a cycle.
    let yields: (Waiter) -> Bool
    /// The number of nodes that searches have visited, for tests of their cost.
    var steps = 0

    init(
        outer: @escaping (Node) -> [Node] = { _ in [] }, kind: @escaping (Node) -> Activity.Kind = { _ in .creation },
        yields: @escaping (Waiter) -> Bool = { _ in false }
    ) {
        self.outer = outer
        self.kind = kind
        self.yields = yields
    }

    var isEmpty: Bool {
        places.isEmpty && waits.isEmpty && waitedBy.isEmpty && contents.isEmpty && enclosing.isEmpty && made.isEmpty
            && early.isEmpty && givenTo.isEmpty && held.isEmpty && doomed.isEmpty
    }

    // MARK: Asking

    /// A waiter that continues now, so that a cycle can: with the unfinished instance that it waits for, or without
    /// one, because its wait yields.
    typealias Released = (waiter: Waiter, early: Node?)

    enum AskAction {
        /// Suspend, after these waiters have continued.
        case wait(releasing: [Released])
        /// Take the target's unfinished instance.
        case takeEarly
        /// Waiting would never end.
        ///
        /// The labels lead from the target's request to the asker's creation.
        case cycle([Label])
    }

    /// A request made in creation `asker` is about to wait for `target`.
    mutating func ask(_ waiter: Waiter, from asker: Node, label: Label, for target: Node) -> AskAction {
        // The asker's own work is done. The call comes from a task that outlives the asker, and the asker does not wait
        // for it.
        if held[asker] != nil { return .wait(releasing: []) }
        // For example, a creation that the asker itself has just begun has no waits yet.
        guard target == asker || mayWait(target), path(from: target, to: asker, following: .all) != nil else {
            addWait(waiter, from: asker, label: label, to: target)
            return .wait(releasing: [])
        }
        // When one of the paths cannot be opened, no waiter is released.
        var released: [Released] = []
        if let locked = lockedPath(from: target, to: asker, yielding: &released) {
            return .cycle(locked.compactMap(\.label))
        }
        while let path = lockedPath(from: target, to: asker, unlessReleased: true),
            let edge = path.first(where: mayOpen)
        {
            released += release(waitersOf: edge.from, on: edge.to)
        }
        guard target == asker || path(from: target, to: asker) != nil else {
            addWait(waiter, from: asker, label: label, to: target)
            return .wait(releasing: released)
        }
        if made.contains(target) {
            if released.isEmpty {
                give(target, to: asker)
                return .takeEarly
            }
            addWait(waiter, from: asker, label: label, to: target)
            return .wait(releasing: released + release(waitersOf: asker, on: target))
        }
        while let path = path(from: target, to: asker), let edge = path.first(where: isForMadeInstance) {
            released += release(waitersOf: edge.from, on: edge.to)
        }
        addWait(waiter, from: asker, label: label, to: target)
        return .wait(releasing: released)
    }

    /// A request waits for the target that it has begun, which closes no cycle.
    mutating func begin(_ waiter: Waiter, from asker: Node, label: Label, for target: Node) {
        if held[asker] != nil { return }
        addWait(waiter, from: asker, label: label, to: target)
    }

    /// A request ended without an answer: it was cancelled, or starts over.
    mutating func withdraw(_ waiter: Waiter) {
        guard let place = places.removeValue(forKey: waiter) else { return }
        waits[place.from]?[place.to]?[waiter] = nil
        tidy(from: place.from, to: place.to)
    }

    /// `inner` is about to run in the task of `outer`.
    mutating func enter(_ inner: Node, inside outer: Node, label: Label) {
        if held[outer] != nil { return }
        contents[outer, default: [:]][inner] = label
        enclosing[inner] = outer
    }

    /// `inner` no longer runs in the task of its asker.
    mutating func leave(_ inner: Node) {
        guard !enclosing.isEmpty, let outer = enclosing.removeValue(forKey: inner) else { return }
        contents[outer]?[inner] = nil
        if contents[outer]?.isEmpty == true { contents[outer] = nil }
    }

    // MARK: Progress

    /// The instance exists and only hooks still run: the other members of a cycle may receive it.
    mutating func instanceMade(by node: Node) { made.insert(node) }

    enum SettleAction {
        /// These are complete, in the order in which they finished their own work.
        case complete([Node])
        /// The creation waits for its group.
        ///
        /// These waiters belong to the group and now receive the instances that they wait for.
        case hold(releasing: [Released])
        /// The creation received the instance of a creation that failed.
        case fail(because: Node)
    }

    /// The factory and the hooks of a creation have returned.
    mutating func ownWorkDone(_ node: Node) -> SettleAction {
        leave(node)
        if !doomed.isEmpty, let cause = doomed[node] { return .fail(because: cause) }
        if early.isEmpty || early[node] == nil && givenTo[node] == nil {
            remove(node)
            return .complete([node])
        }
        made.insert(node)
        held[node] = heldCount
        heldCount += 1
        // A task that outlives the creation may continue to wait; the creation does not wait for that task.
        removeRequests(of: node)
        let holders = holders(of: node) { held[$0] != nil }
        let group = completeGroup(of: node, heldBy: holders)
        if !group.isEmpty {
            for node in group { remove(node) }
            return .complete(group)
        }
        // Being held, the creation now waits for the instances that it received early. If this closes a cycle, the
        // cycle enters one of the held creations that lead to this one through a request, which receives the instance
        // and continues, or through a disposal. Then another request of the cycle waits for a made instance.
        var released: [Released] = []
        for instance in inOrder(holders) {
            for asker in waitedBy[instance] ?? [] where self.path(from: instance, to: asker) != nil {
                released += release(waitersOf: asker, on: instance)
            }
        }
        // Searched for only where a disposal is awaited: in a large group, each member would search all others.
        for instance in awaitedDisposals.isEmpty ? [] : early[node] ?? [] {
            while let path = path(from: instance, to: node), let edge = path.first(where: isForMadeInstance) {
                released += release(waitersOf: edge.from, on: edge.to)
            }
        }
        return .hold(releasing: released)
    }

    /// A creation failed.
    ///
    /// Returns the held creations that fail with it. Affected creations that still run fail when they are done.
    mutating func fail(_ node: Node) -> [Node] {
        var affected = holders(of: node)
        affected.remove(node)
        let failing = inOrder(affected.filter { held[$0] != nil })
        for holder in affected where held[holder] == nil && doomed[holder] == nil { doomed[holder] = node }
        remove(node)
        for node in failing { remove(node) }
        return failing
    }

    /// Moves the calls of an ended node, and the unfinished instances that it received, to another node.
    ///
    /// Closes no cycle: the other node waited for the one inside it.
    mutating func dissolve(_ inner: Node, into outer: Node?) {
        let requests = waits[inner] ?? [:]
        let inside = contents[inner] ?? [:]
        let instances = early[inner] ?? []
        let cause = doomed[inner]
        remove(inner)
        guard let outer, held[outer] == nil else { return }
        for (target, waiters) in requests {
            for (waiter, label) in waiters { addWait(waiter, from: outer, label: label, to: target) }
        }
        for (node, label) in inside { enter(node, inside: outer, label: label) }
        for instance in instances { give(instance, to: outer) }
        if let cause, doomed[outer] == nil { doomed[outer] = cause }
    }

    /// Forgets a creation and every wait for it.
    mutating func remove(_ node: Node) {
        leave(node)
        removeRequests(of: node)
        if !waitedBy.isEmpty {
            for asker in waitedBy.removeValue(forKey: node) ?? [] {
                for waiter in (waits[asker]?.removeValue(forKey: node) ?? [:]).keys { places[waiter] = nil }
                if waits[asker]?.isEmpty == true { waits[asker] = nil }
            }
        }
        if !made.isEmpty { made.remove(node) }
        if !awaitedDisposals.isEmpty { awaitedDisposals.remove(node) }
        if !early.isEmpty {
            for instance in early.removeValue(forKey: node) ?? [] {
                givenTo[instance]?.remove(node)
                if givenTo[instance]?.isEmpty == true { givenTo[instance] = nil }
            }
            for holder in givenTo.removeValue(forKey: node) ?? [] {
                early[holder]?.remove(node)
                if early[holder]?.isEmpty == true { early[holder] = nil }
            }
        }
        if !held.isEmpty { held[node] = nil }
        if !doomed.isEmpty, let cause = doomed.removeValue(forKey: node) { dropped.append(cause) }
    }

    /// Removes and returns the creations that are to be released outside the graph's lock.
    mutating func takeDropped() -> [Node] {
        exchange(&dropped, with: [])
    }

    // MARK: Inside

    /// Whether a node may wait for another one.
    ///
    /// Most tables are empty most of the time: checking that first saves the look-ups.
    private func mayWait(_ node: Node) -> Bool {
        if !waits.isEmpty, waits[node] != nil { return true }
        if !contents.isEmpty, contents[node] != nil { return true }
        return kind(node) == .disposal || !early.isEmpty && early[node] != nil
    }

    mutating func addWait(_ waiter: Waiter, from asker: Node, label: Label, to target: Node) {
        places[waiter] = Place(from: asker, to: target)
        waits[asker, default: [:]][target, default: [:]][waiter] = label
        waitedBy[target, default: []].insert(asker)
        if kind(target) == .disposal { awaitedDisposals.insert(target) }
    }

    /// Forgets the waits of a creation, and the creations that run in its task.
    private mutating func removeRequests(of node: Node) {
        if !contents.isEmpty {
            for inner in (contents.removeValue(forKey: node) ?? [:]).keys { enclosing[inner] = nil }
        }
        if waits.isEmpty { return }
        for (target, waiters) in waits.removeValue(forKey: node) ?? [:] {
            for waiter in waiters.keys { places[waiter] = nil }
            waitedBy[target]?.remove(node)
            if waitedBy[target]?.isEmpty == true { waitedBy[target] = nil }
        }
    }

    private func isForMadeInstance(_ edge: Edge) -> Bool { edge.isWait && made.contains(edge.to) }

    private mutating func release(waitersOf asker: Node, on target: Node) -> [Released] {
        let waiters = waits[asker]?.removeValue(forKey: target) ?? [:]
        for waiter in waiters.keys { places[waiter] = nil }
        tidy(from: asker, to: target)
        if waits[asker]?.isEmpty == true { waits[asker] = nil }
        give(target, to: asker)
        return waiters.keys.map { ($0, target) }
    }

    private mutating func give(_ instance: Node, to asker: Node) {
        early[asker, default: []].insert(instance)
        givenTo[instance, default: []].insert(asker)
    }

    private mutating func tidy(from asker: Node, to target: Node) {
        if waits[asker]?[target]?.isEmpty == true {
            waits[asker]![target] = nil
            if waits[asker]!.isEmpty { waits[asker] = nil }
        }
        if waits[asker]?[target] == nil {
            waitedBy[target]?.remove(asker)
            if waitedBy[target]?.isEmpty == true { waitedBy[target] = nil }
        }
    }
}
