@testable import AsyncDI

/// Disposals among the creations: that of a container waits for every creation in it and for the disposal of its
/// instance, whose hook makes requests.
///
/// Answers of the graph are compared with the reachable states: a fixed point instead of a search.
extension WaitSimulation {
    /// For each creation in a container, and for the container's instance, the container's disposal.
    ///
    /// Disposals come in pairs after the creations: the container's, that of its instance.
    static func disposals(
        of creations: Int, _ options: Options, _ random: inout SeededRandom
    ) -> (count: Int, homes: [Int: Int]) {
        if options.disposedChance == 0 { return (0, [:]) }
        var homes: [Int: Int] = [:]
        for node in 0..<creations where random.chance(options.disposedChance) {
            homes[node] = creations + 2 * random.below(options.containers)
        }
        for container in 0..<options.containers {
            homes[creations + 2 * container + 1] = creations + 2 * container
        }
        return (2 * options.containers, homes)
    }

    func isOver(_ node: Int) -> Bool {
        switch creations[node].phase {
        case .idle, .over: true
        case .factory, .hooks, .held, .ending: false
        }
    }

    /// Whether a node's container is disposed: no creation begins there any more.
    func isClosed(_ node: Int) -> Bool {
        guard let disposal = disposals[node] else { return false }
        return creations[disposal].phase != .idle && isOver(disposal)
            || creations[disposal].phase == .ending(succeeded: true)
    }

    /// Whether a disposal may go on to its end: everything that it waits for is over.
    func maySettle(_ disposal: Int) -> Bool {
        disposals.allSatisfy { $0.value != disposal || isOver($0.key) }
    }

    mutating func askBesideDisposals(_ id: Int) throws {
        let (asker, target) = (requests[id].from, requests[id].to)
        requests[id].state = .waiting
        let isHopeless = works().count < creations.count
        requests[id].state = .unissued
        switch graph.ask(id, from: asker, label: id, for: target) {
        case .wait(let releasing):
            if isHopeless { throw Flaw("\(asker) waits for \(target) for ever") }
            requests[id].state = .waiting
            try release(releasing)
        case .takeEarly:
            if isHopeless { throw Flaw("\(asker) gets \(target), and its end will never come") }
            guard isMade(target) else { throw Flaw("\(asker) gets \(target) early") }
            creations[asker].early.insert(target)
            requests[id].state = .answered
            earlyAnswers += 1
        case .cycle:
            guard isHopeless else { throw Flaw("\(asker) to \(target) can be opened") }
            cycles += 1
            refuse(id)
        }
    }

    /// The nodes whose own work can be done when every request for a created instance is answered with it.
    private func works() -> Set<Int> {
        var works: Set<Int> = []
        var grows = true
        while grows {
            grows = false
            for node in creations.indices where !works.contains(node) && canWork(node, after: works) {
                works.insert(node)
                grows = true
            }
        }
        return works
    }

    private func canWork(_ node: Int, after works: Set<Int>) -> Bool {
        switch creations[node].phase {
        case .idle, .held, .ending, .over: return true
        case .factory, .hooks: break
        }
        if node >= firstDisposal {
            for (inner, disposal) in disposals where disposal == node && !isOver(inner) {
                let ends = inner < firstDisposal ? ends(of: inner) : [inner]
                guard ends.isSubset(of: works) else { return false }
            }
        }
        return requests.allSatisfy { request in
            guard request.from == node, request.state == .waiting || request.state == .inline else { return true }
            return works.contains(request.to) || request.state == .waiting && isMade(request.to)
        }
    }

    /// The nodes whose work is part of the end of a node.
    func ends(of node: Int) -> Set<Int> {
        var ends: Set<Int> = [node]
        var open = [node]
        while let node = open.popLast() {
            // No other activity holds up the creations that the graph has released.
            if case .ending = creations[node].phase { continue }
            var next = Array(creations[node].early)
            for request in requests where request.from == node {
                switch request.state {
                case .waiting, .inline, .released: next.append(request.to)
                case .unissued, .answered: break
                }
            }
            for other in next where !isOver(other) && ends.insert(other).inserted {
                // A disposal needs no more than its own work.
                if other < firstDisposal { open.append(other) }
            }
        }
        return ends
    }
}
