import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DisposalStress {
    @Test
    func `eight closers against a thousand resolvers dispose everything once`() async {
        await forEachSeed(15) { seed in
            let ledger = Ledger()
            let container = Self.closable(ledger: ledger, seed: seed)
            let begun = Counter()
            let closed = Counter()
            let complaints = Complaints()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: -1 - number)
                        await random.shake(upTo: 40)
                        begun.set(1)
                        do {
                            if number >= 5 { try await Self.closeSomeScopes(of: container, random: &random) }
                            try await container.dispose()
                        } catch {
                            complaints.add("closer: \(error)")
                        }
                        closed.set(1)
                        // Whichever closer this is, it came back when all was done.
                        if let imbalance = ledger.imbalance { complaints.add(imbalance) }
                    }
                }
                for number in 0..<Stress.count(1_000, atLeast: 50) {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: number)
                        for _ in 0..<3 {
                            await random.shake(upTo: 12)
                            let wasClosed = closed.value == 1
                            do {
                                let instance = try await Self.ask(container, random: &random)
                                complaints.expect(!wasClosed, "\(instance.id) was given after the end")
                            } catch ResolutionError.Code.disposed {
                                complaints.expect(begun.value == 1, "disposed before anybody closed anything")
                            } catch {
                                complaints.add("resolver: \(error)")
                            }
                        }
                    }
                }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            let imbalance = ledger.imbalance
            try #require(imbalance == nil, "seed \(seed)")
        }
    }

    private static func closable(ledger: Ledger, seed: UInt64) -> Container {
        Container {
            Registration(Tracked.self, qualifier: "singleton", lifetime: .singleton) { _ in
                for _ in 0..<(seed % 40) { await Task.yield() }
                return Tracked(in: ledger)
            }
            .onDispose { await $0.dispose(yielding: 2) }
            Registration(Tracked.self, lifetime: .multiton) { (resolver, key: Int) in
                var random = SeededRandom(seed: seed, stream: key)
                await random.shake(upTo: 10)
                // Some notice their disposal during their creation, others do not.
                if key.isMultiple(of: 2) { try Task.checkCancellation() }
                let singleton = try await resolver.resolve(Tracked.self, qualifier: "singleton")
                return Tracked(tag: key, dependencies: [singleton], in: ledger)
            }
            .onDispose { await $0.dispose(yielding: 1) }
            Registration(Tracked.self, qualifier: "scoped", lifetime: .scoped) { resolver in
                let singleton = try await resolver.resolve(Tracked.self, qualifier: "singleton")
                await Task.yield()
                return Tracked(dependencies: [singleton], in: ledger)
            }
            .onDispose { await $0.dispose(yielding: 1) }
        }
    }

    private static func ask(_ container: Container, random: inout SeededRandom) async throws -> Tracked {
        switch random.below(4) {
        case 0:
            return try await container.resolve(Tracked.self, qualifier: "singleton")
        case 1:
            return try await container.resolve(Tracked.self, arguments: random.below(30))
        case 2:
            let scope = try await container.openScope(random.below(6))
            return try await scope.resolve(Tracked.self, qualifier: "scoped")
        default:
            return try await container.withScope { scope in
                _ = try await scope.withScope { _ in
                    try await container.resolve(Tracked.self, qualifier: "scoped")
                }
                return try await container.resolve(Tracked.self, qualifier: "scoped")
            }
        }
    }

    private static func closeSomeScopes(of container: Container, random: inout SeededRandom) async throws {
        for _ in 0..<6 {
            do {
                try await container.disposeScope(random.below(6))
            } catch ResolutionError.Code.disposed {
                return
            }
            await random.shake(upTo: 3)
        }
    }

    private struct Refusal: Error {
        let id: Int
    }

    @Test
    func `disposers that throw stop no other, and all their errors come back`() async {
        await forEachSeed(100) { seed in
            let ledger = Ledger()
            let container = Container {
                Registration(Tracked.self, lifetime: .multiton) { (_, key: Int) in Tracked(tag: key, in: ledger) }
                    .onDispose { instance in
                        await instance.dispose()
                        var random = SeededRandom(seed: seed, stream: instance.tag)
                        if random.chance(0.3) { throw Refusal(id: instance.tag) }
                    }
            }
            let count = 30
            let refusing = (0..<count).filter { key in
                var random = SeededRandom(seed: seed, stream: key)
                return random.chance(0.3)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in 0..<count {
                    group.addTask { _ = try await container.resolve(Tracked.self, arguments: key) }
                }
                try await group.waitForAll()
            }
            do {
                try await container.dispose()
                try #require(refusing.isEmpty, "seed \(seed)")
            } catch let error as DisposalError {
                let refused = error.errors.compactMap { ($0 as? Refusal)?.id }
                try #require(refused.sorted() == refusing, "seed \(seed)")
            }
            let imbalance = ledger.imbalance
            try #require(imbalance == nil, "seed \(seed)")
        }
    }

    private struct Box {}

    /// Requests that look up a second registration, after the one that they found.
    private enum Way: CaseIterable { case forwarded, forwardedAndDecorated, inheritedAndDecorated, made }

    @Test
    func `a request during the disposal gets an instance or the error of a disposed container`() async throws {
        let complaints = Complaints()
        for round in 0..<Stress.count(4_000) {
            let container = Container {
                Registration(Tracked.self, lifetime: .transient) { _ in Tracked(in: Ledger()) }
                    .implements((any AnyObject & Sendable).self)
                Registration(making: Box.self) { _ in Box() }
            }
            let child = Container(parent: container) {
                Decoration(Tracked.self) { _, inner in inner }
                Decoration((any AnyObject & Sendable).self) { _, inner in inner }
            }
            await withTaskGroup(of: Void.self) { group in
                for way in Way.allCases {
                    group.addTask {
                        do {
                            while true {
                                switch way {
                                case .forwarded: _ = try await container.resolve((any AnyObject & Sendable).self)
                                case .forwardedAndDecorated:
                                    _ = try await child.resolve((any AnyObject & Sendable).self)
                                case .inheritedAndDecorated: _ = try await child.resolve(Tracked.self)
                                case .made: _ = try await container.make(Box.self)
                                }
                                await Task.yield()
                            }
                        } catch ResolutionError.Code.disposed {
                        } catch {
                            complaints.add("\(way): \(error)")
                        }
                    }
                }
                for _ in 0..<(round % 7) { await Task.yield() }
                do { try await container.dispose() } catch { complaints.add("\(error)") }
            }
        }
        try #require(complaints.isEmpty, "\(complaints.summary)")
    }

    /// With a storage, only the disposal keeps the instance's cell.
    @Test(arguments: [Lifetime.singleton, Lifetime("stored") { StrongStorage() }])
    func `a reset beside the end of the last lease disposes a decorated service once`(
        lifetime: Lifetime
    ) async throws {
        let closed = Counter()
        let parent = Container {
            Registration(Int.self, lifetime: lifetime) { _ in 1 }.onDispose { _ in closed.add() }
        }
        let children = (0..<20).map { _ in Container(parent: parent) { Decoration(Int.self) { _, inner in inner } } }
        let rounds = Stress.count(1_000, atLeast: 50)
        for round in 0..<rounds {
            let leased = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await parent.withInstance(Int.self) { _ in
                        leased.add()
                        // The reset drops the leased instance, and goes through the decorating containers.
                        for _ in 0..<round % 16 { await Task.yield() }
                    }
                }
                group.addTask {
                    while leased.value == 0 { await Task.yield() }
                    try await parent.reset(Int.self)
                }
                try await group.waitForAll()
            }
        }
        for child in children { try await child.dispose() }
        try await parent.dispose()
        #expect(closed.value == rounds)
    }
}
