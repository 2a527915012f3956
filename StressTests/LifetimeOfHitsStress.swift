import AsyncDI
import Testing

/// Instances that a request finds without a lock during their eviction, replacement or disposal: none may be freed in
/// between.
///
/// Most valuable in release, where the optimizer may end the life of an object that no code retains, and under
/// AddressSanitizer, which detects the first read of freed memory.
// One after the other, because the hits must not wait for the same threads as the evictions.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LifetimeOfHitsStress {
    /// Bytes that differ from those of any other service, so that an instance read from freed memory is wrong.
    private final class Entry: Sendable {
        let key: Int
        private let check: Int

        init(_ key: Int) {
            self.key = key
            check = ~key
        }

        var isIntact: Bool { check == ~key }
    }

    private struct Tenant: Hashable, Sendable {
        let name: String
        init(_ number: Int) { name = "a tenant with a name that is too long to be stored in place, number \(number)" }
    }

    private struct Colliding: Qualifier {
        let number: Int
        func hash(into hasher: inout Hasher) { hasher.combine(number % 2) }
    }

    /// The optimizer leaves out a copy of a reference that nothing uses, also one that carries the reference out of a
    /// locked step.
    @Test func `a storage releases its old instance after its lock`() {
        final class Owner: Sendable {
            let storage: StrongStorage
            init(_ storage: StrongStorage) { self.storage = storage }
            deinit { if storage.load() == nil { storage.store(7) } }
        }
        let storage = StrongStorage()
        storage.store(Owner(storage))
        storage.clear()
        #expect(storage.load() as? Int == 7)
    }

    @Test func `one argument, hit while it idles out`() async throws {
        let made = Counter()
        let container = Container {
            Registration(Entry.self, lifetime: .multiton(idle: .zero)) { (_, key: Int) in
                made.add()
                return Entry(key)
            }
        }
        var wrong = 0
        var round = 0
        let rounds = Stress.count(8_000, atLeast: 500)
        // At least as long as it takes until entries have idled out a few times.
        while round < rounds || made.value < 300 {
            for key in 0..<100 {
                let entry = try await container.resolve(Entry.self, arguments: key)
                if entry.key != key || !entry.isIntact { wrong += 1 }
            }
            round += 1
            if round.isMultiple(of: 100) { await Task.yield() }
        }
        #expect(wrong == 0)
        try await container.dispose()
    }

    @Test func `one argument, hit while it is reset`() async throws {
        let container = Container {
            Registration(Entry.self, lifetime: .multiton) { (_, key: Int) in Entry(key) }
        }
        let resets = Counter()
        let evictor = Task.detached {
            while !Task.isCancelled {
                try await container.reset(Entry.self, arguments: resets.add() % 4)
                // A reset that has nothing to wait for does not suspend, and would keep its thread from every other
                // task.
                await Task.yield()
            }
        }
        var wrong = 0
        var round = 0
        let rounds = Stress.count(400_000, atLeast: 20_000)
        // At least as long as it takes until both have run beside one another.
        while round < rounds || resets.value < 1_000 {
            for key in 0..<4 {
                let entry = try await container.resolve(Entry.self, arguments: key)
                if entry.key != key || !entry.isIntact { wrong += 1 }
            }
            round += 1
            if round.isMultiple(of: 1_000) { await Task.yield() }
        }
        evictor.cancel()
        _ = try? await evictor.value
        #expect(wrong == 0)
        try await container.dispose()
    }

    @Test(arguments: [Lifetime.multiton(idle: .zero), .multiton(capacity: 20)])
    func `two arguments on many tasks, hit while they are evicted`(lifetime: Lifetime) async throws {
        let made = Counter()
        let container = Container {
            Registration(Entry.self, lifetime: lifetime) { (_, key: Int, _: Tenant) in
                made.add()
                return Entry(key)
            }
        }
        let tenants = (0..<4).map(Tenant.init)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededRandom(seed: 1, stream: task)
                    var wrong = 0
                    var round = 0
                    let rounds = Stress.count(100_000, atLeast: 2_000)
                    // At least as long as it takes until entries have been evicted a few times.
                    while round < rounds || made.value < 300 {
                        round += 1
                        if round.isMultiple(of: 10_000) { await Task.yield() }
                        let key = random.below(24)
                        let entry = try await container.resolve(
                            Entry.self, arguments: key, tenants[random.below(tenants.count)])
                        if entry.key != key || !entry.isIntact { wrong += 1 }
                    }
                    return wrong
                }
            }
            for try await wrong in group { #expect(wrong == 0) }
        }
        try await container.dispose()
    }

    @Test func `with and without a qualifier, hit while they are reset and registered again`() async throws {
        let container = Container {
            Registration(Entry.self, lifetime: .singleton) { _ in Entry(-1) }
            for number in 0..<4 {
                Registration(Entry.self, qualifier: Colliding(number: number), lifetime: .singleton) { _ in
                    Entry(number)
                }
            }
        }
        let done = Counter()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<3 {
                group.addTask {
                    defer { done.add() }
                    var random = SeededRandom(seed: 2, stream: task)
                    var wrong = 0
                    for _ in 0..<Stress.count(100_000, atLeast: 2_000) {
                        let number = random.below(4)
                        let qualified = try await container.resolve(Entry.self, qualifier: Colliding(number: number))
                        if qualified.key != number || !qualified.isIntact { wrong += 1 }
                        let plain = try await container.resolve(Entry.self)
                        if plain.key != -1 || !plain.isIntact { wrong += 1 }
                    }
                    return wrong
                }
            }
            group.addTask {
                var random = SeededRandom(seed: 2, stream: 3)
                while done.value < 3 {
                    let number = random.below(4)
                    if random.chance(0.5) {
                        try await container.reset()
                    } else {
                        try await container.register(
                            Entry.self, qualifier: Colliding(number: number), lifetime: .singleton
                        ) { _ in Entry(number) }
                    }
                    await Task.yield()
                }
                return 0
            }
            for try await wrong in group { #expect(wrong == 0) }
        }
        try await container.dispose()
    }

    @Test func `a container whose only use is one hit`() async throws {
        func container(_ number: Int) -> Container {
            Container {
                Registration(Entry.self, instance: Entry(number))
                Registration(Entry.self, qualifier: Colliding(number: number), instance: Entry(number))
                Registration(Entry.self, lifetime: .multiton) { (_, key: Int) in Entry(key) }
            }
        }
        var wrong = 0
        for number in 0..<Stress.count(5_000, atLeast: 500) {
            // Ends as soon as the optimizer lets it: the read must be over by then, for its end waits for all reads.
            if try await container(number).resolve(Entry.self).key != number { wrong += 1 }
            if try await container(number).resolve(Entry.self, qualifier: Colliding(number: number)).key != number {
                wrong += 1
            }
            if try await container(number).resolve(Entry.self, arguments: number).key != number { wrong += 1 }
        }
        #expect(wrong == 0)
    }
}
