import AsyncDI
import Exploration

extension Scenario {
    static let disposal = [
        Scenario(name: "disposal-order", claim: "instances are disposed in the reverse order of completion, each once")
        {
            explored in
            // The events of the container, and the observations of requests, factories and hooks.
            let told = Told()
            let seen = Journal<Step>()
            let container = Container(observers: [told], clock: explored.clock) {
                for number in 0..<3 {
                    Registration(Token.self, qualifier: NodeID(index: number), lifetime: .singleton) { r in
                        await pause()
                        if number == 2 {
                            _ = try await r.resolve(Token.self, qualifier: NodeID(index: 0))
                            seen.add(.given(0))
                        }
                        seen.add(.made(number))
                        return Token(number)
                    }
                    .onDispose { token in
                        await pause()
                        seen.add(.disposed(token.number))
                    }
                }
            }
            explored.watch(container)
            let outcomes = await explored.outcomes(3, of: "request") { number in
                _ = try await container.resolve(Token.self, qualifier: NodeID(index: number))
                seen.add(.given(number))
            }
            _ = explored.successes(outcomes, "a request")
            try await container.dispose()
            let disposed = seen.entries.compactMap { if case .disposed(let number) = $0 { number } else { nil } }
            explored.expect(disposed.reversed() == told.completed, "completed \(told.completed), disposed \(disposed)")
            // An instance that was given before another one was made was completed before it.
            for (earlier, later) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
                guard let given = seen.entries.firstIndex(of: .given(earlier)),
                    let made = seen.entries.firstIndex(of: .made(later)), given < made
                else { continue }
                explored.expect(
                    disposed.firstIndex(of: later)! < disposed.firstIndex(of: earlier)!, "\(seen.entries)")
            }
        },
        Scenario(name: "dispose-against-resolve", claim: "closers against resolvers dispose everything once") {
            explored in
            let ledger = Ledger()
            let closed = Counter()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .singleton) { _ in
                    await pause()
                    return Tracked(in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
                Registration(Tracked.self, lifetime: .multiton) { (r, key: Int) in
                    _ = try await r.resolve(Tracked.self)
                    return Tracked(tag: key, in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
            }
            explored.watch(container)
            let asking = (0..<2).map { number in
                explored.task("request \(number)") {
                    let isClosed = closed.value > 0
                    do {
                        _ = try await container.resolve(Tracked.self, arguments: number)
                        explored.expect(!isClosed, "given after the end")
                    } catch {
                        explored.expect(ResolutionError.Code.disposed ~= error, "\(error)")
                    }
                }
            }
            let closing = (0..<2).map { number in
                explored.task("closer \(number)") {
                    await pause(number)
                    try await container.dispose()
                    explored.expect(ledger.imbalance == nil, "returned before the end: \(ledger.imbalance ?? "")")
                    closed.add()
                }
            }
            for task in closing + asking { try await task.value }
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        Scenario(
            name: "errors-of-hooks", claim: "one hook that throws does not stop the rest; all errors come together"
        ) {
            explored in
            let disposed = Counter()
            let container = Container(clock: explored.clock) {
                for number in 0..<3 {
                    Registration(Token.self, qualifier: NodeID(index: number), lifetime: .singleton) { _ in
                        Token(number)
                    }
                    .onDispose { token in
                        await pause()
                        disposed.add()
                        if token.number != 1 { throw Failure(number: token.number) }
                    }
                }
            }
            explored.watch(container)
            for number in 0..<3 { _ = try await container.resolve(Token.self, qualifier: NodeID(index: number)) }
            let outcomes = await explored.outcomes(2, of: "closer") { _ in try await container.dispose() }
            for outcome in outcomes {
                let errors = (outcome.error as? DisposalError)?.errors.compactMap { ($0 as? Failure)?.number } ?? []
                explored.expect(outcome.value != nil || errors == [2, 0], "a closer: \(outcome)")
            }
            explored.expect(outcomes.contains { $0.error != nil }, "nobody got the errors")
            explored.expect(disposed.value == 3, "\(disposed.value) hooks")
        },
        Scenario(name: "dispose-in-cancelled-task", claim: "disposal runs to its end also in a cancelled task") {
            explored in
            let ledger = Ledger()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .singleton) { _ in Tracked(in: ledger) }
                    .onDispose { tracked in
                        explored.expect(!Task.isCancelled, "the hook sees a cancellation")
                        await tracked.dispose(yielding: 2)
                    }
            }
            explored.watch(container)
            _ = try await container.resolve(Tracked.self)
            let closing = explored.task("closer") {
                try await container.dispose()
                explored.expect(ledger.imbalance == nil, "returned before the end")
            }
            await pause()
            closing.cancel()
            try await closing.value
        },
        Scenario(name: "deadline", claim: "a disposal with a deadline returns, and names what has not ended") {
            explored in
            let gate = Gate()
            let container = Container(clock: explored.clock) {
                Registration(Token.self, lifetime: .singleton) { _ in Token() }
                    .onDispose { _ in await gate.wait() }
            }
            explored.watch(container)
            _ = try await container.resolve(Token.self)
            let outcome = await explored.task("closer") { try await container.dispose(deadline: .seconds(1)) }.result
            let late = (outcome.error as? DisposalError)?.errors.contains {
                ResolutionError.Code.disposalTimedOut ~= $0
            }
            explored.expect(late == true, "the closer: \(outcome)")
            gate.open()
            try await container.dispose()
        },
        Scenario(
            name: "creation-in-flight", claim: "a creation in flight is cancelled, awaited, and its instance disposed"
        ) {
            explored in
            let ledger = Ledger()
            let running = Probe()
            let container = Container(clock: explored.clock) {
                Registration(Tracked.self, lifetime: .singleton) { _ in
                    running.enter()
                    defer { running.leave() }
                    await pause(2)
                    return Tracked(in: ledger)
                }
                .onDispose { await $0.dispose() }
            }
            explored.watch(container)
            let asking = explored.task("request") { try await container.resolve(Tracked.self) }
            let closing = explored.task("closer") {
                try await container.dispose()
                explored.expect(ledger.imbalance == nil, "returned before the end: \(ledger.imbalance ?? "")")
            }
            try await closing.value
            let outcome = await asking.result
            explored.expect(outcome.value != nil || outcome.failed(with: .disposed), "the request: \(outcome)")
            explored.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
        },
        work("work-rolled-back", "a container that is disposed under a body rolls its work back") { container, _ in
            await pause()
            try? await container.dispose()
        },
        work("work-drained", "bodies that run end undisturbed when the container is drained") { container, _ in
            await pause()
            try? await container.drain()
        },
        work("work-cancelled", "work is whole or undone, whatever cuts it short") { container, tasks in
            await pause()
            for task in tasks { task.cancel() }
            try? await container.drain(deadline: .seconds(1))
        },
    ]

