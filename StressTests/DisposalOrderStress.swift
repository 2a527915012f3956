import AsyncDI
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DisposalOrderStress {
    /// A random graph of singletons and scoped services that note their creation and disposal.
    private final class World: Sendable {
        let dependencies: [[Int]]
        let isScoped: [Bool]
        let ledger = Ledger(keepsEvents: true)
        let made = Locked<[Tracked]>([])
        private let seed: UInt64
        private let shakes: Bool

        init(seed: UInt64, shakes: Bool) {
            var random = SeededRandom(seed: seed)
            let count = 4 + random.below(24)
            var isScoped: [Bool] = []
            var dependencies: [[Int]] = []
            for index in 0..<count {
                isScoped.append(random.chance(0.5))
                // A singleton holds singletons only.
                let possible = (0..<index).filter { isScoped[index] || !isScoped[$0] }
                dependencies.append(possible.filter { _ in random.chance(0.25) })
            }
            self.isScoped = isScoped
            self.dependencies = dependencies
            self.seed = seed
            self.shakes = shakes
        }

        func makeContainer() -> Container {
            Container {
                for index in dependencies.indices {
                    Registration(
                        Tracked.self, qualifier: NodeID(index: index),
                        lifetime: isScoped[index] ? .scoped : .singleton
                    ) { resolver in
                        try await self.make(index, with: resolver)
                    }
                    .onDispose { await $0.dispose(yielding: 2) }
                }
            }
        }

        private func make(_ index: Int, with resolver: Resolver) async throws -> Tracked {
            var random = SeededRandom(seed: seed, stream: index)
            if shakes { await random.shake() }
            var found: [Tracked] = []
            for dependency in dependencies[index] {
                found.append(try await resolver.resolve(Tracked.self, qualifier: NodeID(index: dependency)))
            }
            if shakes { await random.shake() }
            let instance = Tracked(tag: index, dependencies: found, in: ledger)
            made.withLock { $0.append(instance) }
            return instance
        }
    }

    /// Containers by number, each with the number of its parent; the root is 0.
    private struct Tree {
        var containers: [Container]
        var parents: [Int?] = [nil]

        static func open(below root: Container, scopes: Int, random: inout SeededRandom) async throws -> Tree {
            var tree = Tree(containers: [root])
            for number in 1...scopes {
                let parent = random.below(number)
                tree.containers.append(try await tree.containers[parent].openScope(number))
                tree.parents.append(parent)
            }
            return tree
        }

        func isAncestor(_ candidate: Int, of container: Int) -> Bool {
            guard let parent = parents[container] else { return false }
            return parent == candidate || isAncestor(candidate, of: parent)
        }
    }

    @Test
    func `asked for one after the other they go in the reverse order of completion`() async {
        await forEachSeed(150) { seed in
            var random = SeededRandom(seed: seed, stream: -1)
            let world = World(seed: seed, shakes: false)
            let tree = try await Tree.open(
                below: world.makeContainer(), scopes: 1 + random.below(5), random: &random)
            var owners: [Int] = []
            for _ in 0..<40 {
                let number = random.below(tree.containers.count)
                let node = NodeID(index: random.below(world.dependencies.count))
                _ = try await tree.containers[number].resolve(Tracked.self, qualifier: node)
                for instance in world.made.current.dropFirst(owners.count) {
                    owners.append(world.isScoped[instance.tag] ? number : 0)
                }
            }
            // A scope that is closed before the others keeps the same order within itself.
            let early = 1 + random.below(tree.containers.count - 1)
            if random.chance(0.5) { try await tree.containers[early].dispose() }
            try await tree.containers[0].dispose()

            let imbalance = world.ledger.imbalance
            try #require(imbalance == nil, "seed \(seed)")
            let begun = Self.positions(of: world) { if case .disposing(let id) = $0 { id } else { nil } }
            let ended = Self.positions(of: world) { if case .disposed(let id) = $0 { id } else { nil } }
            for first in owners.indices {
                for second in owners.indices where first != second {
                    let sameScope = owners[first] == owners[second] && first > second
                    let scopeBelow = tree.isAncestor(owners[second], of: owners[first])
                    if sameScope || scopeBelow {
                        let comesFirst = (ended[first] ?? .max) < (begun[second] ?? .min)
                        try #require(comesFirst, "seed \(seed): \(first) has to go before \(second)")
                    }
                }
            }
        }
    }

    @Test
    func `requested by many tasks, an instance goes after its holders`() async {
        await forEachSeed(300) { seed in
            var random = SeededRandom(seed: seed, stream: -1)
            let world = World(seed: seed, shakes: true)
            let tree = try await Tree.open(
                below: world.makeContainer(), scopes: 1 + random.below(5), random: &random)
            let closesEarly = random.chance(0.5)
            let complaints = Complaints()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        var random = SeededRandom(seed: seed, stream: -2 - number)
                        for _ in 0..<10 {
                            let container = random.pick(tree.containers)
                            let node = NodeID(index: random.below(world.dependencies.count))
                            do {
                                _ = try await container.resolve(Tracked.self, qualifier: node)
                            } catch ResolutionError.Code.disposed where closesEarly {
                                return
                            } catch {
                                complaints.add("\(error)")
                            }
                        }
                    }
                }
                if closesEarly {
                    let pause = random.below(30)
                    group.addTask {
                        for _ in 0..<pause { await Task.yield() }
                        do { try await tree.containers[0].dispose() } catch { complaints.add("\(error)") }
                    }
                }
            }
            try await tree.containers[0].dispose()

            try #require(complaints.isEmpty, "seed \(seed): \(complaints.summary)")
            let imbalance = world.ledger.imbalance
            try #require(imbalance == nil, "seed \(seed)")
            let begun = Self.positions(of: world) { if case .disposing(let id) = $0 { id } else { nil } }
            let ended = Self.positions(of: world) { if case .disposed(let id) = $0 { id } else { nil } }
            for holder in world.made.current {
                for held in holder.dependencies {
                    let comesFirst = (ended[holder.id] ?? .max) < (begun[held.id] ?? .min)
                    try #require(comesFirst, "seed \(seed): \(holder.tag) holds \(held.tag)")
                }
            }
        }
    }

    /// Where in the ledger's events each instance's one is.
    private static func positions(of world: World, _ id: (Ledger.Event) -> Int?) -> [Int: Int] {
        var positions: [Int: Int] = [:]
        for (position, event) in world.ledger.events.enumerated() {
            if let id = id(event) { positions[id] = position }
        }
        return positions
    }
}
