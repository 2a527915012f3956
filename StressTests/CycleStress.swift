import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CycleStress {
    private static let palettes: [[GraphModel.Sharing]] = [
        [.singleton], [.singleton, .graph], [.singleton, .graph, .transient],
        [.scoped, .graph, .transient], [.weak, .graph, .transient], [.graph, .transient],
    ]

    @Test
    func `random graphs fail exactly where the oracle says they must`() async {
        await forEachSeed(2_000) { seed in
            var random = SeededRandom(seed: seed)
            let model = GraphModel.arbitrary(
                nodes: 1 + random.below(14), sharing: random.pick(Self.palettes), random: &random)
            try await check(model, seed: seed)
        }
    }

    @Test
    func `cycles through two or three unrelated containers are found`() async {
        await forEachSeed(500) { seed in
            var random = SeededRandom(seed: seed)
            let model = GraphModel.arbitrary(
                nodes: 2 + random.below(12), sharing: [.singleton, .singleton, .singleton, .graph],
                homes: 2 + random.below(2), random: &random)
            try await check(model, seed: seed)
        }
    }

    @Test
    func `a factory that catches the cycle goes another way`() async {
        await forEachSeed(500) { seed in
            var random = SeededRandom(seed: seed)
            let model = GraphModel.arbitrary(
                nodes: 2 + random.below(14), sharing: random.pick([[.singleton], [.scoped]]), random: &random)
            let world = GraphWorld(model, seed: seed, goesOnWithoutCycle: true)
            let container = try #require(world.makeContainers().first)
            let complaints = Complaints()
            try await hammer(model, in: [container], seed: seed) { node, outcome in
                complaints.expect((try? outcome.get()) != nil, "\(node): \(outcome)")
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            // Without a failure, no factory had a reason to run again.
            try #require(world.runs == model.nodes.map { _ in 1 }, "seed \(seed)")
            try await world.close()
        }
    }

    /// Every factory has started before the first request: whichever edge closes the ring, it lies between tasks.
    @Test
    func `a ring that closes between tasks ends for every one of them`() async {
        await forEachSeed(300) { seed in
            var random = SeededRandom(seed: seed)
            let size = 2 + random.below(30)
            let rendezvous = Rendezvous(of: size)
            let catching = Set((0..<random.below(3)).map { _ in random.below(size) })
            let container = Container {
                for index in 0..<size {
                    Registration(Node.self, qualifier: NodeID(index: index), lifetime: .singleton) { resolver in
                        await rendezvous.arriveAndWait()
                        do {
                            let next = try await resolver.resolve(
                                Node.self, qualifier: NodeID(index: (index + 1) % size))
                            return Node(index: index, dependencies: [next])
                        } catch ResolutionError.Code.circularDependency where catching.contains(index) {
                            return Node(index: index, dependencies: [])
                        }
                    }
                }
            }
            let outcomes = await outcomes(of: size) { index in
                try await container.resolve(Node.self, qualifier: NodeID(index: index))
            }
            for (index, outcome) in outcomes {
                switch outcome {
                case .success: try #require(!catching.isEmpty, "seed \(seed): \(index) cannot have succeeded")
                case .failure(ResolutionError.Code.circularDependency):
                    try #require(!catching.contains(index), "seed \(seed): \(index) caught it")
                case .failure(let error): throw error
                }
            }
            try await container.dispose()
        }
    }

    /// Each argument requests one other, or none: arguments distinguish creations, and some of them form rings.
    @Test
    func `rings among the arguments of one service are found, and nothing else`() async {
        await forEachSeed(300) { seed in
            var random = SeededRandom(seed: seed)
            let size = 2 + random.below(30)
            let next = (0..<size).map { _ in random.chance(0.15) ? nil : random.below(size) }
            let doomed = ReferenceModel.doomed(
                GraphModel(
                    nodes: next.map {
                        GraphModel.Node(sharing: .singleton, style: .sequential, dependencies: $0.map { [$0] } ?? [])
                    }))
            let container = Container {
                Registration(Node.self, lifetime: .multiton) { (resolver, index: Int) in
                    await Task.yield()
                    guard let next = next[index] else { return Node(index: index, dependencies: []) }
                    let node = try await resolver.resolve(Node.self, arguments: next)
                    return Node(index: index, dependencies: [node])
                }
            }
            let outcomes = await outcomes(of: size * 2) { number in
                try await container.resolve(Node.self, arguments: number % size)
            }
            for (number, outcome) in outcomes {
                try Self.require(outcome, isDoomed: doomed.contains(number % size), node: number % size, seed: seed)
            }
            try await container.dispose()
        }
    }

    private func check(_ model: GraphModel, seed: UInt64) async throws {
        let doomed = ReferenceModel.doomed(model)
        let world = GraphWorld(model, seed: seed)
        let complaints = Complaints()
        try await hammer(model, in: world.makeContainers(), seed: seed) { node, outcome in
            complaints.expect(Self.agrees(outcome, isDoomed: doomed.contains(node)), "\(node): \(outcome)")
        }
        try #require(complaints.isEmpty, "seed \(seed), doomed \(doomed.sorted()): \(complaints.summary)")
        for (index, node) in model.nodes.enumerated() where node.sharing == .singleton && !doomed.contains(index) {
            // A creation may be abandoned and created anew when a sibling meets a cycle, but never two at once.
            try #require(world.probes[index].peak == 1, "seed \(seed): node \(index)")
        }
        try await world.close()
    }

    /// Asks for each node from three tasks, in an order of their own.
    private func hammer(
        _ model: GraphModel, in containers: [Container], seed: UInt64,
        check: @escaping @Sendable (Int, Result<Node, any Error>) -> Void
    ) async throws {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                var random = SeededRandom(seed: seed, stream: -1 - number)
                for index in model.nodes.indices.shuffled(using: &random) {
                    let pause = random.below(4)
                    group.addTask {
                        for _ in 0..<pause { await Task.yield() }
                        let container = containers[model.nodes[index].home]
                        let outcome: Result<Node, any Error>
                        do {
                            outcome = .success(try await container.resolve(qualifier: NodeID(index: index)))
                        } catch {
                            outcome = .failure(error)
                        }
                        check(index, outcome)
                    }
                }
            }
        }
    }

    private func outcomes(
        of count: Int, _ ask: @escaping @Sendable (Int) async throws -> Node
    ) async -> [(Int, Result<Node, any Error>)] {
        await withTaskGroup(of: (Int, Result<Node, any Error>).self) { group in
            for number in 0..<count {
                group.addTask {
                    // Not `return (number, .success(try await ask(number)))`: Swift 6.3.1 corrupts `number` there with
                    // -O.
                    let outcome: Result<Node, any Error>
                    do {
                        outcome = .success(try await ask(number))
                    } catch {
                        outcome = .failure(error)
                    }
                    return (number, outcome)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static func agrees(_ outcome: Result<Node, any Error>, isDoomed: Bool) -> Bool {
        switch outcome {
        case .success: !isDoomed
        case .failure(ResolutionError.Code.circularDependency): isDoomed
        case .failure: false
        }
    }

    private static func require(
        _ outcome: Result<Node, any Error>, isDoomed: Bool, node: Int, seed: UInt64
    ) throws {
        try #require(agrees(outcome, isDoomed: isDoomed), "seed \(seed), node \(node): \(outcome)")
    }
}
