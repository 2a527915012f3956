import Testing

/// The frequencies of a random plan's steps.
struct Mix: Sendable, CustomTestStringConvertible {
    var name: String
    /// Weights of steps.
    var asking = 10
    var failing = 1
    var resetting = 0
    var disposing = 0
    var registering = 0
    var starting = 0
    var scoping = 3
    var leasing = 1
    var graphs = 1
    var spawning = 3
    /// Whether factories and hooks do anything except resolve earlier services.
    var callsBack = true
    var hasPropertyCycles = false
    var hasModules = false
    var cancelledShare = 0.2
    var sharings = Plan.Sharing.allCases

    /// The number of scopes, graphs and wrappers that can be kept at once: at most three.
    var slots = 3
    var services = 4...8
    /// The number of worlds that are drawn.
    var worlds = 300
    /// The number of each task's steps.
    var length = 2...5

    var testDescription: String { name }

    /// No steps that could wait in a circle or fail except by themselves.
    static let harmless = Mix(
        name: "harmless", callsBack: false,
        sharings: Plan.Sharing.allCases.filter { $0 != .boundedMultiton && $0 != .idleMultiton })
    /// Graphs that are entered again, in successive scopes.
    static let graphs = Mix(
        name: "graphs", failing: 0, scoping: 8, graphs: 8, callsBack: false,
        sharings: [.graph, .graph, .transient, .scoped, .singleton], slots: 1, services: 2...4, length: 6...10)
    /// Factories and hooks that wait for hooks.
    static let waits = Mix(name: "waits", resetting: 5, disposing: 1, scoping: 4, leasing: 3, hasModules: true)
    static let disposals = Mix(name: "disposals", resetting: 1, disposing: 4, scoping: 3, leasing: 2, spawning: 5)
    static let propertyCycles = Mix(
        name: "property cycles", resetting: 1, disposing: 1, graphs: 6, hasPropertyCycles: true, cancelledShare: 0.5,
        sharings: [.graph, .graph, .singleton, .singleton, .scoped, .weak])
    /// Tasks that share a graph with property cycles; some of them are cancelled.
    static let sharedGraphs = Mix(
        name: "shared graphs", failing: 0, scoping: 0, leasing: 0, graphs: 20, spawning: 0, callsBack: false,
        hasPropertyCycles: true, cancelledShare: 0.5, sharings: [.graph], slots: 1, services: 2...4, worlds: 1_500,
        length: 3...6)
    static let multitons = Mix(
        name: "multitons", resetting: 3, leasing: 6, callsBack: false, cancelledShare: 0.3,
        sharings: [.multiton, .boundedMultiton, .boundedMultiton, .idleMultiton, .singleton])
    static let everything = Mix(
        name: "everything", resetting: 2, disposing: 1, registering: 1, starting: 1, scoping: 3, leasing: 2, graphs: 2,
        hasPropertyCycles: true, hasModules: true, cancelledShare: 0.3)

    static let all: [Mix] = [
        .harmless, .graphs, .waits, .disposals, .propertyCycles, .sharedGraphs, .multitons, .everything,
    ]
}

/// Draws a plan from a seed.
struct Planner {
    private let mix: Mix
    private var random: SeededRandom
    private var services: [Plan.Service] = []
    private var bases: [Plan.Base] = []
    /// The number of `withGraph` bodies, which have a resolver, around the current step.
    private var graphs = 0

    static func plan(_ mix: Mix, seed: UInt64) -> Plan {
        var planner = Planner(mix: mix, random: SeededRandom(seed: seed))
        return planner.draw()
    }

    private init(mix: Mix, random: SeededRandom) {
        self.mix = mix
        self.random = random
    }

    private mutating func draw() -> Plan {
        drawBases()
        let count = Int.random(in: mix.services, using: &random)
        for index in 0..<count { services.append(service(index)) }
        // Only now are all services known.
        for index in 0..<count { fill(index) }
        if mix.hasModules {
            for index in bases.indices where random.chance(0.4) {
                bases[index].loaded = steps(1...2, depth: 2, in: .module)
            }
        }
        let jobs = (0..<(3 + random.below(4))).map { _ in Plan.Job(steps: steps(mix.length, depth: 3, in: .job)) }
        return Plan(bases: bases, services: services, jobs: jobs, cancelledShare: mix.cancelledShare)
    }

    /// A root, perhaps with children; perhaps an unrelated one, perhaps a fallback.
    private mutating func drawBases() {
        bases = [Plan.Base()]
        if random.chance(0.5) { bases.append(Plan.Base(parent: 0)) }
        if random.chance(0.5) { bases.append(Plan.Base()) }
        // Earlier ones only: containers cannot be each other's fallbacks.
        for index in bases.indices.dropFirst() where bases[index].parent == nil && random.chance(0.3) {
            bases[index].fallbacks = [random.below(index)]
        }
    }

    private mutating func service(_ index: Int) -> Plan.Service {
        let sharing = random.pick(mix.sharings)
        var service = Plan.Service(sharing: sharing, home: random.chance(0.6) ? 0 : random.below(bases.count))
        service.takesArgument = sharing.isMultiton || random.chance(0.2)
        service.isContribution = !service.takesArgument && random.chance(0.1)
        service.isEager = sharing == .singleton && !service.takesArgument && random.chance(0.3)
        return service
    }

