import AsyncDI
import Exploration

extension Scenario {
    /// The mutants of the library that survived until they had their own scenarios.
    static let survivors = [
        Scenario(name: "abandoned-is-cancelled", claim: "when the last waiter leaves, the creation is cancelled") {
            explored in
            let ends = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    await untilCancelled()
                    ends.add()
                    throw CancellationError()
                }
            }
            explored.watch(container)
            let tasks = (0..<2).map { number in
                explored.task("leaving \(number)") { try await container.resolve(Token.self) }
            }
            await pause(2)
            for task in tasks { task.cancel() }
            for task in tasks { explored.expect(await task.result.isCancellation, "no cancellation") }
            // The next request waits for the end of the cancelled creation, which only that creation can reach.
            let late = explored.task("late") { try await container.resolve(Token.self) }
            await pause(3)
            late.cancel()
            explored.expect(await late.result.isCancellation, "the late one")
        },
        Scenario(name: "others-undisturbed", claim: "a waiter that leaves cancels nothing while another one waits") {
            explored in
            let begun = Gate()
            let gate = Gate()
            let probe = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    probe.enter()
                    begun.open()
                    await gate.wait()
                    explored.expect(!Task.isCancelled, "the factory sees a cancellation")
                    try Task.checkCancellation()
                    return Token()
                }
            }
            explored.watch(container)
            let staying = explored.task("staying") { try await container.resolve(Token.self) }
            await begun.wait()
            let leaving = explored.task("leaving") { try await container.resolve(Token.self) }
            await pause()
            leaving.cancel()
            _ = await leaving.result
            gate.open()
            _ = try await staying.value
            explored.expect(probe.runs == 1, "\(probe.runs) runs")
        },
        Scenario(name: "no-false-cycle", claim: "a wait that has ended closes no cycle") { explored in
            let left = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "A", lifetime: .singleton) { r in
                    let child = Task { try await r.resolve(Token.self, qualifier: "B") }
                    await pause(2)
                    child.cancel()
                    _ = await child.result
                    left.add()
                    await pause(3)
                    return Token(1)
                }
                Registration(Token.self, qualifier: "B", lifetime: .singleton) { r in
                    await pause(4)
                    let hadLeft = left.value > 0
                    do {
                        return Token(2, holding: [try await r.resolve(Token.self, qualifier: "A")])
                    } catch ResolutionError.Code.circularDependency {
                        explored.expect(!hadLeft, "a cycle with a wait that had ended")
                        return Token(2)
                    }
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(2, of: "request") { number in
                try await container.resolve(Token.self, qualifier: number == 0 ? "A" : "B")
            }
            _ = explored.successes(outcomes, "a request")
        },
        Scenario(name: "captive-below", claim: "a singleton of a scope cannot hold an instance of a scope below") {
            explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "inner", lifetime: .scoped) { _ in
                    await pause()
                    return Token()
                }
            }
            explored.watch(container)
            let scope = try await container.openScope("scope")
            let inner = try await scope.openScope("inner")
            try await scope.register(Token.self, lifetime: .singleton) { [weak inner] _ in
                await pause()
                return Token(holding: [try await inner!.resolve(Token.self, qualifier: "inner")])
            }
            for outcome in await explored.outcomes(2, of: "request", { _ in try await inner.resolve(Token.self) }) {
                explored.expect(outcome.failed(with: .captiveDependency), "\(outcome)")
            }
            try await container.dispose()
        },
        Scenario(name: "override-between", claim: "a registration between a scope and its root takes effect at once") {
            explored in
            let settled = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in Token(0) }
            }
            explored.watch(container)
            let middle = try await container.openScope("middle")
            let scope = try await middle.openScope("scope")
            let asking = (0..<2).map { number in
                explored.task("request \(number)") {
                    for _ in 0..<3 {
                        let least = settled.value
                        let token = try await scope.resolve(Token.self)
                        explored.expect(token.number >= least, "hidden by an instance of before")
                        await pause()
                    }
                }
            }
            await pause()
            try await middle.register(Token.self, lifetime: .scoped) { _ in Token(1) }
            settled.set(1)
            for task in asking { try await task.value }
            explored.expect(try await scope.resolve(Token.self).number == 1, "not the override")
        },
        Scenario(
            name: "scope-ended-under-its-body", claim: "a scope that is disposed under its body rolls the work back"
        ) {
            explored in
            let committed = Journal<Bool>()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in Token() }
                    .onDispose { _, reason in committed.add(reason.error == nil) }
            }
            explored.watch(container)
            let outcome = await explored.task("work") {
                try await container.withScope("scope") { scope in
                    _ = try await scope.resolve(Token.self)
                    let closing = Task.detached { try await scope.dispose() }
                    await pause(2)
                    withExtendedLifetime(closing) {}
                }
            }.result
            explored.expect(committed.entries == [outcome.error == nil], "told \(outcome), was \(committed.entries)")
        },
        Scenario(name: "open-scope-cut-short", claim: "an open scope that goes with its parent rolls back") {
            explored in
            let committed = Journal<Bool>()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in Token() }
                    .onDispose { _, reason in
                        await pause()
                        committed.add(reason.error == nil)
                    }
            }
            explored.watch(container)
            let scope = try await container.openScope("scope")
            _ = try await scope.resolve(Token.self)
            let outcomes = await explored.outcomes(2, of: "closer") { _ in try await container.dispose() }
            _ = explored.successes(outcomes, "a closer")
            explored.expect(committed.entries == [false], "\(committed.entries)")
            withExtendedLifetime(scope) {}
        },
        Scenario(
            name: "leased-stays", claim: "what is leased stays in the cache, and goes when the bound asks for it later"
        ) {
            explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .multiton(capacity: 1)) { (_, key: Int) in
                    await pause()
                    return Token(key)
                }
                .onDispose { _ in await pause() }
            }
            explored.watch(container)
            let tasks = (0..<2).map { number in
                explored.task("lease \(number)") {
                    try await container.withInstance(Token.self, arguments: number) { leased in
                        await pause()
                        _ = try await container.resolve(Token.self, arguments: 7)
                        explored.expect(
                            try await container.resolve(Token.self, arguments: number) === leased,
                            "evicted under its lease")
                    }
                }
            }
            for task in tasks { try await task.value }
            explored.expect(
                await container.cachedArguments(of: Token.self, Int.self).count <= 1, "more than the capacity")
            try await container.dispose()
        },
        Scenario(name: "errors-of-a-drained-key", claim: "a drain waits for the hook, and throws what it threw") {
            explored in
            let ends = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .multiton) { (_, key: Int) in Token(key) }
                    .onDispose { _ in
                        await pause(2)
                        ends.add()
                        throw Failure(number: 1)
                    }
            }
            explored.watch(container)
            _ = try await container.resolve(Token.self, arguments: 1)
            let lease = explored.task("lease") {
                try? await container.withInstance(Token.self, arguments: 1) { _ in await pause() }
            }
            await pause()
            let outcome = await explored.task("drain") {
                try await container.drain(Token.self, arguments: 1)
            }.result
            explored.expect(ends.value >= 1, "the drain returned before the end")
            let errors = (outcome.error as? DisposalError)?.errors.count ?? 0
            explored.expect(errors == 1, "the drain: \(outcome)")
            try await lease.value
        },
        Scenario(name: "reset-by-arguments", claim: "after a reset by arguments the next one is new, the others stay") {
            explored in
            let runs = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { (_, key: Int) in Token(runs.add()) }
            }
            explored.watch(container)
            let kept = try await container.resolve(Token.self, arguments: 2)
            let old = try await container.resolve(Token.self, arguments: 1)
            let asking = explored.task("request") {
                for _ in 0..<3 {
                    _ = try await container.resolve(Token.self, arguments: 1)
                    await pause()
                }
            }
            await pause()
            try await container.reset(Token.self, arguments: 1)
            let new = try await container.resolve(Token.self, arguments: 1)
            explored.expect(new !== old, "still the old one")
            explored.expect(try await container.resolve(Token.self, arguments: 2) === kept, "another one was reset")
            try await asking.value
        },
        Scenario(name: "arguments-of-one-hash", claim: "equality decides, never the bare hash") { explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { (_, key: Colliding) in
                    await pause()
                    return Token(key.number)
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(4, of: "request") { number in
                try await container.resolve(Token.self, arguments: Colliding(number: number % 2))
            }
            let tokens = explored.successes(outcomes, "a request")
            explored.expect(tokens.map(\.number) == [0, 1, 0, 1], "\(tokens.map(\.number))")
        },
        Scenario(name: "deadline-of-nothing", claim: "a deadline that is over at once still returns") { explored in
            let gate = Gate()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in Token() }
                    .onDispose { _ in await gate.wait() }
            }
            explored.watch(container)
            _ = try await container.resolve(Token.self)
            let outcomes = await explored.outcomes(2, of: "closer") { number in
                try await container.dispose(deadline: number == 0 ? .zero : .nanoseconds(1))
            }
            for outcome in outcomes { explored.expect(outcome.error is DisposalError, "\(outcome)") }
            gate.open()
            try await container.dispose()
        },
        Scenario(
            name: "invalidated-is-disposed",
            claim: "what a reset in flight leaves behind is disposed with its container"
        ) {
            explored in
            let ledger = Ledger()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .singleton) { _ in
                    await pause(2)
                    return Tracked(in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
            }
            explored.watch(container)
            let asking = explored.task("request") { _ = try await container.resolve(Tracked.self) }
            let resetting = explored.task("reset") { try await container.reset(Tracked.self) }
            try await resetting.value
            try await asking.value
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
    ]

    private struct Colliding: Hashable, Sendable {
        let number: Int
        func hash(into hasher: inout Hasher) {}
    }
}

/// Returns only when the task is cancelled.
func untilCancelled() async {
    let gate = Gate()
    await withTaskCancellationHandler {
        await gate.wait()
    } onCancel: {
        gate.open()
    }
}
