/// Who waits for whom among unfinished creations, in the whole process; decides whether one more wait would never end.
///
/// A pure value. A *node* is a creation, a *waiter* one suspended request made inside a creation, a *label* what an error's
/// path shows of that request. Requests made outside any creation cannot close a cycle and are not recorded.
///
/// Only the request that would close a cycle is refused, as in Guice's `CycleDetectingLock`. Unlike locks, instances can be
/// handed out early: once a creation's instance is *made* and only its hooks run, a request of the same cycle gets it at
/// once. Such creations form a group, which completes or fails as a whole: a creation that is done itself is *held* until
/// everything that it got early is done too.
struct WaitForGraph<Node: Hashable, Waiter: Hashable, Label> {
    private struct Place {
        let from: Node
        let to: Node
    }

    private var places: [Waiter: Place] = [:]
    /// For each node, whom its requests wait for.
    private var waits: [Node: [Node: [Waiter: Label]]] = [:]
    /// For each node, which nodes have requests that wait for it.
    private var waitedBy: [Node: Set<Node>] = [:]
    /// Creations that run in the task of another one, which goes on when they return.
    private var contents: [Node: [Node: Label]] = [:]
    private var enclosing: [Node: Node] = [:]
    /// Creations whose instance exists while their hooks run, or that are held.
    private var made: Set<Node> = []
    /// For each node, whose unfinished instances it was given.
    private var early: [Node: Set<Node>] = [:]
    /// Creations whose own work is done, in that order, and that wait for their group.
    private var held: [Node] = []
    /// Creations that will fail, with the failed one whose instance they were given.
    private var doomed: [Node: Node] = [:]

    var isEmpty: Bool {
        places.isEmpty && waits.isEmpty && waitedBy.isEmpty && contents.isEmpty && enclosing.isEmpty && made.isEmpty
            && early.isEmpty && held.isEmpty && doomed.isEmpty
    }

    // MARK: Asking

    enum AskAction {
        /// Suspend. Each of these waiters gets the unfinished instance it waits for, so that the cycle can go on.
        case wait(releasing: [(waiter: Waiter, early: Node)])
        /// Take the target's unfinished instance.
        case takeEarly
        /// Waiting would never end. The labels lead from the target's request to the asker's creation.
        case cycle([Label])
    }

    /// A request made in creation `asker` is about to wait for `target`.
    mutating func ask(_ waiter: Waiter, from asker: Node, label: Label, for target: Node) -> AskAction {
        // The asker's own work is done: this is a task that outlives it, for which it does not wait.
        if held.contains(asker) { return .wait(releasing: []) }
        guard var path = path(from: target, to: asker) else {
            addWait(waiter, from: asker, label: label, to: target)
            return .wait(releasing: [])
        }
        if made.contains(target) {
            early[asker, default: []].insert(target)
            return .takeEarly
        }
        // Tried on a copy: when one of the paths cannot be opened, nobody is released.
        var attempt = self
        var released: [(waiter: Waiter, early: Node)] = []
        while true {
            guard let edge = path.first(where: { $0.isWait && made.contains($0.to) }) else {
                return .cycle(path.compactMap(\.label))
            }
            released += attempt.release(waitersOf: edge.from, on: edge.to)
            guard let next = attempt.path(from: target, to: asker) else { break }
            path = next
        }
        attempt.addWait(waiter, from: asker, label: label, to: target)
        self = attempt
        return .wait(releasing: released)
    }

    /// A request ended without an answer: it was cancelled, or starts over.
    mutating func withdraw(_ waiter: Waiter) {
        guard let place = places.removeValue(forKey: waiter) else { return }
        waits[place.from]?[place.to]?[waiter] = nil
        tidy(from: place.from, to: place.to)
    }

    /// `inner` is about to run in the task of `outer`.
    mutating func enter(_ inner: Node, inside outer: Node, label: Label) {
        if held.contains(outer) { return }
        contents[outer, default: [:]][inner] = label
        enclosing[inner] = outer
    }

