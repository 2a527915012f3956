import AsyncDI
import Exploration

extension Scenario {
    /// Random worlds of the stress tests, with their oracles, under explored schedules.
    static let worlds =
        [
            Scenario(
                name: "random-graphs", claim: "random graphs are made as often as the reference model says", share: 0.5,
                worlds: 100
            ) { explored in
                var random = SeededRandom(seed: explored.dataSeed)
                let graph = GraphModel.acyclic(nodes: 2 + random.below(5), mostDependencies: 3, random: &random)
                let world = GraphWorld(graph, seed: explored.dataSeed)
                guard let container = world.makeContainers().first else { return }
                var reference = ReferenceModel(graph)
                let nodes = graph.nodes.count
                let outcomes = await explored.outcomes(4, of: "request") { number in
                    try await container.resolve(Node.self, qualifier: NodeID(index: number % nodes))
                }
                for number in 0..<4 { reference.ask(number % nodes, in: 0) }
                // Only a weak instance may be released and created again.
                let isExact = !graph.nodes.contains { $0.sharing == .weak }
                explored.expect(!isExact || world.runs == reference.runs, "\(world.runs) instead of \(reference.runs)")
                for answer in explored.successes(outcomes, "a request") {
                    if let flaw = reference.contradiction(in: answer, from: 0) { explored.fail(flaw) }
                }
                try await world.close()
            },
            Scenario(
                name: "random-cycles", claim: "random graphs fail exactly where the oracle says they must", share: 0.5,
                worlds: 100
            ) { explored in
                var random = SeededRandom(seed: explored.dataSeed)
                let sharing = random.pick([[GraphModel.Sharing.singleton], [.singleton, .graph], [.scoped, .graph]])
                let graph = GraphModel.arbitrary(nodes: 2 + random.below(4), sharing: sharing, random: &random)
                let doomed = ReferenceModel.doomed(graph)
                let world = GraphWorld(graph, seed: explored.dataSeed)
                guard let container = world.makeContainers().first else { return }
                let nodes = graph.nodes.count
                let outcomes = await explored.outcomes(nodes, of: "request") { number in
                    try await container.resolve(Node.self, qualifier: NodeID(index: number))
                }
                for (number, outcome) in outcomes.enumerated() {
                    if doomed.contains(number) {
                        explored.expect(outcome.failed(with: .circularDependency), "\(number), doomed: \(outcome)")
                    } else {
                        explored.expect(outcome.value != nil, "\(number), not doomed: \(outcome)")
                    }
                }
                explored.expect(
                    world.probes.indices.allSatisfy { graph.nodes[$0].sharing == .graph || world.probes[$0].peak <= 1 },
                    "two at once")
                try await world.close()
            },
            Scenario(
                name: "random-programs",
                claim: "whatever happens to it, a container does what the reference model does",
                share: 0.5, worlds: 1000
            ) { explored in
                var random = SeededRandom(seed: explored.dataSeed)
                let program = Program((0..<(16 + random.below(40))).map { _ in UInt8(random.below(256)) })
                var player = Player(program, explored, isTold: false)
                await player.play()
                if !explored.isFine { explored.note("\(program)") }
            },
        ]
        + Mix.all.map { mix in
            Scenario(
                name: "reentrant-\(mix.name.replacing(" ", with: "-"))",
                claim: "user code that calls back neither hangs nor breaks a promise", share: 0.2, worlds: 200
            ) { explored in
                let plan = Planner.plan(mix, seed: explored.dataSeed)
                let world = ReentrantWorld(plan, seed: explored.dataSeed)
                await world.round()
                world.letGo()
                if !world.checker.complaints.isEmpty {
                    explored.note("\(plan)")
                    explored.note(world.checker.trail.report)
                    explored.fail(world.checker.complaints.summary)
                }
            }
        }
}
