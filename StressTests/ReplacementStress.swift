import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ReplacementStress {
    /// One registrar's steps, one after the other: which version is registered after each; nil for none.
    private final class History: Sendable {
        let states: [Int?]
        private let begun = Counter()
        private let settled = Counter()

        init(steps: Int, random: inout SeededRandom) {
            var states: [Int?] = [0]
            for step in 1...steps { states.append(random.chance(0.2) ? nil : step) }
            self.states = states
        }

        var lastSettled: Int { settled.value }
        var lastBegun: Int { begun.value }

        func perform(_ step: Int, _ change: () async throws -> Void) async rethrows {
            begun.set(step)
            try await change()
            settled.set(step)
        }

        /// Whether an answer was right at some moment between the two steps.
        func allows(_ version: Int?, from first: Int, through last: Int) -> Bool {
            states[first...last].contains(version)
        }
    }

    @Test(arguments: [Lifetime.singleton, .multiton, .scoped, .weak, .graph, .transient])
    func `no request gets an instance that was not registered at some moment of the request`(lifetime: Lifetime) async {
        let isOwned = ![.weak, .graph, .transient].contains(lifetime)
        await forEachSeed(25) { seed in
            var random = SeededRandom(seed: seed)
            let ledger = Ledger()
            let complaints = Complaints()
            let histories = (0..<3).map { _ in History(steps: 30, random: &random) }
            let container = Container {
                for index in histories.indices {
                    versioned(0, index, lifetime: lifetime, isOwned: isOwned, seed: seed, ledger: ledger)
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for (index, history) in histories.enumerated() {
                    group.addTask {
                        await change(
                            container, index, through: history, lifetime: lifetime, isOwned: isOwned, seed: seed,
                            ledger: ledger, complaints: complaints)
                    }
                }
                for number in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: -1 - number)
                        for _ in 0..<40 {
                            let index = random.below(histories.count)
                            let history = histories[index]
                            let first = history.lastSettled
                            do {
                                let answer = try await container.optional(
                                    Tracked.self, qualifier: NodeID(index: index))
                                let last = history.lastBegun
                                complaints.expect(
                                    history.allows(answer?.tag, from: first, through: last),
                                    "\(String(describing: answer?.tag)) in \(history.states[first...last])")
                            } catch {
                                complaints.add("\(error)")
                            }
                            await random.shake(upTo: 4)
                        }
                    }
                }
            }
            for (index, history) in histories.enumerated() {
                let final = try await container.optional(Tracked.self, qualifier: NodeID(index: index))
                try #require(final?.tag == history.states[history.states.count - 1], "seed \(seed)")
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try await container.dispose()
            try #require(!isOwned || ledger.imbalance == nil, "seed \(seed): \(ledger.imbalance ?? "")")
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .graph, .transient])
    func `no request finds a service without its decorations while it is registered and removed`(
        lifetime: Lifetime
    ) async {
        struct Label: Sendable { let levels: [Int] }
        await forEachSeed(25) { seed in
            let complaints = Complaints()
            var containers = [Container()]
            for level in 1...3 {
                let decoration = Decoration(Label.self) { _, inner in Label(levels: inner.levels + [level]) }
                containers.append(Container(parent: containers[level - 1]) { decoration })
            }
            let all = containers
            await withTaskGroup(of: Void.self) { group in
                for level in 0..<3 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: level)
                        for _ in 0..<40 {
                            await random.shake(upTo: 8)
                            do {
                                try await all[level].register(Label.self, lifetime: lifetime) { _ in Label(levels: []) }
                            } catch {
                                complaints.add("\(error)")
                            }
                            await random.shake(upTo: 8)
                            complaints.expect(await all[level].unregister(Label.self), "not found")
                        }
                    }
                }
                for number in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: -1 - number)
                        let level = 1 + number % 3
                        for _ in 0..<60 {
                            do {
                                let levels = try await all[level].optional(Label.self)?.levels ?? Array(1...level)
                                // A registration further down has fewer of them.
                                let isWhole = !levels.isEmpty && levels == Array(levels[0]...level)
                                complaints.expect(isWhole, "\(levels) at \(level)")
                            } catch let error as ResolutionError where error.code == .notRegistered {
                                // It was found, and is gone.
                            } catch {
                                complaints.add("\(error)")
                            }
                            await random.shake(upTo: 4)
                        }
                    }
                }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
        }
    }

    private func versioned(
        _ version: Int, _ index: Int, lifetime: Lifetime, isOwned: Bool, seed: UInt64, ledger: Ledger
    ) -> Registration<Tracked> {
        let registration = Registration(
            Tracked.self, qualifier: NodeID(index: index), lifetime: lifetime
        ) { _ in
            var random = SeededRandom(seed: seed, stream: index, run: version)
            await random.shake(upTo: 8)
            return Tracked(tag: version, in: ledger)
        }
        return isOwned ? registration.onDispose { await $0.dispose() } : registration
    }

    private func change(
        _ container: Container, _ index: Int, through history: History, lifetime: Lifetime, isOwned: Bool,
        seed: UInt64, ledger: Ledger, complaints: Complaints
    ) async {
        var random = SeededRandom(seed: seed, stream: index, run: -1)
        for step in 1..<history.states.count {
            await random.shake(upTo: 20)
            do {
                try await history.perform(step) {
                    guard let version = history.states[step] else {
                        _ = await container.unregister(Tracked.self, qualifier: NodeID(index: index))
                        return
                    }
                    try await container.register(
                        versioned(version, index, lifetime: lifetime, isOwned: isOwned, seed: seed, ledger: ledger))
                }
            } catch {
                complaints.add("\(error)")
            }
        }
    }

    /// A reset that has returned is not crossed by anything made before it; what was in flight reaches its waiters
    /// only.
    @Test
    func `after a reset no request gets an instance begun before it`() async {
        await forEachSeed(60) { seed in
            let begun = Counter()
            let settled = Counter()
            let ledger = Ledger()
            let complaints = Complaints()
            let fixed = Tracked(in: Ledger())
            let container = Container {
                Registration(Tracked.self, qualifier: "fixed", instance: fixed)
                Registration(Tracked.self, lifetime: .multiton) { (_, key: Int) in
                    let epoch = begun.value
                    var random = SeededRandom(seed: seed, stream: key, run: epoch)
                    await random.shake(upTo: 8)
                    return Tracked(tag: epoch, in: ledger)
                }
                .onDispose { await $0.dispose(yielding: 1) }
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    var random = SeededRandom(seed: seed, stream: -100)
                    for epoch in 1...25 {
                        await random.shake(upTo: 20)
                        begun.set(epoch)
                        do {
                            try await Self.reset(container, random: &random)
                            settled.set(epoch)
                        } catch {
                            complaints.add("\(error)")
                        }
                    }
                }
                for number in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: -1 - number)
                        for _ in 0..<40 {
                            await random.shake(upTo: 4)
                            let earliest = settled.value
                            do {
                                let answer = try await container.resolve(Tracked.self, arguments: random.below(2))
                                complaints.expect(answer.tag >= earliest, "\(answer.tag) after reset \(earliest)")
                                let still = try await container.resolve(Tracked.self, qualifier: "fixed")
                                complaints.expect(still === fixed, "an instance: was reset")
                            } catch {
                                complaints.add("\(error)")
                            }
                        }
                    }
                }
            }
            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            try await container.dispose()
            try #require(ledger.imbalance == nil, "seed \(seed)")
        }
    }

    /// Every form of reset that forgets both arguments.
    private static func reset(_ container: Container, random: inout SeededRandom) async throws {
        switch random.below(3) {
        case 0: try await container.reset()
        case 1: try await container.reset(.multiton)
        default:
            try await container.reset(Tracked.self, arguments: 0)
            try await container.reset(Tracked.self, arguments: 1)
        }
    }
}