    /// `inner` runs in the task of its asker no more.
    mutating func leave(_ inner: Node) {
        guard let outer = enclosing.removeValue(forKey: inner) else { return }
        contents[outer]?[inner] = nil
        if contents[outer]?.isEmpty == true { contents[outer] = nil }
    }

    // MARK: Progress

    /// The instance exists; only hooks run now, and who is in a cycle with them may have it.
    mutating func instanceMade(by node: Node) { made.insert(node) }

    enum SettleAction {
        /// These are complete, in the order in which they finished their own work.
        case complete([Node])
        /// The creation waits for its group; these waiters are of the group and get the instances that they wait for now.
        case hold(releasing: [(waiter: Waiter, early: Node)])
        /// The creation was given the instance of one that failed.
        case fail(because: Node)
    }

    /// The factory and the hooks of a creation have returned.
    mutating func ownWorkDone(_ node: Node) -> SettleAction {
        leave(node)
        if let cause = doomed[node] { return .fail(because: cause) }
        if early[node] == nil, held.isEmpty {
            remove(node)
            return .complete([node])
        }
        made.insert(node)
        held.append(node)
        // A task that outlives the creation may wait on; the creation does not wait for it.
        removeRequests(of: node)
        let group = completeGroup()
        if !group.isEmpty {
            for node in group { remove(node) }
            return .complete(group)
        }
        // Being held, the creation now waits for what it was given early. A cycle that this closes enters a held creation by a
        // request, which gets the instance there and goes on.
        var released: [(waiter: Waiter, early: Node)] = []
        for instance in held {
            for asker in waitedBy[instance] ?? [] where path(from: instance, to: asker) != nil {
                released += release(waitersOf: asker, on: instance)
            }
        }
        return .hold(releasing: released)
    }

    /// A creation failed.
    ///
    /// Returns the held ones that fail with it; those still running fail when they are done.
    mutating func fail(_ node: Node) -> [Node] {
        var affected: Set<Node> = [node]
        var grew = true
        while grew {
            grew = false
            for (holder, instances) in early where !affected.contains(holder) && !instances.isDisjoint(with: affected) {
                affected.insert(holder)
                grew = true
            }
        }
        affected.remove(node)
        let failing = held.filter(affected.contains)
        for holder in affected.subtracting(failing) where doomed[holder] == nil { doomed[holder] = node }
        remove(node)
        for node in failing { remove(node) }
        return failing
    }

    /// Forgets a creation and every wait for it.
    mutating func remove(_ node: Node) {
        leave(node)
        removeRequests(of: node)
        for asker in waitedBy.removeValue(forKey: node) ?? [] {
            for waiter in (waits[asker]?.removeValue(forKey: node) ?? [:]).keys { places[waiter] = nil }
            if waits[asker]?.isEmpty == true { waits[asker] = nil }
        }
        made.remove(node)
        if !early.isEmpty {
            early[node] = nil
            for holder in Array(early.keys) {
                early[holder]!.remove(node)
                if early[holder]!.isEmpty { early[holder] = nil }
            }
        }
        if !held.isEmpty { held.removeAll { $0 == node } }
        doomed[node] = nil
    }

    // MARK: Inside

    private mutating func addWait(_ waiter: Waiter, from asker: Node, label: Label, to target: Node) {
        places[waiter] = Place(from: asker, to: target)
        waits[asker, default: [:]][target, default: [:]][waiter] = label
        waitedBy[target, default: []].insert(asker)
    }

    /// Forgets what a creation waits for, and who runs in its task.
    private mutating func removeRequests(of node: Node) {
        for inner in (contents.removeValue(forKey: node) ?? [:]).keys { enclosing[inner] = nil }
        for (target, waiters) in waits.removeValue(forKey: node) ?? [:] {
            for waiter in waiters.keys { places[waiter] = nil }
            waitedBy[target]?.remove(node)
            if waitedBy[target]?.isEmpty == true { waitedBy[target] = nil }
        }
    }

