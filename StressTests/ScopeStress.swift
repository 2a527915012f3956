import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ScopeStress {
    private struct RequestID: Hashable, Sendable {
        let number: Int
    }

    /// The instances that a request creates each time, from shared ones.
    private final class Handler: Sendable {
        let context: Tracked
        init(context: Tracked) { self.context = context }
    }

    private static func application(ledger: Ledger) -> Container {
        Container {
            Registration(expected: RequestID.self)
            Registration(Tracked.self, lifetime: .scoped) { resolver in
                let request: RequestID = try await resolver.resolve()
                await Task.yield()
                return Tracked(tag: request.number, in: ledger)
            }
            .onDispose { await $0.dispose(yielding: 1) }
            Registration(Handler.self, lifetime: .transient) { resolver in
                Handler(context: try await resolver.resolve())
            }
        }
    }

    @Test
    func `thousands of requests at once, with scopes in scopes, each see their own`() async throws {
        let count = Stress.count(5_000)
        let ledger = Ledger()
        let application = Self.application(ledger: ledger)
        let everybody = Rendezvous(of: count)
        let complaints = Complaints()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        try await Self.serve(
                            number, application: application, everybody: everybody, complaints: complaints)
                    } catch {
                        complaints.add("\(number): \(error)")
                        everybody.arrive()
                    }
                }
            }
        }
        #expect(complaints.isEmpty, "\(complaints.summary)")
        // One for the request, one for the nested scope, and in every third request one further down.
        #expect(ledger.made == count * 2 + (count + 2) / 3)
        #expect(ledger.imbalance == nil)
        let isEmpty = await eventually { ledger.live == 0 }
        #expect(isEmpty, "\(ledger.live) live on")
        for number in 0..<min(count, 100) {
            let scope = await application.scope(number)
            #expect(scope == nil)
        }
        try await application.dispose()
    }

    private static func serve(
        _ number: Int, application: Container, everybody: Rendezvous, complaints: Complaints
    ) async throws {
        try await application.withScope(
            number, registrations: { Registration(RequestID.self, instance: RequestID(number: number)) }
        ) { scope in
            let mine = try await application.resolve(Tracked.self)
            complaints.expect(mine.tag == number, "\(number) got \(mine.tag)")
            // From here on all requests are open at the same time.
            await everybody.arriveAndWait()
            async let first = application.resolve(Tracked.self)
            async let second = application.resolve(Handler.self)
            async let third = scope.resolve(Tracked.self)
            let answers = try await [first, second.context, third]
            complaints.expect(answers.allSatisfy { $0 === mine }, "\(number): a child task got another one")

            try await scope.withScope("nested") { nested in
                let inner = try await application.resolve(Tracked.self)
                complaints.expect(inner !== mine && inner.tag == number, "\(number): nested got \(inner.tag)")
                let answers = try await withThrowingTaskGroup(of: Tracked.self) { group in
                    // The innermost scope answers, whichever container above it is asked.
                    for container in [application, scope, nested] {
                        group.addTask { try await container.resolve(Tracked.self) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                complaints.expect(answers.allSatisfy { $0 === inner }, "\(number): nested is not shared")
                guard number.isMultiple(of: 3) else { return }
                try await nested.withScope { _ in
                    let innermost = try await application.resolve(Handler.self).context
                    complaints.expect(innermost !== inner && innermost.tag == number, "\(number): innermost")
                }
            }
            let again = try await application.resolve(Tracked.self)
            complaints.expect(again === mine, "\(number): the nested scope is still the current one")
        }
    }

    private struct Refused: Error {}

    /// A request's service that receives the reason of the request's end.
    private final class Audit: Sendable {
        let tracked: Tracked
        let reasons: Reasons
        init(tracked: Tracked, reasons: Reasons) {
            self.tracked = tracked
            self.reasons = reasons
        }
    }

    private final class Reasons: Sendable {
        let errors = Locked<[(any Error)?]>([])
        let ledger = Ledger()
    }

    @Test
    func `a request ends whole wherever it is cancelled or throws`() async {
        await forEachSeed(60) { seed in
            let count = 60
            let complaints = Complaints()
            let application = Container {
                Registration(Audit.self, lifetime: .scoped) { resolver in
                    let reasons: Reasons = try await resolver.resolve()
                    await Task.yield()
                    return Audit(tracked: Tracked(in: reasons.ledger), reasons: reasons)
                }
                .onDispose { audit, reason in
                    audit.reasons.errors.withLock { $0.append(reason.error) }
                    await audit.tracked.dispose(yielding: 3)
                }
                Registration(Tracked.self, lifetime: .scoped) { resolver in
                    let reasons: Reasons = try await resolver.resolve()
                    for _ in 0..<(seed % 10) { await Task.yield() }
                    if seed.isMultiple(of: 2) { try Task.checkCancellation() }
                    return Tracked(in: reasons.ledger)
                }
                .onDispose { await $0.dispose(yielding: 2) }
            }
            let requests = (0..<count).map { _ in Reasons() }
            let storm = await Storm.run(of: count, cancelling: 0.6, seed: seed) { number in
                let request = requests[number]
                // Whichever way it ends: when `withScope` is back, all is disposed.
                defer { if let imbalance = request.ledger.imbalance { complaints.add("\(number): \(imbalance)") } }
                return try await application.withScope(
                    registrations: { Registration(Reasons.self, instance: request) }
                ) { scope in
                    try await Self.work(number, seed: seed, application: application, scope: scope)
                }
            }
            for (number, error) in storm.failures where !(error is Refused) { complaints.add("\(number): \(error)") }
            for number in 0..<count {
                let reasons = requests[number].errors.current
                let agrees =
                    if storm.failures[number] != nil {
                        reasons.count == 1 && reasons.allSatisfy { $0 is Refused }
                    } else if storm.cancelled.contains(number) {
                        // Cancelled before its request for an audit, after its body, or in between.
                        storm.values[number] != nil || reasons.allSatisfy { $0 != nil }
                    } else {
                        reasons.count == 1 && reasons.allSatisfy { $0 == nil }
                    }
                complaints.expect(agrees, "\(number) was told \(reasons)")
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try await application.dispose()
        }
    }

    private static func work(
        _ number: Int, seed: UInt64, application: Container, scope: Container
    ) async throws -> Bool {
        var random = SeededRandom(seed: seed, stream: number)
        await random.shake(upTo: 6)
        _ = try await application.resolve(Audit.self)
        await random.shake(upTo: 6)
        if random.chance(0.5) {
            try await scope.withScope { _ in
                _ = try await application.resolve(Tracked.self)
                for _ in 0..<(number % 7) { await Task.yield() }
            }
        }
        if random.chance(0.3) { throw Refused() }
        async let first = application.resolve(Tracked.self)
        async let second = application.resolve(Tracked.self)
        let isShared = try await first === second
        await random.shake(upTo: 6)
        if random.chance(0.7) { try Task.checkCancellation() }
        return isShared
    }

    @Test
    func `one key opened by many tasks is one scope until it is closed`() async {
        await forEachSeed(60) { seed in
            let ledger = Ledger()
            let complaints = Complaints()
            let application = Container {
                Registration(Tracked.self, lifetime: .scoped) { _ in
                    await Task.yield()
                    return Tracked(in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
            }
            let keys = 5
            for round in 0..<4 {
                let instances = Locked<[Int: Set<Int>]>([:])
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<(keys * 10) {
                        group.addTask {
                            var random = SeededRandom(seed: seed, stream: number, run: round)
                            await random.shake()
                            do {
                                let scope = try await application.openScope(number % keys)
                                let instance = try await scope.resolve(Tracked.self)
                                instances.withLock { _ = $0[number % keys, default: []].insert(instance.id) }
                            } catch {
                                complaints.add("\(error)")
                            }
                        }
                    }
                }
                let seen = instances.current
                try #require(seen.count == keys && seen.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
                // Two closers of one scope both come back when it is closed.
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<(keys * 2) {
                        group.addTask {
                            do {
                                try await application.disposeScope(number % keys)
                            } catch {
                                complaints.add("\(error)")
                            }
                        }
                    }
                }
                let imbalance = ledger.imbalance
                try #require(imbalance == nil, "seed \(seed)")
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try #require(ledger.made == keys * 4, "seed \(seed)")
        }
    }
}
