@testable import AsyncDI

/// A random dependency graph, run by a scheduler that performs one enabled step after the other: a model of the shell
/// around ``WaitForGraph``, without its tasks.
///
/// Each creation runs a factory and perhaps hooks. Both are a list of groups; the requests of one group are made at the
/// same time, as by child tasks. Some creations run in the task of the first request (graph instances), some requests
/// outlive their creation, some are cancelled, some creations fail.
///
/// Next to the graph the simulation keeps its own plain record of the waits, and compares every answer with a search of
/// that record.
struct WaitSimulation {
    struct Options {
        var mostNodes = 7
        var edgeChance = 0.3
        var hookChance = 0.6
        var inlineChance = 0.25
        var failureChance = 0.0
        var cancelChance = 0.0
        /// How likely a request is one that its creation does not wait for.
        var looseChance = 0.0
        /// Whether factories need only lower numbers: then no cycle among factories exists.
        var hasAcyclicFactories = false
        /// How likely a creation is in a container that is disposed.
        var disposedChance = 0.0
        /// How many such containers there are; each has an instance whose hook is part of the disposal.
        var containers = 2
    }

    /// The flaw, in one line.
    struct Flaw: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    struct Program {
        var factory: [[Int]] = []
        var hooks: [[Int]] = []
        var isInline = false
        var failsIn: Phase?
        var catchesErrors = false
    }

    enum Phase: Equatable {
        case idle, factory, hooks
        /// Its own work is done, and it waits for its group.
        case held
        /// The graph has let it go; its flight is about to end.
        case ending(succeeded: Bool)
        case over(succeeded: Bool)
    }

    /// A creation, or a disposal, which has only one phase of its own.
    struct Creation {
        var phase = Phase.idle
        /// The groups of the current phase that are still to come.
        var groups: [[Int]] = []
        var isFailing = false
        /// The request in whose task this runs.
        var inlineFor: Int?
        /// The creations whose unfinished instances this one received.
        var early: Set<Int> = []
        var ownWorkIsDone = false
    }

    enum RequestState: Equatable {
        case unissued, waiting, inline
        /// Resumed with an unfinished instance, which it is about to see.
        case released
        case answered
    }

    struct Request {
        let from: Int
        let to: Int
        let isLoose: Bool
        let inHooks: Bool
        var state = RequestState.unissued
    }

    private let options: Options
    var random: SeededRandom
    var programs: [Program] = []
    var creations: [Creation] = []
    var requests: [Request] = []
    var graph: WaitForGraph<Int, Int, Int>
    /// For each creation, the disposal that waits for it.
    let disposals: [Int: Int]
    /// From this number on, nodes are disposals.
    let firstDisposal: Int
    /// The order in which creations finished their own work.
    var doneOrder: [Int] = []
    private(set) var trace: [Step] = []
    var cycles = 0
    var earlyAnswers = 0
    var releases = 0
    private(set) var largestGroup = 0

    init(seed: UInt64, options: Options) {
        self.options = options
        random = SeededRandom(seed: seed)
        let count = 2 + random.below(options.mostNodes - 1)
        let (all, homes) = Self.disposals(of: count, options, &random)
        firstDisposal = count
        disposals = homes
        graph = WaitForGraph(
            outer: { homes[$0].map { [$0] } ?? [] }, kind: { $0 < count ? .creation : .disposal })
        for node in 0..<count {
            var program = Program()
            program.factory = groups(options.hasAcyclicFactories ? Array(0..<node) : Array(0..<count + all))
            if random.chance(options.hookChance) { program.hooks = groups(Array(0..<count + all)) }
            program.isInline = random.chance(options.inlineChance)
            if random.chance(options.failureChance) { program.failsIn = random.chance(0.5) ? .factory : .hooks }
            program.catchesErrors = random.chance(0.5)
            programs.append(program)
        }
        for _ in 0..<all { programs.append(Program(factory: groups(Array(0..<count)), catchesErrors: true)) }
        creations = Array(repeating: Creation(), count: programs.count)
    }

    private mutating func groups(_ candidates: [Int]) -> [[Int]] {
        var groups: [[Int]] = []
        for node in candidates.shuffled(using: &random) where random.chance(options.edgeChance) {
            if groups.isEmpty || random.chance(0.6) { groups.append([]) }
            groups[groups.count - 1].append(node)
            if random.chance(0.1) { groups[groups.count - 1].append(node) }
        }
        return groups
    }

    // MARK: Steps

