import AsyncDI
import Exploration

extension Scenario {
    static let cycles = [
        ring("cycle-of-two", "a cycle that closes between two tasks is refused, never a hang", size: 2),
        ring("cycle-of-three", "a cycle that closes between three tasks is refused, never a hang", size: 3),
        ring("cycle-caught", "a factory that catches the cycle may go another way", size: 3, catching: [0, 1, 2]),
        ring(
            "cycle-caught-once", "the factory that catches the cycle succeeds wherever it closes", size: 3,
            catching: [1]),
        Scenario(name: "diamond", claim: "a diamond is no cycle, from many tasks") { explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                for number in 0..<4 {
                    Registration(Token.self, qualifier: NodeID(index: number), lifetime: .singleton) { r in
                        probe.enter()
                        let below = [[], [0], [0], [1, 2]][number]
                        var held: [Token] = []
                        for other in below {
                            await pause()
                            held.append(try await r.resolve(Token.self, qualifier: NodeID(index: other)))
                        }
                        return Token(number, holding: held)
                    }
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(4, of: "request") { number in
                try await container.resolve(Token.self, qualifier: NodeID(index: 3 - number))
            }
            let tokens = explored.successes(outcomes, "a request")
            explored.expectSame(tokens[0].held.flatMap(\.held), "the bottom")
            explored.expect(probe.runs == 4, "\(probe.runs) runs")
        },
        Scenario(name: "cycle-across-containers", claim: "a cycle through two containers is refused") { explored in
            let first = Container(clock: explored.clock)
            explored.watch(first)
            let second = Container(clock: explored.clock)
            explored.watch(second)
            try await first.register(Token.self, lifetime: .singleton) { [weak second] _ in
                await pause()
                return Token(1, holding: [try await second!.resolve(Token.self)])
            }
            try await second.register(Token.self, lifetime: .singleton) { [weak first] _ in
                await pause()
                return Token(2, holding: [try await first!.resolve(Token.self)])
            }
            let outcomes = await explored.outcomes(2, of: "request") { number in
                try await (number == 0 ? first : second).resolve(Token.self)
            }
            for outcome in outcomes {
                explored.expect(outcome.failed(with: .circularDependency), "a request: \(outcome)")
            }
            withExtendedLifetime((first, second)) {}
        },
        Scenario(name: "cycle-through-disposal", claim: "a hook that needs what waits for its end gets an error") {
            explored in
            let home = Locked<Container?>(nil)
            defer { home.set(nil) }
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "old", lifetime: .singleton) { _ in Token(1) }
                    .onDispose { _ in _ = try await home.current?.resolve(Token.self, qualifier: "new") }
                Registration(Token.self, qualifier: "new", lifetime: .singleton) { _ in
                    await pause()
                    try await home.current?.reset(Token.self, qualifier: "old")
                    return Token(2)
                }
            }
            explored.watch(container)
            home.set(container)
            _ = try await container.resolve(Token.self, qualifier: "old")
            let outcomes = await explored.outcomes(2, of: "request") { _ in
                try await container.resolve(Token.self, qualifier: "new")
            }
            // The claim is that it ends: either the hook or the factory has the error.
            for outcome in outcomes {
                explored.expect(
                    outcome.value != nil || outcome.error is DisposalError || outcome.failed(with: .circularDependency),
                    "a request: \(outcome)")
            }
        },
        propertyCycle("property-cycle", "a property cycle is made once and seen whole", mostFailures: 0, .singleton),
        propertyCycle(
            "property-cycle-scoped", "a scoped property cycle is made once and seen whole", mostFailures: 0, .scoped),
        propertyCycle(
            "property-cycle-fails", "when one member fails nobody sees any of them", mostFailures: 2, .singleton),
        Scenario(name: "graph-cycle-fails", claim: "a graph cycle whose hook fails is not created again") { explored in
            let (parents, children) = (Probe(), Probe())
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "parent", lifetime: .graph) { r in
                    parents.enter()
                    return Token(1, holding: [try await r.resolve(Token.self, qualifier: "child")])
                }
                Registration(Token.self, qualifier: "child", lifetime: .graph) { _ in
                    children.enter()
                    return Token(2)
                }
                .injectProperties { r, _ in
                    _ = try await r.resolve(Token.self, qualifier: "parent")
                    throw Failure(number: 1)
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(1, of: "request") { _ in
                try await container.resolve(Token.self, qualifier: "parent")
            }
            explored.expect(outcomes[0].error as? Failure == Failure(number: 1), "\(outcomes[0])")
            explored.expect(
                (parents.runs, children.runs) == (1, 1), "\(parents.runs) parents and \(children.runs) children")
        },
        propertyCycle("property-cycle-weak", "weak members of a property cycle fail together", mostFailures: 1, .weak),
    ]

    /// Each of several singletons resolves the next one; the last resolves the first.
    private static func ring(_ name: String, _ claim: String, size: Int, catching: Set<Int> = []) -> Scenario {
        Scenario(name: name, claim: claim) { explored in
            let container = Container(clock: explored.clock) {
                for number in 0..<size {
                    Registration(Token.self, qualifier: NodeID(index: number), lifetime: .singleton) { r in
                        await pause()
                        do {
                            let next = NodeID(index: (number + 1) % size)
                            return Token(number, holding: [try await r.resolve(Token.self, qualifier: next)])
                        } catch ResolutionError.Code.circularDependency where catching.contains(number) {
                            return Token(number)
                        }
                    }
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(size, of: "request") { number in
                try await container.resolve(Token.self, qualifier: NodeID(index: number))
            }
            for (number, outcome) in outcomes.enumerated() {
                if catching.isEmpty {
                    explored.expect(outcome.failed(with: .circularDependency), "\(number): \(outcome)")
                } else if catching.contains(number) {
                    explored.expect(outcome.value != nil, "\(number), which catches: \(outcome)")
                } else {
                    explored.expect(
                        outcome.value != nil || outcome.failed(with: .circularDependency), "\(number): \(outcome)")
                }
            }
            try await container.dispose()
        }
    }

    private static func propertyCycle(
        _ name: String, _ claim: String, mostFailures: Int, _ lifetime: Lifetime
    ) -> Scenario {
        Scenario(name: name, claim: claim, share: 0.5, worlds: 40) { explored in
            let world = PropertyWorld(lifetime: lifetime, mostFailures: mostFailures, seed: explored.dataSeed)
            let container = world.makeContainer()
            let outcomes = await explored.outcomes(3, of: "request") { number in
                var random = SeededRandom(seed: explored.dataSeed, stream: -1 - number)
                for index in (0..<world.count).shuffled(using: &random) {
                    do {
                        let answer = try await container.resolve(Linked.self, qualifier: NodeID(index: index))
                        if let flaw = world.flaw(of: answer) { explored.fail(flaw) }
                    } catch is PropertyWorld.HookFailure where mostFailures > 0 {
                        continue
                    }
                }
            }
            _ = explored.successes(outcomes, "a request")
            if mostFailures == 0 {
                explored.expect(world.probes.allSatisfy { $0.runs == 1 }, "runs: \(world.probes.map(\.runs))")
            }
            explored.expect(world.probes.allSatisfy { $0.peak <= 1 }, "two creations at once")
            try await container.dispose()
            world.unlink()
        }
    }
}
