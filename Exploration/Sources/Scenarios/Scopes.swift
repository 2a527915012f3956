import AsyncDI
import Exploration

extension Scenario {
    static let scopes = [
        Scenario(name: "requests-apart", claim: "requests do not see each other, with scopes in scopes") { explored in
            let container = Container(clock: explored.clock) {
                Registration(expected: Int.self)
                Registration(Token.self, lifetime: .scoped) { r in
                    await pause()
                    return Token(try await r.resolve(Int.self))
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "request") { number in
                try await container.withScope("same name") {
                    Registration(instance: number)
                } operation: { _ in
                    async let first = container.resolve(Token.self)
                    async let second = container.resolve(Token.self)
                    let tokens = try await [first, second]
                    explored.expect(tokens.allSatisfy { $0.number == number }, "\(tokens.map(\.number)) in \(number)")
                    explored.expectSame(tokens, "the request")
                    try await container.withScope("inner") {
                        Registration(instance: number + 10)
                    } operation: { _ in
                        let inner = try await container.resolve(Token.self)
                        explored.expect(inner.number == number + 10, "\(inner.number) in \(number + 10)")
                    }
                }
            }
            _ = explored.successes(outcomes, "a request")
        },
        Scenario(name: "captive", claim: "a singleton that needs a scoped service is captive, whoever asks") {
            explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "request", lifetime: .scoped) { _ in
                    await pause()
                    return Token()
                }
                Registration(Token.self, lifetime: .singleton) { r in
                    await pause()
                    return Token(holding: [try await r.resolve(Token.self, qualifier: "request")])
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "request") { number in
                try await container.withScope("scope \(number)") { scope in
                    if number == 1 { _ = try await scope.resolve(Token.self, qualifier: "request") }
                    _ = try await scope.resolve(Token.self)
                }
            }
            for outcome in outcomes { explored.expect(outcome.failed(with: .captiveDependency), "\(outcome)") }
        },
        Scenario(
            name: "with-scope-ends", claim: "withScope disposes on return, throw and cancellation, before it returns"
        ) {
            explored in
            let ledger = Ledger()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .scoped) { _ in
                    await pause()
                    return Tracked(in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
            }
            explored.watch(container)
            let tasks = (0..<3).map { number in
                explored.task("request \(number)") {
                    try await container.withScope("scope \(number)") { scope in
                        _ = try await scope.resolve(Tracked.self)
                        await pause()
                        if number == 1 { throw Failure(number: 1) }
                        try Task.checkCancellation()
                    }
                }
            }
            await pause()
            tasks[2].cancel()
            let outcomes = [await tasks[0].result, await tasks[1].result, await tasks[2].result]
            explored.expect(outcomes[0].error == nil, "\(outcomes[0])")
            explored.expect(outcomes[1].error as? Failure == Failure(number: 1), "\(outcomes[1])")
            explored.expect(outcomes[2].error == nil || outcomes[2].isCancellation, "\(outcomes[2])")
            // All three have returned: their scopes must be empty.
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(
            name: "outlives-its-scope", claim: "a task that outlives its scope is told, and what it makes is disposed"
        ) {
            explored in
            let ledger = Ledger()
            let closed = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .scoped) { _ in
                    await pause()
                    return Tracked(in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
                Registration(Token.self, lifetime: .singleton) { _ in Token(7) }
            }
            explored.watch(container)
            let left = Locked<Task<Void, any Error>?>(nil)
            try await container.withScope("scope") { scope in
                left.set(
                    explored.task("left behind") {
                        await pause()
                        let isClosed = closed.value > 0
                        do {
                            _ = try await container.resolve(Tracked.self)
                            explored.expect(!isClosed, "given after the end")
                        } catch {
                            explored.expect(ResolutionError.Code.disposed ~= error, "\(error)")
                        }
                        explored.expect(
                            try await container.resolve(Token.self).number == 7, "everything else is answered")
                    })
                await pause()
            }
            closed.add()
            let atEnd = ledger.imbalance
            explored.expect(atEnd == nil, "withScope returned early: \(atEnd ?? "")")
            try await left.current?.value
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "open-scope-once", claim: "openScope with an open key gives that scope") { explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in Token() }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "opener") { _ in
                let scope = try await container.openScope("session")
                await pause()
                return try await scope.resolve(Token.self)
            }
            explored.expectSame(explored.successes(outcomes, "an opener"), "the session")
            try await container.disposeScope("session")
            explored.expect(await container.scope("session") == nil, "still open")
        },
        Scenario(name: "parent-and-scopes", claim: "open scopes go before their parent, and nothing is left behind") {
            explored in
            let order = Journal<String>()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "root", lifetime: .singleton) { _ in Token() }
                    .onDispose { _ in order.add("root") }
                Registration(Token.self, lifetime: .scoped) { r in
                    Token(holding: [try await r.resolve(Token.self, qualifier: "root")])
                }
                .onDispose { _ in
                    await pause()
                    order.add("scope")
                }
            }
            explored.watch(container)
            let opening = (0..<2).map { number in
                explored.task("opener \(number)") {
                    do {
                        let scope = try await container.openScope(number)
                        _ = try await scope.resolve(Token.self)
                    } catch {
                        explored.expect(ResolutionError.Code.disposed ~= error, "\(error)")
                    }
                }
            }
            let closing = explored.task("closer") {
                await pause()
                try await container.dispose()
            }
            for task in opening + [closing] { try await task.value }
            let entries = order.entries
            explored.expect(!entries.dropLast().contains("root"), "the root went before a scope: \(entries)")
            let scopes = entries.count { $0 == "scope" }
            explored.expect(scopes == 0 || entries.last == "root", "what the scopes needed is left: \(entries)")
        },
        Scenario(name: "owned-ends-twice", claim: "every end of an owned scope throws the error of its commit") {
            explored in
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .scoped) { _ in Token() }
                    .onDispose { _ in
                        await pause()
                        throw Failure(number: 1)
                    }
            }
            explored.watch(container)
            let scope = try OwnedScope(in: container)
            _ = try await scope.container.resolve(Token.self)
            let outcomes = await explored.outcomes(2, of: "end") { _ in try await scope.end() }
            for outcome in outcomes { explored.expect(outcome.error as? Failure == Failure(number: 1), "\(outcomes)") }
        },
    ]
}