    enum Step {
        case begin(Int)
        case issue(Int)
        case cancel(Int)
        case deliver(Int)
        case advance(Int)
        case end(Int)
    }

    /// Runs until no step is enabled, and throws for any flaw.
    mutating func run() throws {
        var roots = (0..<creations.count).filter { _ in random.chance(0.5) }
        if roots.isEmpty { roots = [0] }
        roots.shuffle(using: &random)
        var count = 0
        while true {
            var steps = enabledSteps()
            if let root = roots.last {
                if creations[root].phase == .idle, !isClosed(root) {
                    steps.append(.begin(root))
                } else {
                    roots.removeLast()
                }
            }
            if steps.isEmpty && roots.isEmpty { break }
            if !steps.isEmpty { try perform(random.pick(steps)) }
            graph.checkInvariants()
            count += 1
            if count > 10_000 { throw Flaw("it goes on for ever") }
        }
        for (node, creation) in creations.enumerated() where creation.phase != .idle {
            guard case .over = creation.phase else { throw Flaw("\(node) is stuck in \(creation.phase)") }
        }
        if !graph.isEmpty { throw Flaw("something is left in the graph") }
    }

    private mutating func enabledSteps() -> [Step] {
        var steps: [Step] = []
        for (id, request) in requests.enumerated() {
            switch request.state {
            case .unissued: steps.append(.issue(id))
            case .released: steps.append(.deliver(id))
            case .waiting:
                // Offered now and then, so that the end comes.
                if random.chance(options.cancelChance) { steps.append(.cancel(id)) }
            case .inline, .answered: break
            }
        }
        for (node, creation) in creations.enumerated() {
            switch creation.phase {
            case .factory, .hooks:
                if node >= firstDisposal, !maySettle(node) { continue }
                if !requests.contains(where: { $0.from == node && !$0.isLoose && $0.state != .answered }) {
                    steps.append(.advance(node))
                }
            case .ending: steps.append(.end(node))
            case .idle, .held, .over: break
            }
        }
        return steps
    }

    private mutating func perform(_ step: Step) throws {
        trace.append(step)
        switch step {
        case .begin(let node): begin(node)
        case .issue(let id): try issue(id)
        case .cancel(let id):
            graph.withdraw(id)
            requests[id].state = .answered
        case .deliver(let id): requests[id].state = .answered
        case .advance(let node): try advance(node)
        case .end(let node): end(node)
        }
    }

    private mutating func begin(_ node: Int) {
        creations[node].phase = .factory
        creations[node].groups = programs[node].factory
    }

    /// A creation has the results of all its requests: it makes more, or goes on to its next phase.
    private mutating func advance(_ node: Int) throws {
        let phase = creations[node].phase
        if creations[node].isFailing { return try fail(node) }
        if !creations[node].groups.isEmpty {
            for target in creations[node].groups.removeFirst() {
                let isLoose = random.chance(options.looseChance)
                requests.append(Request(from: node, to: target, isLoose: isLoose, inHooks: phase == .hooks))
            }
            return
        }
        if programs[node].failsIn == phase { return try fail(node) }
        if node >= firstDisposal {
            creations[node].phase = .ending(succeeded: true)
            return
        }
        guard phase == .factory, !programs[node].hooks.isEmpty else { return try settle(node) }
        graph.instanceMade(by: node)
        creations[node].phase = .hooks
        creations[node].groups = programs[node].hooks
        // The hooks run in their own task, and the task that ran the factory waits for them.
        if let request = creations[node].inlineFor {
            creations[node].inlineFor = nil
            graph.leave(node)
            requests[request].state = .unissued
            try issue(request)
        }
    }

    /// A request is made, or repeated.
    private mutating func issue(_ id: Int) throws {
        let request = requests[id]
        let target = request.to
        // A request of a finished creation counts as one from outside: here, none.
        switch creations[request.from].phase {
        case .factory, .hooks, .held: break
        case .idle, .ending, .over:
            requests[id].state = .answered
            return
        }
        switch creations[target].phase {
        case .over(true): requests[id].state = .answered
        case .over(false): refuse(id)
        case .idle where isClosed(target): refuse(id)
        case .idle where programs[target].isInline && creations[request.from].phase != .held:
            begin(target)
            creations[target].inlineFor = id
            requests[id].state = .inline
            graph.enter(target, inside: request.from, label: id)
        case .idle:
            begin(target)
            try ask(id)
        default:
            try ask(id)
        }
    }