    /// An observation of an instance: of its factory, a request, or its hook.
    private enum Step: Equatable, Sendable {
        case made(Int)
        case given(Int)
        case disposed(Int)
    }

    /// The numbers of completed instances: the container notes each in the step that completes it.
    private final class Told: ContainerObserver {
        private let journal = Journal<Int>()
        var completed: [Int] { journal.entries }
        var wantedEvents: ContainerEvent.Kinds { [.created] }

        func container(_ container: Container, did event: ContainerEvent) {
            if case .created(let key, _, _) = event, let name = key.qualifier as? NodeID { journal.add(name.index) }
        }
    }

    /// Units of work in separate scopes, each of which is committed or rolled back, as its caller learns.
    private static func work(
        _ name: String, _ claim: String,
        _ interruption: @escaping @Sendable (Container, [Task<Void, any Error>]) async -> Void
    ) -> Scenario {
        let drains = name == "work-drained"
        return Scenario(name: name, claim: claim) { explored in
            let ends = Journal<(job: Int, committed: Bool)>()
            let begun = Journal<Int>()
            let container = Container(clock: explored.clock) {
                Registration(expected: Int.self)
                Registration(Token.self, lifetime: .scoped) { r in
                    let job = try await r.resolve(Int.self)
                    begun.add(job)
                    return Token(job)
                }
                .onDispose { unit, reason in
                    await pause()
                    ends.add((unit.number, reason.error == nil))
                }
            }
            explored.watch(container)
            let bodies = Counter()
            let tasks = (0..<2).map { job in
                explored.task("job \(job)") {
                    try await container.withScope("job \(job)") {
                        Registration(instance: job)
                    } operation: { _ in
                        bodies.add()
                        _ = try await container.resolve(Token.self)
                        await pause()
                        if job == 1 { try Task.checkCancellation() }
                    }
                }
            }
            let interrupting = explored.task("interruption") { await interruption(container, tasks) }
            var outcomes: [Result<Void, any Error>] = []
            for task in tasks { outcomes.append(await task.result) }
            _ = await interrupting.result
            for (job, outcome) in outcomes.enumerated() {
                let mine = ends.entries.filter { $0.job == job }
                let wasBegun = begun.entries.contains(job)
                explored.expect(mine.count == (wasBegun ? 1 : 0), "job \(job) ended \(mine.count) times")
                explored.expect(
                    mine.allSatisfy { $0.committed == (outcome.error == nil) },
                    "job \(job) is told \(outcome), and was \(mine)")
            }
            if drains {
                // Admitted callers are not disturbed.
                explored.expect(
                    ends.entries.allSatisfy(\.committed), "rolled back by a drain: \(ends.entries), \(outcomes)")
                explored.expect(
                    outcomes.count { $0.error == nil } == bodies.value, "\(bodies.value) bodies, \(outcomes)")
            }
        }
    }
}
