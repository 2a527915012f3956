import AsyncDI
import Testing

/// Bounded multitons and leases, hammered.
@Suite(.timeLimit(.minutes(10)))
struct MultitonStress {
    private struct SameHash: Hashable, Sendable {
        let value: Int
        func hash(into hasher: inout Hasher) {}
    }

    @Test
    func `a million keys through a thousand places`() async throws {
        let capacity = 1_000
        let open = Counter()
        let disposedTwice = Counter()
        let container = Container {
            Registration(Opened.self, lifetime: .multiton(capacity: capacity)) { (_, _: Int) in
                Opened(open: open, twice: disposedTwice)
            }
            .onDispose { $0.close() }
        }
        let tasks = 8
        let each = Stress.count(125_000, atLeast: 1_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in 0..<each {
                        _ = try await container.resolve(Opened.self, arguments: task * each + number)
                        if number.isMultiple(of: 500) {
                            let cached = await container.cachedArguments(of: Opened.self, Int.self).count
                            #expect(cached <= capacity)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await container.cachedArguments(of: Opened.self, Int.self).count == min(capacity, tasks * each))
        try await container.dispose()
        #expect(open.value == 0, "\(open.value) were not disposed")
        #expect(disposedTwice.value == 0)
    }

    @Test(arguments: [
        Lifetime.multiton(capacity: 3), .multiton(idle: .zero), .multiton(capacity: 2, idle: .zero),
    ])
    func `nothing is disposed under a lease`(lifetime: Lifetime) async throws {
        await forEachSeed(20) { seed in
            let ledger = Ledger()
            let complaints = Complaints()
            let container = Container {
                Registration(Leased.self, lifetime: lifetime) { (_, key: Int) in
                    await Task.yield()
                    return Leased(Tracked(tag: key, in: ledger))
                }
                .onDispose { leased in
                    if leased.users.value > 0 { complaints.add("\(leased.tracked.tag) was disposed while in use") }
                    leased.closed.add()
                    await leased.tracked.dispose(yielding: 1)
                }
            }
            let calls = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: task)
                        for _ in 0..<60 {
                            let key = random.below(8)
                            let yields = random.below(4)
                            let mayReset = random.chance(0.05)
                            let isCancelled = random.chance(0.1)
                            let patience = random.below(6)
                            calls.add()
                            let user = Task {
                                try await container.withInstance(Leased.self, arguments: key) { leased in
                                    leased.users.add()
                                    defer { leased.users.add(-1) }
                                    if leased.closed.value > 0 { complaints.add("\(key) was leased when closed") }
                                    if mayReset { try await container.reset(Leased.self, arguments: key) }
                                    for _ in 0..<yields { await Task.yield() }
                                    if leased.closed.value > 0 { complaints.add("\(key) was closed under a lease") }
                                }
                            }
                            if isCancelled {
                                for _ in 0..<patience { await Task.yield() }
                                user.cancel()
                            }
                            do {
                                try await user.value
                            } catch is CancellationError where isCancelled {}
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Would wait for a lease that was not ended.
            try await container.dispose()
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try #require(ledger.imbalance == nil, "seed \(seed): \(ledger.imbalance ?? "")")
            try #require(ledger.made <= calls.value, "seed \(seed): \(ledger.made) made for \(calls.value) calls")
        }
    }

    private struct Unreadable: Error {}

    /// A file for each key, which may be open once.
    private struct Drive: Sendable {
        let open: [Counter]
        let complaints = Complaints()

        init(keys: Int) { open = (0..<keys).map { _ in Counter() } }

        func registration(_ lifetime: Lifetime, failing: @escaping @Sendable () -> Bool) -> Registration<Leased> {
            Registration(Leased.self, lifetime: lifetime) { (_, key: Int) in
                if open[key].add() > 1 { complaints.add("\(key) was opened twice") }
                await Task.yield()
                guard failing() else { return Leased(Tracked(tag: key, in: Ledger())) }
                open[key].add(-1)
                throw Unreadable()
            }
            .onDispose { leased in
                await Task.yield()
                open[leased.tracked.tag].add(-1)
            }
        }
    }

    @Test(arguments: [Lifetime.multiton, .multiton(capacity: 2)])
    func `a key is never open twice, whatever is dropped during its creation`(lifetime: Lifetime) async throws {
        await forEachSeed(20) { seed in
            let drive = Drive(keys: 4)
            let count = Counter()
            @Sendable func registration() -> Registration<Leased> {
                drive.registration(lifetime) { count.add().isMultiple(of: 7) }
            }
            let container = Container { registration() }
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: task)
                        for _ in 0..<60 {
                            let key = random.below(drive.open.count)
                            let choice = random.below(12)
                            let patience = random.below(6)
                            let call = Task {
                                switch choice {
                                case 0: try await container.reset(Leased.self, arguments: key)
                                case 1: try await container.reset(lifetime)
                                case 2: try await container.register(registration())
                                case 3: try await container.drain(Leased.self, arguments: key)
                                case 4..<8:
                                    try await container.withInstance(Leased.self, arguments: key) { _ in
                                        await Task.yield()
                                    }
                                default: _ = try await container.resolve(Leased.self, arguments: key)
                                }
                            }
                            if choice.isMultiple(of: 3) {
                                for _ in 0..<patience { await Task.yield() }
                                call.cancel()
                            }
                            do {
                                try await call.value
                            } catch is CancellationError, is Unreadable {
                                // As intended.
                            } catch {
                                drive.complaints.add("\(error)")
                            }
                        }
                    }
                }
            }
            try await container.dispose()
            try #require(drive.complaints.isEmpty, "seed \(seed): \(drive.complaints.summary)")
            try #require(drive.open.allSatisfy { $0.value == 0 }, "seed \(seed): \(drive.open.map(\.value))")
        }
    }

    @Test
    func `equal hashes are not equal arguments, under load`() async throws {
        let keys = Stress.count(300, atLeast: 20)
        let container = Container {
            Registration(Tracked.self, lifetime: .multiton) { (_, key: SameHash) in
                Tracked(tag: key.value, in: Ledger())
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededRandom(seed: 1, stream: task)
                    for _ in 0..<keys {
                        let value = random.below(keys)
                        let tracked = try await container.resolve(Tracked.self, arguments: SameHash(value: value))
                        #expect(tracked.tag == value)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

private final class Opened: Sendable {
    private let open: Counter
    private let twice: Counter
    private let closed = Locked(false)

    init(open: Counter, twice: Counter) {
        self.open = open
        self.twice = twice
        open.add()
    }

    func close() {
        let wasClosed = closed.withLock { closed in
            defer { closed = true }
            return closed
        }
        if wasClosed { twice.add() } else { open.add(-1) }
    }
}

private final class Leased: Sendable {
    let tracked: Tracked
    let users = Counter()
    let closed = Counter()
    init(_ tracked: Tracked) { self.tracked = tracked }
}
