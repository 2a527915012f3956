/// The simulation's own record, which the answers of the graph are compared with.
extension WaitSimulation {
    func isMade(_ node: Int) -> Bool { creations[node].phase == .hooks || creations[node].phase == .held }

    /// All unfinished instances that a creation received, directly or within others.
    func givenTo(_ node: Int) -> Set<Int> {
        var given: Set<Int> = []
        var open = Array(creations[node].early)
        while let next = open.popLast() {
            if given.insert(next).inserted { open += creations[next].early }
        }
        return given
    }

    /// Whether one creation cannot end before another one goes on; `avoidingMade` leaves out waits that could be
    /// opened.
    func reaches(from start: Int, to end: Int, avoidingMade: Bool = false) -> Bool {
        var seen: Set<Int> = [start]
        var open = [start]
        if avoidingMade && isMade(start) { return false }
        while let node = open.popLast() {
            if node == end { return true }
            var next: [Int] = []
            if !disposals.isEmpty {
                next = ends(of: node).filter { $0 != node }
                next += disposals.keys.filter { disposals[$0] == node && !isOver($0) }
            } else if creations[node].phase == .held {
                next = creations[node].early.filter { instance in
                    if case .ending = creations[instance].phase { return false }
                    if case .over = creations[instance].phase { return false }
                    return true
                }
            } else if creations[node].phase == .factory || creations[node].phase == .hooks {
                for request in requests where request.from == node {
                    switch request.state {
                    case .waiting: if !(avoidingMade && isMade(request.to)) { next.append(request.to) }
                    case .inline: next.append(request.to)
                    case .unissued, .released, .answered: break
                    }
                }
            }
            for target in next where seen.insert(target).inserted { open.append(target) }
        }
        return false
    }

    /// The labels must name one request after the other, all of factories.
    func checkCycle(_ labels: [Int], from target: Int, to asker: Int) throws {
        var node = target
        for label in labels {
            guard requests[label].from == node else { throw Flaw("the path \(labels) is broken at \(node)") }
            if requests[label].inHooks { throw Flaw("a cycle through the hooks of \(node)") }
            node = requests[label].to
        }
        if node != asker { throw Flaw("the path \(labels) ends in \(node) instead of \(asker)") }
        if creations[asker].phase != .factory { throw Flaw("a cycle through the hooks of \(asker)") }
    }

    mutating func release(_ released: [(waiter: Int, early: Int?)]) throws {
        // No wait of the simulation yields.
        let releasing = try released.map { id, early in
            guard let early else { throw Flaw("request \(id) is released with nothing") }
            return (id, early)
        }
        // Each must be in a cycle with the instances it receives, or outsiders see unfinished instances.
        for (id, early) in releasing where !reaches(from: early, to: requests[id].from) {
            throw Flaw("\(requests[id].from) is released from outside with \(early)")
        }
        for (id, early) in releasing {
            let request = requests[id]
            guard request.state == .waiting, request.to == early, isMade(early) else {
                throw Flaw("request \(id) is released with \(early)")
            }
            creations[request.from].early.insert(early)
            requests[id].state = .released
            releases += 1
        }
    }

    /// The graph of the simulation, and its events, to understand a flaw.
    var story: String {
        let nodes = programs.enumerated().map { node, program in
            "\(node): factory \(program.factory)\(program.hooks.isEmpty ? "" : ", hooks \(program.hooks)")"
                + (program.isInline ? ", inline" : "") + (program.catchesErrors ? ", catches" : "")
                + (program.failsIn.map { ", fails in \($0)" } ?? "")
        }
        let asked = requests.enumerated().map { "request \($0): \($1.from) for \($1.to)\($1.isLoose ? ", loose" : "")" }
        return (nodes + asked + trace.map { "\($0)" }).joined(separator: "\n")
    }
}