    private mutating func fill(_ index: Int) {
        services[index].factory = steps(0...2, depth: 2, in: .factory(index))
        if mix.hasPropertyCycles, random.chance(0.6) {
            services[index].properties = [
                .ask(Step.Ask(service: random.below(services.count), argument: 0, way: .resolve, place: nil))
            ]
            if random.chance(0.5) { services[index].properties?.append(.yield) }
        }
        if random.chance(0.2) { services[index].created = steps(1...2, depth: 2, in: .factory(index)) }
        if services[index].sharing.isOwned, random.chance(0.8) {
            services[index].disposed = mix.callsBack ? steps(0...2, depth: 2, in: .hook) : [.yield]
        }
    }

    // MARK: Steps

    /// The owner of the steps.
    private enum Site {
        case job, hook, module
        case factory(Int)

        var hasResolver: Bool {
            switch self {
            case .job, .hook: false
            case .module, .factory: true
            }
        }
        var isJob: Bool { if case .job = self { true } else { false } }
    }

    private mutating func steps(_ count: ClosedRange<Int>, depth: Int, in site: Site) -> [Step] {
        let wanted = Int.random(in: count, using: &random)
        var steps: [Step] = []
        for _ in 0..<wanted {
            let step = step(depth: depth, in: site)
            steps.append(site.isJob || random.chance(0.5) ? .tolerating([step]) : step)
            if random.chance(0.3) { steps.append(.yield) }
        }
        return steps
    }

    private mutating func step(depth: Int, in site: Site) -> Step {
        let mayDoAnything = mix.callsBack || site.isJob
        let canNest = depth > 0 && mayDoAnything
        let kinds: [(Int, Kind)] = [
            (mix.asking, .ask), (mix.failing, .fail), (mayDoAnything ? mix.resetting : 0, .reset),
            (mayDoAnything ? mix.disposing : 0, .dispose), (mayDoAnything ? mix.registering : 0, .register),
            (mayDoAnything ? mix.starting : 0, .start), (canNest ? mix.scoping : 0, .scope),
            (canNest ? mix.leasing : 0, .lease), (canNest ? mix.graphs : 0, .graph),
            (canNest ? mix.spawning : 0, .spawn),
        ]
        var drawn = random.below(kinds.reduce(0) { $0 + $1.0 })
        let kind = kinds.first { weight, _ in
            drawn -= weight
            return drawn < 0
        }
        return step(kind?.1 ?? .ask, depth: depth, in: site)
    }

    private enum Kind { case ask, fail, reset, dispose, register, start, scope, lease, graph, spawn }

    private mutating func step(_ kind: Kind, depth: Int, in site: Site) -> Step {
        func inner(_ planner: inout Planner) -> [Step] { planner.steps(1...3, depth: depth - 1, in: site) }
        switch kind {
        case .ask: return .ask(ask(in: site))
        case .fail: return .fail(random.chance(0.8) ? .own : .cancellation)
        case .reset: return .reset(place(), forgotten())
        case .dispose: return .dispose(place(), random.pick([.now, .now, .now, .deadline, .failing, .drained]))
        case .register:
            let service = random.below(services.count)
            return random.chance(0.7)
                ? .register(place(), service: service) : .unregister(place(), service: service)
        case .start: return .start(place())
        case .scope:
            if random.chance(0.2) { return .openScope(place(), slot: random.below(mix.slots)) }
            let supplied = mix.callsBack && random.chance(0.3) ? owned() : nil
            return .inScope(place(), supplied: supplied, inner(&self))
        case .lease:
            return .leasing(
                place(), service: random.below(services.count), argument: random.below(3), inner(&self))
        case .graph:
            let slot = random.chance(0.7) ? random.below(mix.slots) : nil
            graphs += 1
            defer { graphs -= 1 }
            return .inGraph(place(), slot: slot, inner(&self))
        case .spawn:
            let kinds: [Step.Spawning] = [.childTask, .group, .task, .detached, .leftTask, .leftDetached]
            return .spawn(random.pick(kinds), inner(&self))
        }
    }

    private mutating func ask(in site: Site) -> Step.Ask {
        var service = random.below(services.count)
        if case .factory(let index) = site, !mix.callsBack || random.chance(0.7) {
            // Usually an earlier one: otherwise most creations would fail.
            if index > 0 { service = random.below(index) }
        }
        let slot = random.below(mix.slots)
        var ways: [Step.Ask.Way] = [.resolve, .resolve, .resolve, .resolve, .optional, .ready]
        if mix.callsBack {
            ways += [
                .lease, .lazy, .provider, .keepProvider(slot), .callProvider(slot), .keepLazy(slot), .callLazy(slot),
            ]
        }
        var way = random.pick(ways)
        if case .factory(0) = site, !mix.callsBack { way = .ready }
        let hasResolver = site.hasResolver || graphs > 0
        let usesResolver = hasResolver && (site.hasResolver && !mix.callsBack || random.chance(0.6))
        return Step.Ask(
            service: service, argument: random.below(3), way: way, place: usesResolver ? nil : place())
    }

    private mutating func place() -> Step.Place {
        let drawn = random.below(10)
        if drawn < 4 { return .here }
        return drawn < 9 ? .base(random.below(bases.count)) : .slot(random.below(mix.slots))
    }

    private mutating func forgotten() -> Step.Forgotten {
        let service = random.below(services.count)
        let argument = random.below(3)
        return random.pick([
            .everything, .singletons, .scoped, .session, .throughAncestors, .service(service), .service(service),
            .argument(service: service, argument), .drained(service: service, argument),
        ])
    }

    /// A service whose instances have a hook, and that a scope can be supplied with.
    private mutating func owned() -> Int? {
        let owned = services.indices.filter { services[$0].sharing.isOwned && !services[$0].takesArgument }
        return owned.isEmpty ? nil : random.pick(owned)
    }
}

extension Plan.Sharing {
    fileprivate var isMultiton: Bool { self == .multiton || self == .boundedMultiton || self == .idleMultiton }
}
