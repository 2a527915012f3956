import AsyncDI
import Exploration

extension Scenario {
    static let cancellation = [
        Scenario(name: "cancelled-waiter", claim: "a cancelled waiter leaves alone") { explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    probe.enter()
                    await pause(2)
                    try Task.checkCancellation()
                    return Token()
                }
            }
            explored.watch(container)
            let tasks = (0..<3).map { number in
                explored.task("request \(number)") { try await container.resolve(Token.self) }
            }
            await pause()
            tasks[0].cancel()
            let outcomes = [await tasks[0].result, await tasks[1].result, await tasks[2].result]
            explored.expectSame(explored.successes(Array(outcomes.dropFirst()), "not cancelled"), "the others")
            explored.expect(outcomes[0].value != nil || outcomes[0].isCancellation, "cancelled: \(outcomes[0])")
        },
        Scenario(name: "prompt", claim: "a cancelled waiter does not wait for the factory") { explored in
            let gate = Gate()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    await gate.wait()
                    return Token()
                }
            }
            explored.watch(container)
            let staying = explored.task("staying") { try await container.resolve(Token.self) }
            let leaving = explored.task("leaving") { try await container.resolve(Token.self) }
            await pause()
            leaving.cancel()
            // The factory waits until the cancelled request is back: a wait for the factory would be a deadlock.
            explored.expect(await leaving.result.isCancellation, "no cancellation")
            gate.open()
            _ = try await staying.value
        },
        Scenario(
            name: "last-leaves", claim: "when the last waiter leaves, the creation is cancelled; never two at once"
        ) {
            explored in
            let probe = Probe()
            let cancelled = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    let run = probe.enter()
                    defer { probe.leave() }
                    await pause(2)
                    if Task.isCancelled {
                        cancelled.add()
                        throw CancellationError()
                    }
                    return Token(run)
                }
            }
            explored.watch(container)
            let leaving = (0..<2).map { number in
                explored.task("leaving \(number)") { try await container.resolve(Token.self) }
            }
            await pause()
            for task in leaving { task.cancel() }
            let late = await explored.outcomes(2, of: "late") { _ in try await container.resolve(Token.self) }
            let tokens = explored.successes(late, "late")
            explored.expectSame(tokens, "the late ones")
            for task in leaving {
                let outcome = await task.result
                explored.expect(outcome.isCancellation || outcome.value === tokens.first, "leaving: \(outcome)")
            }
            explored.expect(probe.peak <= 1, "two creations at once")
            explored.expect(probe.runs == cancelled.value + 1, "\(probe.runs) runs, \(cancelled.value) cancelled")
        },
        Scenario(name: "value-all-the-same", claim: "a value that comes although everybody has left is kept and shared")
        {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    let run = probe.enter()
                    await pause(2)
                    return Token(run)
                }
            }
            explored.watch(container)
            let leaving = explored.task("leaving") { try await container.resolve(Token.self) }
            await pause()
            leaving.cancel()
            let outcome = await leaving.result
            let late = try await container.resolve(Token.self)
            explored.expect(outcome.isCancellation || outcome.value === late, "leaving: \(outcome)")
            explored.expect(probe.runs == 1, "\(probe.runs) runs")
        },
        Scenario(name: "finish-when-abandoned", claim: "what is to be finished runs on when everybody has left") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    probe.enter()
                    await pause(2)
                    explored.expect(!Task.isCancelled, "the factory sees a cancellation")
                    return Token()
                }
                .whenAbandoned(.finish)
            }
            explored.watch(container)
            let leaving = (0..<2).map { number in
                explored.task("leaving \(number)") { try await container.resolve(Token.self) }
            }
            await pause()
            for task in leaving { task.cancel() }
            for task in leaving { _ = await task.result }
            let begun = probe.runs
            _ = try await container.resolve(Token.self)
            explored.expect(probe.runs == 1 && begun <= 1, "\(probe.runs) runs")
        },
        Scenario(name: "cancelled-before", claim: "a request that is cancelled before it asks starts nothing") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    probe.enter()
                    return Token()
                }
            }
            explored.watch(container)
            let gate = Gate()
            let task = explored.task("cancelled") {
                await gate.wait()
                return try await container.resolve(Token.self)
            }
            task.cancel()
            gate.open()
            explored.expect(await task.result.isCancellation, "no cancellation")
            explored.expect(probe.runs == 0, "a factory ran")
        },
        Scenario(name: "own-cancellation-error", claim: "a factory's own CancellationError is nobody's cancellation") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    let run = probe.enter()
                    await pause()
                    if run == 1 { throw CancellationError() }
                    return Token()
                }
            }
            explored.watch(container)
            for outcome in await explored.outcomes(3, of: "request", { _ in try await container.resolve(Token.self) }) {
                explored.expect(
                    outcome.value != nil || outcome.failed(with: .creationCancelled), "a request: \(outcome)")
            }
        },
        Scenario(name: "scoped-joiner", claim: "who joins a scoped creation never meets its asker's cancellation") {
            explored in
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in
                    probe.enter()
                    defer { probe.leave() }
                    await pause(2)
                    try Task.checkCancellation()
                    return Token()
                }
            }
            explored.watch(container)
            try await container.withScope("request") { scope in
                let leaving = explored.task("leaving") { try await scope.resolve(Token.self) }
                let staying = (0..<2).map { number in
                    explored.task("staying \(number)") { try await scope.resolve(Token.self) }
                }
                await pause()
                leaving.cancel()
                _ = await leaving.result
                let outcomes = [await staying[0].result, await staying[1].result]
                explored.expectSame(explored.successes(outcomes, "staying"), "the scope")
            }
            explored.expect(probe.peak <= 1, "two creations at once")
        },
        Scenario(name: "chain-abandoned", claim: "an abandoned creation abandons what it waits for, and nobody else's")
        {
            explored in
            let probes = [Probe(), Probe()]
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .multiton) { (r, number: Int) in
                    probes[number].enter()
                    defer { probes[number].leave() }
                    if number == 1 { return try await Token(1, holding: [r.resolve(Token.self, arguments: 0)]) }
                    await pause(2)
                    try Task.checkCancellation()
                    return Token(0)
                }
            }
            explored.watch(container)
            let leaving = explored.task("leaving") { try await container.resolve(Token.self, arguments: 1) }
            let staying = explored.task("staying") { try await container.resolve(Token.self, arguments: 0) }
            await pause()
            leaving.cancel()
            explored.expect(try await staying.value.number == 0, "staying")
            let late = try await container.resolve(Token.self, arguments: 1)
            explored.expect(try await late.held[0] === staying.value, "another instance")
            explored.expect(probes.allSatisfy { $0.peak <= 1 }, "two creations of one key at once")
            _ = await leaving.result
        },
        Scenario(
            name: "using-cancelled", claim: "dependencies of an initializer that are resolved together fail together"
        ) {
            explored in
            let container = Container(clock: explored.clock) {
                Registration(Left.self, lifetime: .singleton) { _ in
                    await pause(2)
                    return Left()
                }
                Registration(Right.self, lifetime: .singleton) { _ in
                    await pause()
                    throw Failure(number: 1)
                }
                Registration(using: Pair.init, lifetime: .singleton)
            }
            explored.watch(container)
            for outcome in await explored.outcomes(2, of: "request", { _ in try await container.resolve(Pair.self) }) {
                explored.expect(outcome.error as? Failure == Failure(number: 1), "a request: \(outcome)")
            }
            _ = try await container.resolve(Left.self)
        },
    ]

    private final class Left: Sendable {}
    private final class Right: Sendable {}
    private final class Pair: Sendable {
        init(left: Left, right: Right) {}
    }
}
