import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ExactlyOnceStress {
    final class Service: Sendable {
        let text: String
        init(_ text: String = "") { self.text = text }
    }

    @Test
    func `ten thousand tasks share one singleton`() async throws {
        let probe = Probe()
        let container = Container {
            Registration(Service.self, lifetime: .singleton) { _ in
                probe.enter()
                for _ in 0..<100 { await Task.yield() }
                return Service()
            }
        }
        let answers = try await answers(to: Stress.count(10_000)) { _ in try await container.resolve(Service.self) }
        #expect(probe.runs == 1)
        #expect(Set(answers.map(ObjectIdentifier.init)).count == 1)
        #expect(answers.count == Stress.count(10_000))
    }

    @Test
    func `ten thousand tasks share one instance for each of a thousand argument packs`() async throws {
        let probe = Probe()
        let container = Container {
            Registration(Service.self, lifetime: .multiton) { (_, number: Int, text: String) in
                var random = SeededRandom(seed: UInt64(number), stream: probe.enter())
                await random.shake(upTo: 10)
                return Service("\(number) \(text)")
            }
        }
        let total = Stress.count(10_000)
        let packs = max(1, total / 10)
        let answers = try await answers(to: total) { number in
            // Every number twice, distinguished by the other argument.
            let pack = number % packs
            return try await container.resolve(Service.self, arguments: pack / 2, pack.isMultiple(of: 2) ? "a" : "b")
        }
        #expect(probe.runs == packs)
        #expect(Set(answers.map(ObjectIdentifier.init)).count == packs)
        #expect(Set(answers.map(\.text)).count == packs)
    }

    @Test(arguments: [Lifetime.singleton, .multiton, .scoped, .weak])
    func `arguments are part of every shared key`(lifetime: Lifetime) async throws {
        let probe = Probe()
        let container = Container {
            Registration(Service.self, lifetime: lifetime) { (_, number: Int) in
                probe.enter()
                await Task.yield()
                return Service("\(number)")
            }
        }
        let answers = try await answers(to: Stress.count(2_000, atLeast: 50)) { number in
            let answer = try await container.resolve(Service.self, arguments: number % 50)
            #expect(answer.text == "\(number % 50)")
            return answer
        }
        // The answers hold every instance, so that a weak one is shared as well.
        #expect(Set(answers.map(ObjectIdentifier.init)).count == 50)
        #expect(lifetime == .weak || probe.runs == 50)
    }

    @Test
    func `a service that needs itself with other arguments is made once for each`() async throws {
        let probe = Probe()
        let container = Container {
            Registration(Int.self, qualifier: "fibonacci", lifetime: .multiton) { (resolver, number: Int) in
                probe.enter()
                guard number > 1 else { return number }
                async let first: Int = resolver.resolve(qualifier: "fibonacci", arguments: number - 1)
                async let second: Int = resolver.resolve(qualifier: "fibonacci", arguments: number - 2)
                return try await first + second
            }
        }
        let answers = try await answers(to: Stress.count(500, atLeast: 81)) { number in
            let argument = 80 - number % 81
            let value = try await container.resolve(Int.self, qualifier: "fibonacci", arguments: argument)
            return argument == 80 ? value : nil
        }
        #expect(answers.compactMap(\.self).allSatisfy { $0 == 23_416_728_348_467_685 })
        #expect(probe.runs == 81)
    }

    @Test
    func `random graphs run each factory as often as one task would`() async {
        await forEachSeed(2_000) { seed in
            try await checkRandomGraph(nodes: 4...32, tasks: 4, asks: 16, seed: seed)
        }
    }

    @Test
    func `graphs of two hundred nodes run each factory as often as one task would`() async {
        await forEachSeed(25) { seed in
            try await checkRandomGraph(nodes: 200...200, tasks: 10, asks: 60, seed: seed)
        }
    }

    /// Asks a root and three scopes for random nodes from many tasks, and compares with the oracle.
    private func checkRandomGraph(nodes: ClosedRange<Int>, tasks: Int, asks: Int, seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: nodes, using: &random)
        let model = GraphModel.acyclic(nodes: count, mostDependencies: 4, random: &random)
        let world = GraphWorld(model, seed: seed)
        var containers = world.makeContainers()
        for number in 1...3 { containers.append(try await containers[0].openScope(number)) }

        var oracle = ReferenceModel(model)
        let plans = (0..<tasks).map { _ in
            (0..<asks).map { _ in (node: random.below(count), container: random.below(4)) }
        }
        for ask in plans.joined() { oracle.ask(ask.node, in: ask.container) }

        let answers = try await withThrowingTaskGroup(of: [(Node, Int)].self) { [containers] group in
            for (number, plan) in plans.enumerated() {
                group.addTask {
                    var random = SeededRandom(seed: seed, stream: -1 - number)
                    var answers: [(Node, Int)] = []
                    for ask in plan {
                        await random.shake(upTo: 2)
                        let node = try await containers[ask.container].resolve(
                            Node.self, qualifier: NodeID(index: ask.node))
                        answers.append((node, ask.container))
                    }
                    return answers
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }

        try #require(world.runs == oracle.runs, "seed \(seed)")
        for (node, container) in answers {
            let contradiction = oracle.contradiction(in: node, from: container)
            try #require(contradiction == nil, "seed \(seed)")
        }
        try await world.close()
    }

    private func answers<Answer: Sendable>(
        to count: Int, _ ask: @escaping @Sendable (Int) async throws -> Answer
    ) async throws -> [Answer] {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for number in 0..<count {
                group.addTask { try await ask(number) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