    private mutating func release(waitersOf asker: Node, on target: Node) -> [(waiter: Waiter, early: Node)] {
        let waiters = waits[asker]?.removeValue(forKey: target) ?? [:]
        for waiter in waiters.keys { places[waiter] = nil }
        tidy(from: asker, to: target)
        if waits[asker]?.isEmpty == true { waits[asker] = nil }
        early[asker, default: []].insert(target)
        return waiters.keys.map { ($0, target) }
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

    /// The largest set of held creations that were given nothing unfinished from outside the set.
    private func completeGroup() -> [Node] {
        var group = Set(held)
        var shrank = true
        while shrank {
            shrank = false
            for node in group where !(early[node] ?? []).isSubset(of: group) {
                group.remove(node)
                shrank = true
            }
        }
        return held.filter(group.contains)
    }

    private struct Edge {
        let from: Node
        let to: Node
        let label: Label?
        let isWait: Bool
    }

    /// The edges of a shortest path, empty when both are the same node, nil when there is none.
    private func path(from start: Node, to end: Node) -> [Edge]? {
        if start == end { return [] }
        var cameBy: [Node: Edge] = [:]
        var frontier = [start]
        var next = 0
        while next < frontier.count {
            let node = frontier[next]
            next += 1
            for edge in edges(from: node) where cameBy[edge.to] == nil && edge.to != start {
                cameBy[edge.to] = edge
                if edge.to == end {
                    var path: [Edge] = []
                    var node = end
                    while node != start, let edge = cameBy[node] {
                        path.append(edge)
                        node = edge.from
                    }
                    return path.reversed()
                }
                frontier.append(edge.to)
            }
        }
        return nil
    }

    private func edges(from node: Node) -> [Edge] {
        var edges: [Edge] = []
        for (target, waiters) in waits[node] ?? [:] {
            edges.append(Edge(from: node, to: target, label: waiters.first?.value, isWait: true))
        }
        for (inner, label) in contents[node] ?? [:] {
            edges.append(Edge(from: node, to: inner, label: label, isWait: false))
        }
        if held.contains(node) {
            for instance in early[node] ?? [] {
                edges.append(Edge(from: node, to: instance, label: nil, isWait: false))
            }
        }
        return edges
    }
}

extension WaitForGraph {
    /// What must hold between any two calls.
    ///
    /// Tests call this after every event.
    func checkInvariants() {
        var edges = 0
        for (from, targets) in waits {
            precondition(!targets.isEmpty, "no empty lists")
            for (to, waiters) in targets {
                precondition(!waiters.isEmpty, "no empty lists")
                precondition(waitedBy[to]?.contains(from) == true, "both directions agree")
                for waiter in waiters.keys {
                    precondition(places[waiter]?.from == from && places[waiter]?.to == to, "a waiter knows its place")
                    edges += 1
                }
            }
        }
        precondition(edges == places.count, "every waiter waits somewhere")
        for (to, askers) in waitedBy {
            precondition(!askers.isEmpty, "no empty lists")
            for asker in askers { precondition(waits[asker]?[to] != nil, "both directions agree") }
        }
        for node in held { precondition(waits[node] == nil && contents[node] == nil, "what is held asks for nothing") }
        for (inner, outer) in enclosing { precondition(contents[outer]?[inner] != nil, "both directions agree") }
        precondition(contents.values.allSatisfy { !$0.isEmpty }, "no empty lists")
        precondition(held.allSatisfy(made.contains), "what is held is made")
        precondition(Set(held).count == held.count, "what is held is held once")
        for node in held { precondition(early[node] != nil, "what is held waits for something early") }
        for node in waits.keys {
            for target in waits[node]!.keys {
                precondition(path(from: target, to: node) == nil, "no wait closes a cycle")
            }
        }
    }
}
