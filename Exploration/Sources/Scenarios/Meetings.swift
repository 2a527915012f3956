import AsyncDI
import Exploration

extension Scenario {
    /// Two tasks and one hand-over, to be explored inside steps: few places where the tasks can meet.
    static let meetings = [
        Scenario(
            name: "replaced-is-not-run",
            claim: "a replacement between a look-up and its creation does not run the old factory again"
        ) { explored in
            let runs = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in Token(runs.add()) }
            }
            explored.watch(container)
            // The second request of a scoped instance takes the lock, because only the second one publishes it.
            _ = try await container.resolve(Token.self)
            let asking = explored.task("request") { _ = try await container.resolve(Token.self) }
            let replacing = explored.task("replacement") {
                try await container.register(Token.self, lifetime: .scoped) { _ in Token(-1) }
            }
            try await asking.value
            try await replacing.value
            explored.expect(runs.value == 1, "\(runs.value) runs of the old factory")
        },
        Scenario(name: "nothing-begins-at-the-end", claim: "no factory begins when a disposal has come to its hooks") {
            explored in
            let ended = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    explored.expect(ended.value == 0, "a factory begins after the creations were drained")
                    return Token()
                }
                // With it, the disposal takes more than one step.
                Registration(Token.self, qualifier: "other", lifetime: .singleton) { _ in Token() }
                    .onDispose { _ in
                        ended.add()
                        await pause()
                    }
            }
            explored.watch(container)
            _ = try await container.resolve(Token.self, qualifier: "other")
            let asking = explored.task("request") { try await container.resolve(Token.self) }
            let closing = explored.task("closer") { try await container.dispose() }
            try await closing.value
            let outcome = await asking.result
            explored.expect(outcome.error == nil || outcome.failed(with: .disposed), "the request: \(outcome)")
        },
        Scenario(name: "one-scope-of-a-key", claim: "two that open a scope with one key get the same one") {
            explored in
            let container = Container(clock: explored.clock)
            explored.watch(container)
            let outcomes = await explored.outcomes(2, of: "opener") { _ in try await container.openScope("session") }
            let scopes = explored.successes(outcomes, "an opener")
            explored.expect(scopes.first === scopes.last, "two scopes of one key")
        },
        Scenario(
            name: "stopped-at-its-launch", claim: "a disposal also cancels a creation that is only just being launched"
        ) { explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    await untilCancelled()
                    throw CancellationError()
                }
            }
            explored.watch(container)
            let asking = explored.task("request") { try await container.resolve(Token.self) }
            let closing = explored.task("closer") { try await container.dispose() }
            try await closing.value
            let outcome = await asking.result
            explored.expect(outcome.failed(with: .disposed), "the request: \(outcome)")
        },
        Scenario(name: "deadline-before-the-wait", claim: "a deadline that passes before the wait begins ends it") {
            explored in
            let gate = Gate()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in Token() }
                    .onDispose { _ in await gate.wait() }
            }
            explored.watch(container)
            _ = try await container.resolve(Token.self)
            let outcome = await explored.task("closer") { try await container.dispose(deadline: .zero) }.result
            explored.expect(outcome.error is DisposalError, "the closer: \(outcome)")
            gate.open()
            try await container.dispose()
        },
        Scenario(name: "start-reports-what-it-made", claim: "the report of a start has every service that it made") {
            explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    await pause()
                    return Token()
                }
                .eager()
            }
            explored.watch(container)
            let report = try await container.start()
            explored.expect(report.services.count == 1, "the report lacks the service")
        },
        cutShort("cut-short-is-told", deadline: nil),
        // With a deadline, the disposal ends the creation in a task of its own.
        cutShort("cut-short-by-a-deadline", deadline: .seconds(3_600)),
        Scenario(name: "stored-once", claim: "after a reset, requests share one creation, also in one storage") {
            explored in
            let storage = StrongStorage()
            let lifetime = Lifetime("kept", storage: { storage })
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: lifetime) { _ in
                    await pause()
                    return Token()
                }
                .onDispose { _ in }
            }
            explored.watch(container)
            let first = explored.task("first") { _ = try await container.resolve(Token.self) }
            let others = explored.task("others") {
                try await container.reset(lifetime)
                let later = await explored.outcomes(2, of: "later") { _ in try await container.resolve(Token.self) }
                explored.expectSame(explored.successes(later, "later"), "after the reset")
            }
            try await first.value
            try await others.value
            try await container.dispose()
        },
        Scenario(name: "storage-cleared", claim: "a disposal leaves nothing in a storage") { explored in
            let storage = StrongStorage()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: Lifetime("kept", storage: { storage })) { _ in Token() }
            }
            explored.watch(container)
            let request = explored.task("request") { try await container.resolve(Token.self) }
            try await container.dispose()
            let outcome = await request.result
            explored.expect(outcome.value != nil || outcome.failed(with: .disposed), "\(outcome)")
            explored.expect(storage.load() == nil, "the storage keeps an instance")
        },
        Scenario(name: "many-whole", claim: "a collection is whole, or its request is refused") { explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in Token(1) }.intoMany(key: 1)
            }
            explored.watch(container)
            let request = explored.task("request") { try await container.resolveMany(Token.self).count }
            try await container.dispose()
            let outcome = await request.result
            explored.expect(outcome.value == 1 || outcome.failed(with: .disposed), "\(outcome)")
        },
        Scenario(name: "prewarm-against-dispose", claim: "a prewarm makes everything, or is refused") { explored in
            let made = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    made.add()
                    return Token()
                }
            }
            explored.watch(container)
            let prewarm = explored.task("prewarm") { try await container.prewarm() }
            try await container.dispose()
            let outcome = await prewarm.result
            explored.expect(made.value == 1 || outcome.failed(with: .disposed), "\(outcome), \(made.value) made")
        },
    ]

    private static func cutShort(_ name: String, deadline: Duration?) -> Scenario {
        Scenario(name: name, claim: "what a creation makes under a disposal is told so, and reaches no request") {
            explored in
            let reasons = Journal<Bool>()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    await pause(2)
                    return Token()
                }
                .onDispose { _, reason in reasons.add(reason.error == nil) }
            }
            explored.watch(container)
            let asking = explored.task("request") { try await container.resolve(Token.self) }
            let closing = explored.task("closer") {
                if let deadline {
                    try await container.dispose(deadline: deadline)
                } else {
                    try await container.dispose()
                }
            }
            // Time may pass the deadline at any moment.
            _ = await closing.result
            try await container.dispose()
            let outcome = await asking.result
            explored.expect(
                reasons.entries.allSatisfy { $0 == (outcome.error == nil) }, "told \(outcome), was \(reasons.entries)")
        }
    }
}