    private mutating func ask(_ id: Int) throws {
        if options.disposedChance > 0 { return try askBesideDisposals(id) }
        let (asker, target) = (requests[id].from, requests[id].to)
        let isIsolated = creations[asker].phase == .held
        let isPath = !isIsolated && reaches(from: target, to: asker)
        let isHopeless = isPath && reaches(from: target, to: asker, avoidingMade: true)
        switch graph.ask(id, from: asker, label: id, for: target) {
        case .wait(let releasing):
            if isPath == releasing.isEmpty { throw Flaw("\(asker) waits for \(target), releasing \(releasing)") }
            if isHopeless { throw Flaw("\(asker) waits for \(target), a cycle of factories") }
            requests[id].state = .waiting
            try release(releasing)
        case .takeEarly:
            guard isPath, isMade(target) else { throw Flaw("\(asker) gets \(target) early") }
            creations[asker].early.insert(target)
            requests[id].state = .answered
            earlyAnswers += 1
        case .cycle(let labels):
            guard isHopeless, !isMade(target) else { throw Flaw("\(asker) to \(target) is no cycle") }
            try checkCycle(labels, from: target, to: asker)
            cycles += 1
            refuse(id)
        }
    }

    /// A request fails: the creation catches that, or gives up.
    mutating func refuse(_ id: Int) {
        requests[id].state = .answered
        let node = requests[id].from
        guard !requests[id].isLoose, !programs[node].catchesErrors else { return }
        creations[node].isFailing = true
        creations[node].groups = []
        for other in requests.indices where requests[other].from == node && !requests[other].isLoose {
            switch requests[other].state {
            case .unissued, .released: requests[other].state = .answered
            case .waiting:
                graph.withdraw(other)
                requests[other].state = .answered
            case .inline, .answered: break
            }
        }
    }

    private mutating func settle(_ node: Int) throws {
        creations[node].ownWorkIsDone = true
        doneOrder.append(node)
        let inlineFor = creations[node].inlineFor
        creations[node].inlineFor = nil
        switch graph.ownWorkDone(node) {
        case .complete(let group):
            largestGroup = max(largestGroup, group.count)
            try checkComplete(group)
            for member in group { creations[member].phase = .ending(succeeded: true) }
            // The task that ran the creation gets its instance, or looks it up again.
            if let inlineFor { requests[inlineFor].state = .unissued }
        case .hold(let releasing):
            creations[node].phase = .held
            try release(releasing)
            if let inlineFor { requests[inlineFor].state = .unissued }
        case .fail(let cause):
            guard
                creations[cause].phase == .ending(succeeded: false)
                    || creations[cause].phase == .over(succeeded: false),
                givenTo(node).contains(cause)
            else { throw Flaw("\(node) fails because of \(cause)") }
            creations[node].inlineFor = inlineFor
            try fail(node)
        }
    }

    private func checkComplete(_ group: [Int]) throws {
        let order = doneOrder.filter(group.contains)
        if order != group { throw Flaw("\(group) completes out of order") }
        for member in group {
            for instance in givenTo(member) {
                guard creations[instance].ownWorkIsDone else {
                    throw Flaw("\(member) completes before \(instance), which it was given, is done")
                }
                switch creations[instance].phase {
                case .ending(succeeded: false), .over(succeeded: false):
                    throw Flaw("\(member) completes with the instance of \(instance), which failed")
                default: break
                }
            }
        }
    }

    private mutating func fail(_ node: Int) throws {
        let others = graph.fail(node)
        for other in others {
            guard creations[other].phase == .held, givenTo(other).contains(node) else {
                throw Flaw("\(other) fails with \(node)")
            }
            creations[other].phase = .ending(succeeded: false)
        }
        creations[node].phase = .ending(succeeded: false)
        if let request = creations[node].inlineFor {
            creations[node].inlineFor = nil
            refuse(request)
        }
        for (other, creation) in creations.enumerated()
        where creation.phase == .held && givenTo(other).contains(node) {
            throw Flaw("\(other) stays, though \(node) failed, whose instance it was given")
        }
    }

    /// The flight of a creation ends: it leaves the graph for good, and its waiters are resumed.
    private mutating func end(_ node: Int) {
        guard case .ending(let succeeded) = creations[node].phase else { return }
        graph.remove(node)
        creations[node].phase = .over(succeeded: succeeded)
        for id in requests.indices where requests[id].to == node && requests[id].state == .waiting {
            if succeeded { requests[id].state = .answered } else { refuse(id) }
        }
    }
}
