import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WeakStress {
    /// The objects that are held at this moment.
    ///
    /// Two at once, and they were not shared.
    private final class Holders: Sendable {
        private let held = Locked<[Int: Int]>([:])

        /// Whether no task holds another one.
        ///
        /// Only for an instance that the caller keeps until `leave`.
        func enter(_ instance: Tracked) -> Bool {
            held.withLock { held in
                held[instance.id, default: 0] += 1
                return held.count == 1
            }
        }

        func leave(_ instance: Tracked) {
            held.withLock { held in
                let remaining = (held[instance.id] ?? 0) - 1
                held[instance.id] = remaining == 0 ? nil : remaining
            }
        }
    }

    @Test
    func `holders of a weak service always hold the same instance`() async {
        await forEachSeed(60) { seed in
            let keys = 3
            let ledger = Ledger()
            let probes = (0..<keys).map { _ in Probe() }
            let holders = (0..<keys).map { _ in Holders() }
            let complaints = Complaints()
            let container = Container {
                Registration(Tracked.self, lifetime: .weak) { (_, key: Int) in
                    var random = SeededRandom(seed: seed, stream: key, run: probes[key].enter())
                    defer { probes[key].leave() }
                    await random.shake(upTo: 4)
                    return Tracked(tag: key, in: ledger)
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: -1 - number)
                        for _ in 0..<40 {
                            let key = random.below(keys)
                            do {
                                let instance = try await container.resolve(Tracked.self, arguments: key)
                                complaints.expect(holders[key].enter(instance), "two instances of \(key)")
                                complaints.expect(instance.tag == key, "\(instance.tag) instead of \(key)")
                                await random.shake(upTo: 3)
                                holders[key].leave(instance)
                                withExtendedLifetime(instance) {}
                            } catch {
                                complaints.add("\(error)")
                            }
                            await random.shake(upTo: 3)
                        }
                    }
                }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try #require(probes.allSatisfy { $0.peak <= 1 }, "seed \(seed)")
            let isEmpty = await eventually { ledger.live == 0 }
            try #require(isEmpty, "seed \(seed): \(ledger.live) of \(ledger.made) live on")
            withExtendedLifetime(container) {}
        }
    }

    @Test
    func `the dependency of a weak service goes with it, and is created again`() async {
        await forEachSeed(60) { seed in
            let depth = 4
            let ledger = Ledger()
            let container = Container {
                for level in 0..<depth {
                    Registration(Tracked.self, qualifier: NodeID(index: level), lifetime: .weak) { resolver in
                        var inner: [Tracked] = []
                        if level + 1 < depth {
                            inner.append(
                                try await resolver.resolve(Tracked.self, qualifier: NodeID(index: level + 1)))
                        }
                        await Task.yield()
                        return Tracked(tag: level, dependencies: inner, in: ledger)
                    }
                }
            }
            let complaints = Complaints()
            for _ in 0..<4 {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<12 {
                        group.addTask {
                            do {
                                var level = number % depth
                                var current = try await container.resolve(
                                    Tracked.self, qualifier: NodeID(index: level))
                                while let inner = current.dependencies.first {
                                    level += 1
                                    // Held through the outer one, so the container must return that very one.
                                    let asked = try await container.resolve(
                                        Tracked.self, qualifier: NodeID(index: level))
                                    complaints.expect(asked === inner, "level \(level) is there twice")
                                    withExtendedLifetime(current) {}
                                    current = inner
                                }
                            } catch {
                                complaints.add("\(error)")
                            }
                        }
                    }
                }
                let isEmpty = await eventually { ledger.live == 0 }
                try #require(isEmpty, "seed \(seed): \(ledger.live) of \(ledger.made) live on")
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
        }
    }
}
