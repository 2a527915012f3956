import AsyncDI
import Exploration

/// Plays a program on a container and on the model, and compares the results.
struct Player {
    let program: Program
    let explored: Explored
    /// Whether each operation is noted, which costs more than the operation.
    let isTold: Bool
    let world = World()
    var model: ReferenceModel
    /// The containers by their numbers; nil for closed ones.
    var containers: [Container?]

    init(_ program: Program, _ explored: Explored, isTold: Bool) {
        self.isTold = isTold
        self.program = program
        self.explored = explored
        let nodes = program.recipes.map { recipe in
            GraphModel.Node(sharing: recipe.sharing, style: .sequential, dependencies: recipe.dependencies)
        }
        let model = ReferenceModel(GraphModel(nodes: nodes))
        self.model = model
        let world = world
        containers = [
            Container(clock: explored.clock) {
                Registration(ContainerNumber.self, instance: ContainerNumber(value: 0))
                for (number, entry) in model.entries.enumerated() { world.registration(number, entry) }
            }
        ]
    }

    mutating func play() async {
        for operation in program.operations {
            if isTold { explored.note("\(operation)") }
            await play(operation)
            check()
        }
        if isTold { explored.note("the end") }
        await expectNoError { [root = containers[0]] in try await root?.dispose() }
        model.close(0)
        for made in world.made where isHooked(made) && !world.isDisposed(made.node) {
            explored.fail("node \(made.node.index) of \(made.place) was never disposed")
        }
        for complaint in world.complaints { explored.fail(complaint) }
    }

    mutating func play(_ operation: Operation) async {
        switch operation {
        case .resolve(let ask): await burst([ask], cancelling: nil, after: 0)
        case .burst(let asks, let victim, let steps): await burst(asks, cancelling: victim, after: steps)
        case .change(let change, let number):
            guard let (change, number) = possible(change, number) else { return }
            await self.change(change, number)
        case .race(let asks, let change, let number):
            guard let (change, number) = possible(change, number) else { return }
            await race(asks, change, number)
        case .lease(let ask, let change, let number, let steps):
            guard let (change, number) = possible(change, number) else { return }
            await lease(ask, change, number, steps)
        case .openScope(let parent): await openScope(in: open(parent))
        case .withScope(let parent, let override, let nodes, let fails):
            await withScope(in: open(parent), override, nodes, fails: fails)
        }
    }

    // MARK: Containers

    /// Returns the open container with a number, or else the nearest open one before it.
    func open(_ number: Int) -> Int {
        var number = number % containers.count
        while containers[number] == nil { number -= 1 }
        return number
    }

    /// Returns a possible change; only the end of the program closes the root.
    func possible(_ change: Change, _ number: Int) -> (Change, Int)? {
        let number = open(number)
        if case .close = change, number == 0 { return nil }
        return (change, number)
    }

    mutating func openScope(in parent: Int) async {
        guard containers.count < Program.mostContainers, let container = containers[parent] else { return }
        let number = containers.count
        do {
            containers.append(
                try await container.openScope(number) {
                    Registration(ContainerNumber.self, instance: ContainerNumber(value: number))
                })
            model.openScope(number, in: parent)
        } catch {
            explored.fail("a scope was not opened: \(error)")
        }
    }

    // MARK: Requests

    typealias Outcome = Result<Node, any Error>

    /// Makes simultaneous requests, whose results and numbers of runs must be those of the model.
    mutating func burst(_ asks: [Ask], cancelling victim: Int?, after steps: Int) async {
        let asks = asks.map { Ask(node: $0.node, container: open($0.container)) }
        let mark = mark()
        let tasks = start(asks)
        if let victim {
            for _ in 0..<steps { await Task.yield() }
            tasks[victim].cancel()
        }
        var outcomes: [Outcome] = []
        for task in tasks { outcomes.append(await task.result) }
        compare(asks, outcomes, since: mark, cancelled: victim)
    }

    func start(_ asks: [Ask]) -> [Task<Node, any Error>] {
        asks.map { ask in
            let container = containers[ask.container]
            return explored.task("request for \(ask.node)") {
                guard let container else { throw World.Failure() }
                return try await container.resolve(Node.self, qualifier: NodeID(index: ask.node))
            }
        }
    }

    mutating func compare(
        _ asks: [Ask], _ outcomes: [Outcome], since mark: Mark, cancelled: Int?, isSequential: Bool = false
    ) {
        let before = model
        let begun = Set(world.begun[mark.begun...])
        model.hasRun = { begun.contains($0) }
        var isExact = cancelled == nil
        for (number, (ask, outcome)) in zip(asks, outcomes).enumerated() {
            do throws(ReferenceModel.Refusal) {
                try model.request(ask.node, in: ask.container)
                if number == cancelled, case .failure(is CancellationError) = outcome { continue }
                if case .failure(let error) = outcome { explored.fail("\(ask) failed: \(error)") }
            } catch {
                if asks.count > 1, !isSequential { isExact = false }
                if number == cancelled, case .failure(is CancellationError) = outcome { continue }
                expect(outcome, ask, refused: error)
            }
        }
        if isExact {
            compareRuns(before, since: mark)
            follow(asks, outcomes, since: mark)
        } else {
            model = before
            settle(before, since: mark)
        }
    }

