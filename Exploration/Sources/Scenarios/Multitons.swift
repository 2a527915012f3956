import AsyncDI
import Exploration

extension Scenario {
    static let multitons = [
        Scenario(name: "lease-against-eviction", claim: "nothing is disposed under a lease") { explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton(capacity: 1), ledger)
            let tasks = (0..<3).map { number in
                explored.task("lease \(number)") { try await hold(container, number % 2, explored) }
            }
            for task in tasks { try await task.value }
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "lease-against-disposal", claim: "a disposal waits for the leases, and disposes once") {
            explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton, ledger)
            let tasks = (0..<2).map { number in
                explored.task("lease \(number)") {
                    do {
                        try await hold(container, 0, explored)
                    } catch {
                        explored.expect(ResolutionError.Code.disposed ~= error, "\(error)")
                    }
                }
            }
            let closing = explored.task("closer") {
                await pause()
                try await container.dispose()
                explored.expect(ledger.imbalance == nil, "returned before the end: \(ledger.imbalance ?? "")")
            }
            for task in tasks + [closing] { try await task.value }
        },
        Scenario(
            name: "lease-against-reset", claim: "a reset or replacement leaves a leased instance alone until the end"
        ) {
            explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton, ledger)
            // An instance in flight would reach its waiters at the same time as its successor.
            _ = try await container.resolve(Pool.self, arguments: 0)
            let tasks = (0..<2).map { number in
                explored.task("lease \(number)") { try await hold(container, 0, explored) }
            }
            let resetting = explored.task("reset") {
                await pause()
                try await container.reset(Pool.self, arguments: 0)
            }
            for task in tasks + [resetting] { try await task.value }
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "lease-cancelled", claim: "a lease that is cancelled ends once, and holds nothing up") {
            explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton(capacity: 1), ledger)
            let tasks = (0..<2).map { number in
                explored.task("lease \(number)") { try await hold(container, number, explored) }
            }
            await pause()
            tasks[0].cancel()
            let outcome = await tasks[0].result
            explored.expect(outcome.error == nil || outcome.isCancellation, "\(outcome)")
            try await tasks[1].value
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "idle-time", claim: "what was idle is evicted, what is leased is not") { explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton(idle: .seconds(10)), ledger)
            let tasks = (0..<2).map { number in
                explored.task("lease \(number)") {
                    for _ in 0..<2 {
                        try await hold(container, 0, explored) { try await explored.clock.sleep(for: .seconds(6)) }
                        try await explored.clock.sleep(for: .seconds(number == 0 ? 3 : 15))
                    }
                }
            }
            for task in tasks { try await task.value }
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "idle-is-evicted", claim: "an idle instance goes in time, whoever asked before") { explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton(idle: .seconds(10)), ledger)
            let tasks = (0..<2).map { number in
                explored.task("request \(number)") { _ = try await container.resolve(Pool.self, arguments: number) }
            }
            for task in tasks { try await task.value }
            // Time may pass before the eviction can run, but not indefinitely.
            for _ in 0..<100 where await !container.cachedArguments(of: Pool.self, Int.self).isEmpty {
                try await explored.clock.sleep(for: .seconds(60))
            }
            explored.expect(await container.cachedArguments(of: Pool.self, Int.self).isEmpty, "still cached")
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "least-recently-used", claim: "with room for two, only what nobody uses goes") { explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton(capacity: 2), ledger)
            let outcomes = await explored.outcomes(3, of: "request") { number in
                _ = try await container.resolve(Pool.self, arguments: number)
                await pause()
                let cached = await container.cachedArguments(of: Pool.self, Int.self)
                explored.expect(cached.count <= 2, "more than the capacity: \(cached)")
            }
            _ = explored.successes(outcomes, "a request")
            explored.expect(ledger.made == 3, "\(ledger.made) made")
            // As the most recently used instance, it stays when another one is created.
            let cached = await container.cachedArguments(of: Pool.self, Int.self).sorted()
            let kept = try await container.resolve(Pool.self, arguments: cached[0])
            _ = try await container.resolve(Pool.self, arguments: 9)
            explored.expect(try await container.resolve(Pool.self, arguments: cached[0]) === kept, "the used one went")
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(
            name: "drain-one-key", claim: "draining one key lets its leases end, and others wait for the successor"
        ) {
            explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton, ledger)
            // For the same reason as above.
            _ = try await container.resolve(Pool.self, arguments: 0)
            let tasks = (0..<2).map { number in
                explored.task("lease \(number)") { try await hold(container, 0, explored) }
            }
            let draining = explored.task("drain") {
                await pause()
                try await container.drain(Pool.self, arguments: 0)
            }
            for task in tasks + [draining] { try await task.value }
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "factory-lease", claim: "a lease in a factory lasts as long as the instance that it made") {
            explored in
            let ledger = Ledger()
            let container = pools(explored, .multiton(capacity: 1), ledger)
            try await container.register(Session.self, lifetime: .scoped) { r in
                Session(pool: try await r.lease(Pool.self, arguments: 0))
            }
            let tasks = (0..<2).map { number in
                explored.task("request \(number)") {
                    try await container.withScope("request \(number)") { scope in
                        let session = try await scope.resolve(Session.self)
                        await pause()
                        explored.expect(!session.pool.isDisposed, "disposed under its session")
                    }
                }
            }
            let evicting = explored.task("other") { _ = try await container.resolve(Pool.self, arguments: 1) }
            for task in tasks + [evicting] { try await task.value }
            try await container.dispose()
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(name: "weak-multiton", claim: "a weak multiton shares what is held, by key") { explored in
            let probes = [Probe(), Probe()]
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .multiton(weak: true)) { (_, key: Int) in
                    probes[key].enter()
                    defer { probes[key].leave() }
                    await pause()
                    return Token(key)
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(4, of: "request") { number in
                try await container.resolve(Token.self, arguments: number % 2)
            }
            let tokens = explored.successes(outcomes, "a request")
            explored.expectSame([tokens[0], tokens[2]], "0")
            explored.expectSame([tokens[1], tokens[3]], "1")
            explored.expect(probes.allSatisfy { $0.runs == 1 }, "made again while held")
        },
    ]

    /// A pool that records whether it was disposed.
    private final class Pool: Sendable {
        let tracked: Tracked
        private let end = Counter()
        init(_ key: Int, in ledger: Ledger) { tracked = Tracked(tag: key, in: ledger) }
        var isDisposed: Bool { end.value > 0 }
        func dispose() async {
            end.add()
            await tracked.dispose(yielding: 1)
        }
    }

    private final class Session: Sendable {
        let pool: Pool
        init(pool: Pool) { self.pool = pool }
    }

    /// A container of pools by number; two of one number must not be open at once.
    private static func pools(_ explored: Explored, _ lifetime: Lifetime, _ ledger: Ledger) -> Container {
        let open = Locked<[Int: Int]>([:])
        return Container(clock: explored.clock) {
            Registration(Pool.self, lifetime: lifetime) { (_, key: Int) in
                let count = open.withLock { open in
                    open[key, default: 0] += 1
                    return open[key]!
                }
                explored.expect(count == 1, "\(count) pools of key \(key) at once")
                await pause()
                return Pool(key, in: ledger)
            }
            .onDispose { pool in
                await pool.dispose()
                open.withLock { $0[pool.tracked.tag]! -= 1 }
            }
            .whenAbandoned(.finish)
        }
    }

    private static func hold(
        _ container: Container, _ key: Int, _ explored: Explored,
        _ body: @Sendable () async throws -> Void = { await pause() }
    ) async throws {
        try await container.withInstance(Pool.self, arguments: key) { pool in
            explored.expect(!pool.isDisposed, "disposed before its lease")
            try await body()
            explored.expect(!pool.isDisposed, "disposed under its lease")
        }
    }
}
