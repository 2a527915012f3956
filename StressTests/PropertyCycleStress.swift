import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PropertyCycleStress {
    @Test(arguments: [Lifetime.singleton, .scoped, .weak])
    func `shared members of a property cycle are made once and seen whole`(lifetime: Lifetime) async {
        await forEachSeed(250) { seed in
            let world = PropertyWorld(lifetime: lifetime, seed: seed)
            let container = world.makeContainer()
            let complaints = Complaints()
            try await hammer(world, tasks: 4, seed: seed) { index in
                let answer = try await container.resolve(Linked.self, qualifier: NodeID(index: index))
                complaints.expect(answer.index == index, "\(answer.index) instead of \(index)")
                if let flaw = world.flaw(of: answer) { complaints.add(flaw) }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try #require(world.probes.map(\.runs) == Array(repeating: 1, count: world.count), "seed \(seed)")
            world.unlink()
        }
    }

    @Test
    func `in the graph lifetime every resolution makes its own cycle once`() async {
        await forEachSeed(250) { seed in
            let world = PropertyWorld(lifetime: .graph, seed: seed)
            let container = world.makeContainer()
            let complaints = Complaints()
            try await hammer(world, tasks: 4, seed: seed) { index in
                let answer = try await container.resolve(Linked.self, qualifier: NodeID(index: index))
                if let flaw = world.flaw(of: answer) { complaints.add(flaw) }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            var expected = Array(repeating: 0, count: world.count)
            for index in 0..<world.count {
                for reached in world.reach(of: index) { expected[reached] += 4 }
            }
            try #require(world.probes.map(\.runs) == expected, "seed \(seed)")
            world.unlink()
        }
    }

    @Test
    func `in scopes of their own the same cycle is made once for each scope`() async {
        await forEachSeed(100) { seed in
            let world = PropertyWorld(lifetime: .scoped, seed: seed)
            let container = world.makeContainer()
            let complaints = Complaints()
            let scopes = 4
            try await hammer(world, tasks: scopes * 2, seed: seed) { index in
                for number in 0..<scopes {
                    let scope = try await container.openScope(number)
                    let answer = try await scope.resolve(Linked.self, qualifier: NodeID(index: index))
                    if let flaw = world.flaw(of: answer) { complaints.add(flaw) }
                }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try #require(world.probes.allSatisfy { $0.runs == scopes }, "seed \(seed)")
            try await container.dispose()
            world.unlink()
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak, .graph])
    func `when one member fails no request sees any of them`(lifetime: Lifetime) async {
        await forEachSeed(150) { seed in
            let world = PropertyWorld(lifetime: lifetime, mostFailures: 2, seed: seed)
            let container = world.makeContainer()
            let complaints = Complaints()
            try await hammer(world, tasks: 4, seed: seed) { index in
                while !Task.isCancelled {
                    do {
                        let answer = try await container.resolve(Linked.self, qualifier: NodeID(index: index))
                        if let flaw = world.flaw(of: answer) { complaints.add(flaw) }
                        return
                    } catch is PropertyWorld.HookFailure {
                        await Task.yield()
                    }
                }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try #require(lifetime == .graph || world.probes.allSatisfy { $0.peak == 1 }, "seed \(seed)")
            world.unlink()
        }
    }

    @Test(arguments: [Lifetime.singleton, .weak, .graph])
    func `cancelled waiters leave a property cycle whole for the others`(lifetime: Lifetime) async {
        await forEachSeed(150) { seed in
            let world = PropertyWorld(lifetime: lifetime, seed: seed)
            let container = world.makeContainer()
            let storm = await Storm.run(of: world.count * 4, cancelling: 0.6, seed: seed) { number in
                try await container.resolve(Linked.self, qualifier: NodeID(index: number % world.count))
            }
            try #require(storm.failures.isEmpty, "seed \(seed)")
            for answer in storm.values.values {
                let flaw = world.flaw(of: answer)
                try #require(flaw == nil, "seed \(seed)")
            }
            try #require(lifetime == .graph || world.probes.allSatisfy { $0.peak <= 1 }, "seed \(seed)")
            world.unlink()
        }
    }

    /// Asks for every node from each task, in an order of its own.
    private func hammer(
        _ world: PropertyWorld, tasks: Int, seed: UInt64, _ ask: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<tasks {
                group.addTask {
                    var random = SeededRandom(seed: seed, stream: -1 - number)
                    for index in (0..<world.count).shuffled(using: &random) {
                        await random.shake()
                        try await ask(index)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
