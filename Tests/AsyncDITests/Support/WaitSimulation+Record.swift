/// The simulation's own record, which the answers of the graph are compared with.
extension WaitSimulation {
    func isMade(_ node: Int) -> Bool { creations[node].phase == .hooks || creations[node].phase == .held }

    /// Everything that a creation was given unfinished, directly or within what it was given.
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
            if creations[node].phase == .held {
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

    /// The graph that was simulated, and what happened, to understand a flaw.
    var story: String {
        let nodes = programs.enumerated().map { node, program in
            "\(node): factory \(program.factory)\(program.hooks.isEmpty ? "" : ", hooks \(program.hooks)")"
                + (program.isInline ? ", inline" : "") + (program.catchesErrors ? ", catches" : "")
                + (program.failsIn.map { ", fails in \($0)" } ?? "")
        }
        let asked = requests.enumerated().map { "request \($0): \($1.from) for \($1.to)\($1.isLoose ? ", loose" : "")" }
        return (nodes + asked + trace).joined(separator: "\n")
    }
}
