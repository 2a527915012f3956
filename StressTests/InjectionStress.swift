import AsyncDI
import Testing

/// Contributions, decorations, lazies, modules and shared graphs, while everything changes around them.
@Suite(.timeLimit(.minutes(10)))
struct InjectionStress {
    private struct Box: Sendable {
        let text: String
    }

    private final class Node: Sendable {}

    private final class Guest: Sendable {
        private let alive: Counter

        init(counted alive: Counter) {
            self.alive = alive
            alive.add()
        }

        deinit { alive.add(-1) }
    }

    private struct Loading: Module {
        let probe: Probe
        let told: Counter
        let isDone: Counter

        var registrations: Registrations {
            Registration(Box.self, lifetime: .singleton) { _ in Box(text: "module") }
        }

        func loaded(_ resolver: Resolver) async throws {
            probe.enter()
            defer { probe.leave() }
            await Task.yield()
            _ = try await resolver.resolve(Box.self)
            told.add()
            isDone.set(1)
        }
    }

    @Test
    func `contributions come and go, in order, and each is made once`() async throws {
        await forEachSeed(10) { seed in
            let made = Locked([Int: Int]())
            let ledger = Ledger()
            let complaints = Complaints()
            let container = Container()
            let child = Container(parent: container)
            @Sendable func contribute(_ number: Int, to container: Container) async throws {
                try await container.register(
                    Registration(Tracked.self, lifetime: .singleton) { _ in
                        made.withLock { $0[number, default: 0] += 1 }
                        await Task.yield()
                        return Tracked(tag: number, in: ledger)
                    }
                    .onDispose { await $0.dispose() }
                    .intoMany())
            }
            // Those from a thousand on are the child's: they come last.
            try await contribute(0, to: container)
            try await contribute(1000, to: child)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    var random = SeededRandom(seed: seed, stream: 0)
                    for number in 1...40 {
                        do {
                            try await contribute(number, to: container)
                            if number <= 20 { try await contribute(1000 + number, to: child) }
                            if random.chance(0.1) { await container.unregisterMany(Tracked.self) }
                        } catch {
                            complaints.add("\(error)")
                        }
                        await random.shake()
                    }
                }
                for _ in 0..<Stress.count(300, atLeast: 20) {
                    group.addTask {
                        do {
                            let tags = try await child.resolveMany(Tracked.self).map(\.tag)
                            complaints.expect(tags == tags.sorted() && Set(tags).count == tags.count, "\(tags)")
                        } catch {
                            complaints.add("\(error)")
                        }
                    }
                }
            }
            let last = try await child.resolveMany(Tracked.self)
            let again = try await child.resolveMany(Tracked.self)
            complaints.expect(last.map(\.id) == again.map(\.id), "another instance the second time")
            complaints.expect(made.withLock { $0.values.allSatisfy { $0 == 1 } }, "one was made twice")
            try await container.dispose()
            complaints.expect(ledger.imbalance == nil, ledger.imbalance ?? "")
            #expect(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .graph, .transient])
    func `decorated while it is made`(lifetime: Lifetime) async throws {
        await forEachSeed(10) { seed in
            let complaints = Complaints()
            let depth = Counter()
            let container = Container {
                Registration(Box.self, lifetime: lifetime) { _ in
                    await Task.yield()
                    return Box(text: "")
                }
            }
            let scope = try await container.openScope()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    var random = SeededRandom(seed: seed, stream: 0)
                    for number in 1...12 {
                        do {
                            try await container.decorate(Box.self) { _, inner in
                                await Task.yield()
                                return Box(text: inner.text + "d")
                            }
                        } catch {
                            complaints.add("\(error)")
                        }
                        depth.set(number)
                        await random.shake(upTo: 10)
                    }
                }
                for number in 0..<Stress.count(300, atLeast: 20) {
                    group.addTask {
                        do {
                            let least = depth.value
                            let text = try await (number.isMultiple(of: 2) ? container : scope).resolve(Box.self).text
                            complaints.expect(text.count >= least && text.count <= depth.value + 1, "\(least): \(text)")
                        } catch {
                            complaints.add("\(error)")
                        }
                    }
                }
            }
            let text = try await scope.resolve(Box.self).text
            complaints.expect(text.count == 12, text)
            try await container.dispose()
            #expect(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
        }
    }

    @Test
    func `a child's decoration holds, however often its parent registers the service anew`() async throws {
        await forEachSeed(10) { seed in
            let complaints = Complaints()
            let version = Counter()
            let container = Container()
            let child = Container(parent: container) { Decoration(Int.self) { _, inner in inner + 1000 } }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    var random = SeededRandom(seed: seed, stream: 0)
                    for number in 1...40 {
                        do {
                            if random.chance(0.3) { await container.unregister(Int.self) }
                            try await container.register(Int.self, lifetime: .singleton) { _ in number }
                        } catch {
                            complaints.add("\(error)")
                        }
                        version.set(number)
                        let answer = try? await child.resolve(Int.self)
                        complaints.expect(answer == 1000 + number, "\(String(describing: answer)) in \(number)")
                        await random.shake()
                    }
                }
                for number in 0..<Stress.count(300, atLeast: 20) {
                    group.addTask {
                        // Both are resolved, so that each finds the instances of the other.
                        let asked = number.isMultiple(of: 2) ? child : container
                        do {
                            let least = version.value
                            guard let answer = try await asked.optional(Int.self) else { return }
                            complaints.expect(answer % 1000 >= least, "\(answer) after \(least)")
                        } catch {
                            complaints.add("\(error)")
                        }
                    }
                }
            }
            try await container.dispose()
            #expect(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
        }
    }

    @Test
    func `a lazy is resolved once by thousands, cancelled ones among them, and again when it is released`() async throws
    {
        await forEachSeed(5) { seed in
            let probe = Probe()
            let container = Container {
                Registration(Node.self) { _ in
                    probe.enter()
                    defer { probe.leave() }
                    await Task.yield()
                    return Node()
                }
            }
            let lazy = Lazy(Node.self, from: container)
            for _ in 0..<2 {
                let storm = await Storm.run(of: Stress.count(2000, atLeast: 50), cancelling: 0.3, seed: seed) { _ in
                    try await lazy()
                }
                #expect(storm.failures.isEmpty, "seed \(seed)")
                let kept = try await lazy()
                #expect(storm.values.values.allSatisfy { $0 === kept }, "seed \(seed)")
                #expect(probe.peak <= 1, "seed \(seed)")
                lazy.release()
                #expect(lazy.isEmpty)
            }
            // Released during a request: every request gets an answer.
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Stress.count(1000, atLeast: 50) {
                    group.addTask {
                        if number.isMultiple(of: 10) { lazy.release() }
                        await #expect(throws: Never.self) { try await lazy() }
                    }
                }
            }
            try await container.dispose()
        }
    }

    @Test
    func `a lazy that thousands of scopes share keeps nothing after their end`() async throws {
        await forEachSeed(5) { seed in
            let alive = Counter()
            let container = Container {
                Registration(Guest.self, lifetime: .scoped) { _ in
                    await Task.yield()
                    return Guest(counted: alive)
                }
            }
            let lazy = Lazy(Guest.self, from: container)
            let storm = await Storm.run(of: Stress.count(2000, atLeast: 50), cancelling: 0.3, seed: seed) { number in
                try await container.withScope { scope in
                    let guest = try await lazy()
                    if number.isMultiple(of: 10) { lazy.release() }
                    let other = try await scope.resolve(Guest.self)
                    return guest === other
                }
            }
            #expect(storm.failures.isEmpty, "seed \(seed)")
            #expect(storm.values.values.allSatisfy { $0 }, "seed \(seed)")
            #expect(lazy.isEmpty, "seed \(seed)")
            // The task of a cancelled request's creation may release its instance a moment later.
            #expect(await eventually { alive.value == 0 }, "seed \(seed)")
            try await container.dispose()
        }
    }

    @Test
    func `modules are configured once before any answer, whatever is registered and reset meanwhile`() async throws {
        await forEachSeed(20) { seed in
            var random = SeededRandom(seed: seed)
            let complaints = Complaints()
            let modules = (0..<6).map { _ in Loading(probe: Probe(), told: Counter(), isDone: Counter()) }
            let container = Container { Array(modules[..<3]) as [any Module] }
            let disposesAt = random.chance(0.5) ? random.below(60) : -1
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: number)
                        await random.shake(upTo: 20)
                        do {
                            switch number {
                            case disposesAt:
                                try await container.dispose()
                            case 0..<3:
                                try await container.register { modules[3 + number] }
                                complaints.expect(
                                    modules[3 + number].isDone.value == 1, "registered before it was told")
                            case 3..<6:
                                try await container.reset()
                            default:
                                _ = try await container.resolve(Box.self)
                                complaints.expect(
                                    modules[..<3].allSatisfy { $0.isDone.value == 1 }, "answered before it was told")
                            }
                        } catch ResolutionError.Code.disposed where disposesAt >= 0 {
                        } catch {
                            complaints.add("\(error)")
                        }
                    }
                }
            }
            if disposesAt < 0 {
                try await container.start()
                complaints.expect(modules.allSatisfy { $0.told.value == 1 }, "\(modules.map(\.told.value))")
            }
            complaints.expect(modules.allSatisfy { $0.probe.peak <= 1 }, "told by two at once")
            try await container.dispose()
            #expect(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
        }
    }

    @Test
    func `one graph is shared by thousands`() async throws {
        await forEachSeed(5) { seed in
            let probe = Probe()
            let container = Container {
                Registration(Node.self) { _ in
                    probe.enter()
                    defer { probe.leave() }
                    await Task.yield()
                    return Node()
                }
            }
            let graph = GraphIdentifier()
            try await container.withGraph(graph) { resolver in
                let storm = await Storm.run(of: Stress.count(2000, atLeast: 50), cancelling: 0.3, seed: seed) {
                    number in
                    if number.isMultiple(of: 2) { return try await resolver.resolve(Node.self) }
                    return try await container.withGraph(graph) { resolver in try await resolver.resolve(Node.self) }
                }
                #expect(storm.failures.isEmpty, "seed \(seed)")
                let kept = try await resolver.resolve(Node.self)
                #expect(storm.values.values.allSatisfy { $0 === kept }, "seed \(seed)")
                #expect(probe.peak <= 1, "seed \(seed)")
            }
            try await container.dispose()
        }
    }
}
