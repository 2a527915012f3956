import AsyncDI
import Exploration

private protocol Holding: Sendable {}
extension Tracked: Holding {}

extension Scenario {
    static let starting = [
        Scenario(name: "start-makes-each-once", claim: "start makes every eager service once, beside requests for them")
        {
            explored in
            let probes = (0..<3).map { _ in Probe() }
            let container = Container(clock: explored.clock) {
                for number in 0..<3 {
                    Registration(Token.self, qualifier: NodeID(index: number), lifetime: .singleton) { r in
                        probes[number].enter()
                        await pause()
                        let below =
                            number == 0 ? [] : [try await r.resolve(Token.self, qualifier: NodeID(index: number - 1))]
                        return Token(number, holding: below)
                    }
                    .eager()
                }
            }
            explored.watch(container)
            let starting = (0..<2).map { number in
                explored.task("start \(number)") { _ = try await container.start() }
            }
            let asking = explored.task("request") {
                _ = try await container.resolve(Token.self, qualifier: NodeID(index: 1))
            }
            for task in starting + [asking] { try await task.value }
            explored.expect(probes.allSatisfy { $0.runs == 1 }, "\(probes.map(\.runs)) runs")
            for number in 0..<3 {
                explored.expect(
                    (try? container.ready(Token.self, qualifier: NodeID(index: number))) != nil, "not ready")
            }
        },
        Scenario(name: "start-fails", claim: "a start that fails cancels the others, and can be repeated") { explored in
            let runs = Counter()
            let slow = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, qualifier: "broken", lifetime: .singleton) { _ in
                    await pause()
                    if runs.add() == 1 { throw Failure(number: 1) }
                    return Token(1)
                }
                .eager()
                Registration(Token.self, qualifier: "slow", lifetime: .singleton) { _ in
                    slow.enter()
                    defer { slow.leave() }
                    await pause(2)
                    return Token(2)
                }
                .eager()
            }
            explored.watch(container)
            let first = await explored.task("first start") { _ = try await container.start() }.result
            explored.expect(first.error as? Failure == Failure(number: 1), "the first start: \(first)")
            let report = try await container.start()
            explored.expect(report.services.count >= 1, "the report lacks what was made")
            explored.expect(runs.value == 2 && slow.peak == 1, "\(runs.value) runs, \(slow.peak) at once")
            try await container.dispose()
        },
        Scenario(
            name: "start-fails-beside-decorations",
            claim: "no request waits for a decoration of what a failed start has disposed", worlds: 2
        ) { explored in
            let ledger = Ledger()
            let isDecoratedAbove = explored.dataSeed % 2 == 0
            let decoration = Decoration((any Holding).self) { _, inner in Wrapped(inner: inner) }
            let root = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .scoped) { _ in
                    await pause()
                    return Tracked(in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
                .implements((any Holding).self)
                .eager()
                if isDecoratedAbove { decoration }
            }
            let child = Container(parent: root, clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in
                    await pause(2)
                    throw Failure(number: 1)
                }
                .eager()
                if !isDecoratedAbove { decoration }
            }
            explored.watch(child)
            let start = explored.task("start") { _ = try await child.start() }
            let request = explored.task("request") { _ = try await child.resolve((any Holding).self) }
            let outcome = await start.result
            explored.expect(outcome.error as? Failure == Failure(number: 1), "the start: \(outcome)")
            try await request.value
            _ = try await child.resolve(Tracked.self)
            _ = try await child.resolve((any Holding).self)
            try await child.dispose()
            explored.expect(ledger.imbalance == nil, "\(ledger.imbalance ?? "")")
        },
        Scenario(name: "start-against-dispose", claim: "a start that a disposal meets ends, and leaves nothing") {
            explored in
            let ledger = Ledger()
            let container = Container(clock: explored.clock) {
                for number in 0..<2 {
                    Registration(Tracked.self, qualifier: NodeID(index: number), lifetime: .singleton) { _ in
                        await pause()
                        return Tracked(in: ledger)
                    }
                    .onDispose { await $0.dispose(yielding: 1) }
                    .eager()
                }
            }
            explored.watch(container)
            let starting = explored.task("start") { _ = try await container.start() }
            let closing = explored.task("closer") {
                await pause()
                try await container.dispose()
                explored.expect(ledger.imbalance == nil, "returned before the end: \(ledger.imbalance ?? "")")
            }
            try await closing.value
            let outcome = await starting.result
            explored.expect(outcome.error == nil || outcome.failed(with: .disposed), "the start: \(outcome)")
        },
        Scenario(name: "modules-load-once", claim: "modules are loaded once, before the first resolution returns") {
            explored in
            let loads = Counter()
            let loaded = Counter()
            let container = Container(clock: explored.clock) { Loading(loads: loads, loaded: loaded) }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "request") { number in
                if number == 0 { try await container.start() }
                _ = try await container.resolve(Token.self)
                explored.expect(loaded.value == 1, "resolved before the module was loaded")
            }
            _ = explored.successes(outcomes, "a request")
            explored.expect(loads.value == 1, "\(loads.value) loads")
        },
    ]

    private struct Wrapped: Holding {
        let inner: any Holding
    }

    private struct Loading: Module {
        let loads: Counter
        let loaded: Counter

        var registrations: Registrations {
            Registration(Token.self, lifetime: .singleton) { _ in
                await pause()
                return Token()
            }
        }

        func loaded(_ resolver: Resolver) async throws {
            loads.add()
            _ = try await resolver.resolve(Token.self)
            await pause()
            loaded.add()
        }
    }
}
