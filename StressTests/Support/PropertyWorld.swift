import AsyncDI

/// A node of a graph that may be cyclic: its `init` received the requirements, and a hook set the properties
/// afterwards.
final class Linked: Sendable {
    let index: Int
    let requirements: [Linked]
    private let properties = Locked<[Int: Linked]>([:])
    private let failed = Counter()

    init(index: Int, requirements: [Linked]) {
        self.index = index
        self.requirements = requirements
    }

    var links: [Int: Linked] { properties.current }
    /// Whether the hook that sets the properties threw: then no outside code may ever see this node.
    var isFailed: Bool { failed.value > 0 }

    func link(to other: Linked) { properties.withLock { $0[other.index] = other } }
    func unlink() { properties.set([:]) }
    func fail() { failed.set(1) }
}

/// A random graph of two kinds of edges, as real registrations.
///
/// Requirements point to earlier nodes only, properties anywhere: each cycle has a property in it, so all are legal.
final class PropertyWorld: Sendable {
    struct HookFailure: Error {}

    let requirements: [[Int]]
    let properties: [[Int]]
    let probes: [Probe]
    private let lifetime: Lifetime
    private let seed: UInt64
    /// The number of failing runs of each node's hook before one succeeds.
    private let failures: [Int]
    private let hookRuns: [Counter]
    private let made = Locked<[Linked]>([])

    init(lifetime: Lifetime, mostFailures: Int = 0, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = 2 + random.below(8)
        let isRing = random.chance(0.4)
        requirements = (0..<count).map { index in
            if isRing { return index == 0 ? [] : [index - 1] }
            return (0..<index).filter { _ in random.chance(0.3) }
        }
        properties = (0..<count).map { index in
            if isRing && index == 0 { return [count - 1] }
            return (0..<count).filter { _ in random.chance(isRing ? 0.1 : 0.25) }
        }
        failures = (0..<count).map { _ in mostFailures == 0 ? 0 : random.below(mostFailures + 1) }
        probes = (0..<count).map { _ in Probe() }
        hookRuns = (0..<count).map { _ in Counter() }
        self.lifetime = lifetime
        self.seed = seed
    }

    var count: Int { probes.count }

    func makeContainer() -> Container {
        Container {
            for index in 0..<count {
                Registration(Linked.self, qualifier: NodeID(index: index), lifetime: lifetime) { resolver in
                    try await self.make(index, with: resolver)
                }
                .injectProperties { resolver, linked in
                    try await self.link(linked, with: resolver)
                }
            }
        }
    }

    private func make(_ index: Int, with resolver: Resolver) async throws -> Linked {
        let run = probes[index].enter()
        defer { probes[index].leave() }
        var random = SeededRandom(seed: seed, stream: index, run: run)
        await random.shake()
        var found: [Linked] = []
        for requirement in requirements[index] {
            found.append(try await resolver.resolve(Linked.self, qualifier: NodeID(index: requirement)))
        }
        await random.shake()
        let linked = Linked(index: index, requirements: found)
        made.withLock { $0.append(linked) }
        return linked
    }

    private func link(_ linked: Linked, with resolver: Resolver) async throws {
        let run = hookRuns[linked.index].add()
        var random = SeededRandom(seed: seed, stream: linked.index, run: -run)
        await random.shake()
        for property in properties[linked.index] {
            linked.link(to: try await resolver.resolve(Linked.self, qualifier: NodeID(index: property)))
            await random.shake(upTo: 1)
        }
        if run <= failures[linked.index] {
            linked.fail()
            throw HookFailure()
        }
    }

    /// The nodes that one resolution of this one creates, itself included.
    func reach(of index: Int) -> Set<Int> {
        var reached: Set<Int> = []
        var open = [index]
        while let next = open.popLast() {
            if reached.insert(next).inserted { open += requirements[next] + properties[next] }
        }
        return reached
    }

    /// Follows an instance through everything it reaches; returns the first inconsistency, or nil.
    func flaw(of answer: Linked) -> String? {
        var visited: [Int: Linked] = [:]
        var open = [answer]
        while let next = open.popLast() {
            if let known = visited.updateValue(next, forKey: next.index) {
                if known !== next { return "\(next.index) is there twice" }
                continue
            }
            let links = next.links
            if next.isFailed { return "\(next.index) failed, and is seen all the same" }
            if Set(links.keys) != Set(properties[next.index]) { return "\(next.index) is linked to \(links.keys)" }
            if next.requirements.map(\.index) != requirements[next.index] { return "\(next.index) lacks something" }
            open += next.requirements + links.values
        }
        return nil
    }

    /// Breaks the strong rings that the properties form.
    func unlink() {
        for linked in made.current { linked.unlink() }
        made.set([])
    }
}