    func expect(_ outcome: Outcome, _ ask: Ask, refused refusal: ReferenceModel.Refusal) {
        let codes: [ResolutionError.Code] =
            switch refusal {
            case .notRegistered: [.notRegistered]
            // The order of the requests may decide which of the two errors comes first.
            case .circular, .captive: [.circularDependency, .captiveDependency, .notRegistered]
            case .disposed: [.disposed]
            }
        switch outcome {
        case .success: explored.fail("\(ask) succeeded instead of \(refusal)")
        case .failure(let error):
            let isExpected = codes.contains { $0 ~= error } || (refusal == .notRegistered && isRefusal(error))
            explored.expect(isExpected, "\(ask) failed with \(error) instead of \(refusal)")
        }
    }

    func isRefusal(_ error: any Error) -> Bool {
        let codes: [ResolutionError.Code] = [.circularDependency, .captiveDependency, .notRegistered]
        return codes.contains { $0 ~= error }
    }

    /// Compares how often each factory ran.
    func compareRuns(_ before: ReferenceModel, since mark: Mark) {
        var counts: [ReferenceModel.Place: Int] = [:]
        for place in world.begun[mark.begun...] { counts[place, default: 0] += 1 }
        let expected = model.runsByPlace.compactMap { place, count -> (ReferenceModel.Place, Int)? in
            let more = count - (before.runsByPlace[place] ?? 0)
            return more == 0 ? nil : (place, more)
        }
        let wanted = Dictionary(uniqueKeysWithValues: expected)
        explored.expect(counts == wanted, "factories ran \(counts) times instead of \(wanted)")
    }

    /// Compares the returned instances and those created on the way.
    mutating func follow(_ asks: [Ask], _ outcomes: [Outcome], since mark: Mark) {
        // A creation that was abandoned earlier may end after its registration was replaced.
        for made in world.made[mark.made...] where isShared(made) && made.run >= mark.begun {
            if let flaw = model.contradiction(in: made.node, from: made.place.container) { explored.fail(flaw) }
        }
        for (ask, outcome) in zip(asks, outcomes) {
            guard case .success(let node) = outcome else { continue }
            if let flaw = model.contradiction(in: node, from: ask.container) { explored.fail("\(ask): \(flaw)") }
        }
    }

    /// Settles a race: an instance that it created may be cached or not, but must not have been created twice or beside
    /// a cached one.
    mutating func settle(_ before: ReferenceModel, since mark: Mark, isChanged: Bool = false) {
        let places = world.made[mark.made...].filter(isShared).map(\.place)
        if !isChanged {
            // A creation that began earlier and was reset may end beside its successor.
            let new = world.made[mark.made...].filter { isShared($0) && $0.run >= mark.begun }.map(\.place)
            explored.expect(Set(new).count == new.count, "made twice: \(new)")
            for place in new where before.made.contains(place) { explored.fail("made again: \(place)") }
        }
        // Includes creations that have only begun: an abandoned one may end later, and requests may join it until then.
        model.doubt(places + world.begun[mark.begun...].filter(isShared))
    }

    func isShared(_ made: World.Made) -> Bool { isShared(made.place) }

    func isShared(_ place: ReferenceModel.Place) -> Bool {
        switch model.entries[place.entry].sharing {
        case .singleton, .scoped, .weak: true
        case .graph, .transient: false
        }
    }

    func isHooked(_ made: World.Made) -> Bool {
        isShared(made) && model.entries[made.place.entry].sharing != .weak
    }

    // MARK: Scopes with a body

    mutating func withScope(
        in parent: Int, _ override: (node: Int, recipe: Recipe)?, _ nodes: [Int], fails: Bool
    ) async {
        guard let container = containers[parent] else { return }
        // The scope has a number that no other container ever has.
        let number = 100 + model.parents.count
        model.openScope(number, in: parent)
        let entry = override.map {
            model.register($0.node, $0.recipe.sharing, holding: $0.recipe.dependencies, in: number)
        }
        let registration = entry.map { world.registration($0, model.entries[$0]) }
        let asks = nodes.map { Ask(node: $0, container: number) }
        let mark = mark()
        let outcomes = Locked<[Outcome]>([])
        do {
            try await container.withScope {
                Registration(ContainerNumber.self, instance: ContainerNumber(value: number))
                if let registration { registration }
            } operation: { [explored] scope in
                for (position, node) in nodes.enumerated() {
                    // Requests to the outer container use the scope too.
                    let asked = position == 0 ? scope : container
                    let task = explored.task("request for \(node)") {
                        try await asked.resolve(Node.self, qualifier: NodeID(index: node))
                    }
                    let outcome = await task.result
                    outcomes.withLock { $0.append(outcome) }
                }
                if fails { throw World.Failure() }
            }
            explored.expect(!fails, "the body's error was lost")
        } catch {
            explored.expect(fails && error is World.Failure, "a scope failed: \(error)")
        }
        compare(asks, outcomes.current, since: mark, cancelled: nil, isSequential: true)
        let before = model
        let ended = model.close(number)
        expectDisposed(ended, cachedIn: before, by: "the scope's end")
        compareOrder(of: ended, since: mark)
    }

    // MARK: Comparing

    /// The numbers of recorded calls at one moment.
    struct Mark {
        let begun: Int
        let made: Int
        let disposed: Int
    }

    func mark() -> Mark {
        Mark(begun: world.begun.count, made: world.made.count, disposed: world.disposed.count)
    }

    /// Checks that cached instances have not been disposed.
    func check() {
        let disposed = Set(world.disposed.map(ObjectIdentifier.init))
        for (place, identity) in model.identities where model.made.contains(place) && disposed.contains(identity) {
            explored.fail("the instance cached at \(place) was disposed")
        }
    }

    func expectNoError(_ work: () async throws -> Void) async {
        do { try await work() } catch { explored.fail("an error: \(error)") }
    }
}
