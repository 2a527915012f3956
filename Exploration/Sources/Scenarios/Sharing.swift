import AsyncDI
import Exploration

extension Scenario {
    static let sharing = [
        Scenario(name: "created-once", claim: "concurrent requests share one creation") { explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    probe.enter()
                    await pause(2)
                    return Token()
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(6, of: "request") { _ in try await container.resolve(Token.self) }
            explored.expectSame(explored.successes(outcomes, "a request"), "the requests")
            explored.expect(probe.runs == 1, "\(probe.runs) runs")
            try await container.dispose()
        },
        Scenario(name: "arguments-are-keys", claim: "arguments are part of every key") { explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { (_, number: Int) in
                    probe.enter()
                    await pause()
                    return Token(number)
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(4, of: "request") { number in
                try await container.resolve(Token.self, arguments: number % 2)
            }
            let tokens = explored.successes(outcomes, "a request")
            explored.expect(tokens.map(\.number) == [0, 1, 0, 1], "the wrong argument: \(tokens.map(\.number))")
            explored.expectSame([tokens[0], tokens[2]], "argument 0")
            explored.expectSame([tokens[1], tokens[3]], "argument 1")
            explored.expect(probe.runs == 2, "\(probe.runs) runs")
        },
        Scenario(name: "errors-stay-yours", claim: "an error reaches every waiter, unchanged, and is not cached") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    let run = probe.enter()
                    await pause()
                    if run <= 2 { throw Failure(number: run) }
                    return Token(run)
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(4, of: "request") { _ in try await container.resolve(Token.self) }
            for outcome in outcomes {
                switch outcome {
                case .success(let token): explored.expect(token.number == 3, "an instance of run \(token.number)")
                case .failure(let error):
                    explored.expect((error as? Failure).map { $0.number <= 2 } == true, "another error: \(error)")
                }
            }
            explored.expect(probe.runs <= 3, "\(probe.runs) runs")
            let runs = probe.runs
            let last = await explored.outcomes(1, of: "last") { _ in try await container.resolve(Token.self) }[0]
            explored.expect(runs == 3 || probe.runs == runs + 1, "a failure was cached")
            explored.expect((last.value == nil) == (runs < 2), "the last request ended with \(last)")
        },
        Scenario(name: "retry-in-catch", claim: "a waiter that retries in its catch meets a new creation") { explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    let run = probe.enter()
                    await pause()
                    if run == 1 { throw Failure(number: run) }
                    return Token(run)
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "request") { _ in
                do {
                    return try await container.resolve(Token.self)
                } catch is Failure {
                    return try await container.resolve(Token.self)
                }
            }
            explored.expectSame(explored.successes(outcomes, "a retry"), "the retries")
            explored.expect(probe.runs == 2, "\(probe.runs) runs")
        },
        Scenario(name: "others-go-on", claim: "while a factory runs, nothing else waits") { explored in
            let gate = Gate()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "slow", lifetime: .singleton) { _ in
                    await gate.wait()
                    return Token(1)
                }
                Registration(Token.self, lifetime: .singleton) { _ in
                    await pause()
                    return Token(2)
                }
            }
            explored.watch(container)
            let slow = explored.task("slow") { try await container.resolve(Token.self, qualifier: "slow") }
            let other = await explored.task("other") { try await container.resolve(Token.self) }.result
            explored.expect(other.value?.number == 2, "the other: \(other)")
            gate.open()
            explored.expect(try await slow.value.number == 1, "the slow one")
        },
        Scenario(name: "graph-is-shared", claim: "within one resolution a graph instance is one, between two it is not")
        {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "leaf") { _ in
                    probe.enter()
                    await pause()
                    return Token(probe.runs)
                }
                Registration(Token.self) { r in
                    async let left = r.resolve(Token.self, qualifier: "leaf")
                    async let right = r.resolve(Token.self, qualifier: "leaf")
                    return try await Token(holding: [left, right])
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(2, of: "request") { _ in try await container.resolve(Token.self) }
            let roots = explored.successes(outcomes, "a request")
            for root in roots { explored.expectSame(root.held, "one graph") }
            explored.expect(roots[0].held[0] !== roots[1].held[0], "two graphs share an instance")
            explored.expect(probe.runs == 2, "\(probe.runs) runs")
        },
        Scenario(name: "with-graph", claim: "requests of one graph share its instances, also from child tasks") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self) { _ in
                    probe.enter()
                    await pause()
                    return Token()
                }
            }
            explored.watch(container)
            try await container.withGraph { resolver in
                async let first = resolver.resolve(Token.self)
                async let second = resolver.resolve(Token.self)
                async let third = resolver.resolve(Token.self)
                let tokens = try await [first, second, third]
                explored.expectSame(tokens, "the graph")
            }
            explored.expect(probe.runs == 1, "\(probe.runs) runs")
        },
        Scenario(name: "weak-while-held", claim: "a weak instance is shared while somebody holds it") { explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .weak) { _ in
                    probe.enter()
                    await pause()
                    return Token()
                }
            }
            explored.watch(container)
            let held = try await container.resolve(Token.self)
            let outcomes = await explored.outcomes(3, of: "request") { _ in try await container.resolve(Token.self) }
            explored.expectSame([held] + explored.successes(outcomes, "a request"), "while held")
            explored.expect(probe.runs == 1, "\(probe.runs) runs")
        },
        Scenario(name: "weak-dropped", claim: "a weak instance that nobody holds is made anew, one at a time") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .weak) { _ in
                    probe.enter()
                    defer { probe.leave() }
                    await pause()
                    return Token(probe.runs)
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "request") { _ in
                var last = 0
                for _ in 0..<2 {
                    let token = try await container.resolve(Token.self)
                    explored.expect(token.number >= last, "run \(token.number) after \(last)")
                    last = token.number
                    await pause()
                }
            }
            _ = explored.successes(outcomes, "a request")
            explored.expect(probe.peak == 1, "two creations at once")
        },
        Scenario(name: "lazy-once", claim: "a lazy value is resolved once, a provider asks each time") { explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .transient) { _ in
                    let run = probe.enter()
                    await pause()
                    return Token(run)
                }
            }
            explored.watch(container)
            let lazy = try await container.resolve(Lazy<Token>.self)
            let outcomes = await explored.outcomes(3, of: "lazy") { _ in try await lazy() }
            explored.expectSame(explored.successes(outcomes, "lazy"), "lazy")
            explored.expect(probe.runs == 1, "\(probe.runs) runs for a lazy value")
            let provider = try await container.resolve(Provider<Token>.self)
            _ = await explored.outcomes(2, of: "provider") { _ in try await provider() }
            explored.expect(probe.runs == 3, "\(probe.runs) runs after a provider")
        },
        Scenario(name: "main-actor-factory", claim: "a factory on the main actor is shared like any other") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { @MainActor _ in
                    MainActor.assertIsolated()
                    probe.enter()
                    await pause()
                    MainActor.assertIsolated()
                    return Token()
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "request") { number in
                if number == 0 { return try await Task { @MainActor in try await container.resolve(Token.self) }.value }
                return try await container.resolve(Token.self)
            }
            explored.expectSame(explored.successes(outcomes, "a request"), "the requests")
            explored.expect(probe.runs == 1, "\(probe.runs) runs")
        },
    ]
}
