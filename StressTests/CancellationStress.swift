import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CancellationStress {
    final class Service: Sendable {
        let inner: Service?
        init(holding inner: Service? = nil) { self.inner = inner }
    }

    @Test
    func `cancelled waiters leave alone, the others get the one instance`() async {
        await forEachSeed(300) { seed in
            var random = SeededRandom(seed: seed)
            let notices = random.chance(0.5)
            let steps = random.below(60)
            let probe = Probe()
            let container = Container {
                Registration(Service.self, lifetime: .singleton) { _ in
                    probe.enter()
                    defer { probe.leave() }
                    for _ in 0..<steps {
                        await Task.yield()
                        if notices { try Task.checkCancellation() }
                    }
                    return Service()
                }
            }
            let storm = await Storm.run(of: 60, cancelling: random.pick([0.5, 0.9, 1]), seed: seed) { _ in
                try await container.resolve(Service.self)
            }
            try #require(storm.failures.isEmpty, "seed \(seed)")
            try #require(storm.values.count + storm.cancelled.count >= 60, "seed \(seed)")
            try #require(probe.peak <= 1, "seed \(seed)")
            // A value that arrives after every request has left is kept: no request ever sees another one.
            let last = try await container.resolve(Service.self)
            try #require(storm.values.values.allSatisfy { $0 === last }, "seed \(seed)")
        }
    }

    @Test
    func `storms over many arguments, in chains, never run one key twice at once`() async {
        await forEachSeed(8) { seed in
            let keys = 16
            let probes = (0..<keys).map { _ in Probe() }
            let container = Container {
                Registration(Service.self, lifetime: .multiton) { (resolver, key: Int) in
                    var random = SeededRandom(seed: seed, stream: key, run: probes[key].enter())
                    defer { probes[key].leave() }
                    await random.shake(upTo: 20)
                    // Abandoned, it stops waiting for the next one in the chain, and may leave that one abandoned too.
                    guard key % 4 != 0 else { return Service() }
                    let inner = try await resolver.resolve(Service.self, arguments: key - 1)
                    await random.shake(upTo: 20)
                    return Service(holding: inner)
                }
            }
            let count = Stress.count(1_500, atLeast: keys)
            let storm = await Storm.run(of: count, cancelling: 0.8, seed: seed) { number in
                try await container.resolve(Service.self, arguments: number % keys)
            }
            try #require(storm.failures.isEmpty, "seed \(seed)")
            try #require(storm.values.count + storm.cancelled.count >= count, "seed \(seed)")
            for key in 0..<keys {
                let last = try await container.resolve(Service.self, arguments: key)
                try #require(probes[key].peak <= 1, "seed \(seed)")
                let given = storm.values.filter { $0.key % keys == key }.values
                try #require(given.allSatisfy { $0 === last }, "seed \(seed)")
                let hasInner = key % 4 != 0
                try #require((last.inner != nil) == hasInner, "seed \(seed)")
            }
        }
    }

    @Test
    func `a request that is cancelled beforehand starts nothing`() async {
        let probe = Probe()
        let container = Container {
            Registration(Service.self, lifetime: .singleton) { _ in
                probe.enter()
                return Service()
            }
        }
        let gate = Gate()
        let tasks = (0..<Stress.count(1_000)).map { _ in
            Task {
                await gate.wait()
                return try await container.resolve(Service.self)
            }
        }
        for task in tasks { task.cancel() }
        gate.open()
        for task in tasks {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(probe.runs == 0)
    }

    /// The factory stays where it is until every cancelled waiter is back: if one waited for it, this would not end.
    @Test(arguments: [true, false])
    func `a cancelled waiter does not wait for the factory`(someStay: Bool) async throws {
        let gate = Gate()
        let probe = Probe()
        let container = Container {
            Registration(Service.self, lifetime: .singleton) { _ in
                probe.enter()
                await gate.wait()
                return Service()
            }
        }
        let staying = (0..<(someStay ? 50 : 0)).map { _ in Task { try await container.resolve(Service.self) } }
        let leaving = (0..<Stress.count(1_000)).map { _ in Task { try await container.resolve(Service.self) } }
        try #require(await eventually { probe.runs == 1 })
        for task in leaving { task.cancel() }
        for task in leaving {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let late = (0..<50).map { _ in Task { try await container.resolve(Service.self) } }
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        var answers: [Service] = []
        for task in staying + late { answers.append(try await task.value) }
        #expect(Set(answers.map(ObjectIdentifier.init)).count == 1)
        #expect(probe.runs == 1)
    }

    @Test
    func `a creation that is to be finished runs on when every waiter has left`() async {
        await forEachSeed(100) { seed in
            let gate = Gate()
            let probe = Probe()
            let sawCancellation = Counter()
            let container = Container {
                Registration(Service.self, lifetime: .singleton) { _ in
                    probe.enter()
                    await gate.wait()
                    if Task.isCancelled { sawCancellation.add() }
                    return Service()
                }
                .whenAbandoned(.finish)
            }
            let storm = await Storm.run(of: 50, cancelling: 1, seed: seed) { _ in
                try await container.resolve(Service.self)
            }
            try #require(storm.failures.isEmpty && storm.values.isEmpty, "seed \(seed)")
            gate.open()
            let first = try await container.resolve(Service.self)
            let second = try await container.resolve(Service.self)
            try #require(first === second, "seed \(seed)")
            try #require(probe.runs == 1 && sawCancellation.value == 0, "seed \(seed)")
        }
    }

    @Test
    func `cancellation changes nothing for the others in random graphs with cycles`() async {
        await forEachSeed(400) { seed in
            var random = SeededRandom(seed: seed)
            let sharing = random.pick([
                [GraphModel.Sharing.singleton], [.singleton, .graph], [.scoped, .graph], [.weak, .transient],
            ])
            let model = GraphModel.arbitrary(nodes: 2 + random.below(12), sharing: sharing, random: &random)
            let doomed = ReferenceModel.doomed(model)
            let world = GraphWorld(model, seed: seed)
            let container = try #require(world.makeContainers().first)
            let nodes = model.nodes.count
            let storm = await Storm.run(of: nodes * 4, cancelling: 0.6, seed: seed) { number in
                try await container.resolve(Node.self, qualifier: NodeID(index: number % nodes))
            }
            for (number, error) in storm.failures {
                try #require(ResolutionError.Code.circularDependency ~= error, "seed \(seed), node \(number % nodes)")
                try #require(doomed.contains(number % nodes), "seed \(seed), node \(number % nodes)")
            }
            try #require(storm.values.keys.allSatisfy { !doomed.contains($0 % nodes) }, "seed \(seed)")
            for (index, node) in model.nodes.enumerated() where node.sharing != .graph && node.sharing != .transient {
                try #require(world.probes[index].peak <= 1, "seed \(seed), node \(index)")
            }
            try await world.close()
        }
    }
}
