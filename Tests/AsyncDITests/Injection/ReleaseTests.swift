import Testing

@testable import AsyncDI

/// How many of a kind there are.
private final class Census: Sendable {
    private let count = Locked(0)
    var living: Int { count.withLock { $0 } }
    func enter() { count.withLock { $0 += 1 } }
    func leave() { count.withLock { $0 -= 1 } }
}

/// An object that keeps whatever a factory can give it, and is counted.
private final class Node: Sendable {
    let kept: [any Sendable]
    private let census: Census
    init(_ census: Census, keeping kept: [any Sendable] = []) {
        self.census = census
        self.kept = kept
        census.enter()
    }
    deinit { census.leave() }
}

private final class Leaf: Sendable {}

/// The objects of its resolution that an instance keeps.
private enum CacheEntry: CaseIterable, Sendable {
    case resolver, provider, lazy, usedLazy, graph, lazyOfItsOwn, injected, container

    func take(_ r: Resolver) async throws -> any Sendable {
        switch self {
        case .resolver: return r
        case .provider: return try await r.resolve(Provider<Leaf>.self)
        case .lazy: return try await r.resolve(Lazy<Leaf>.self)
        case .usedLazy:
            let lazy = try await r.resolve(Lazy<Leaf>.self)
            _ = try await lazy()
            return lazy
        case .graph: return try await r.resolve(GraphIdentifier.self)
        case .lazyOfItsOwn: return Lazy(Leaf.self)
        case .injected: return Injected<Leaf>()
        case .container: return try await r.resolve(Resolver.self)
        }
    }
}

/// All objects are freed after their last reference, whatever an instance keeps of its resolution.
@Suite(.timeLimit(.minutes(10))) struct ReleaseTests {
    private static let lifetimes: [Lifetime] = [.transient, .graph, .scoped, .singleton, .multiton, .weak]

    private func makeContainer(_ census: Census, _ lifetime: Lifetime, _ kept: CacheEntry) -> Container {
        Container {
            Registration(Leaf.self) { _ in Leaf() }
            Registration(Node.self, lifetime: lifetime) { r in Node(census, keeping: [try await kept.take(r)]) }
        }
    }

    @Test(arguments: lifetimes, CacheEntry.allCases)
    fileprivate func `an instance that a request created is freed`(lifetime: Lifetime, kept: CacheEntry) async throws {
        let census = Census()
        do {
            let container = makeContainer(census, lifetime, kept)
            _ = try await container.resolve(Node.self)
            try await container.withScope { scope in _ = try await scope.resolve(Node.self) }
        }
        #expect(census.living == 0)
    }

    @Test(arguments: lifetimes, CacheEntry.allCases)
    fileprivate func `an instance that a lazy created is freed`(lifetime: Lifetime, kept: CacheEntry) async throws {
        let census = Census()
        do {
            let container = makeContainer(census, lifetime, kept)
            let lazy = try await container.resolve(Lazy<Node>.self)
            let node = try await lazy()
            #expect(try await lazy() === node)
        }
        #expect(census.living == 0)
    }

    @Test(arguments: [Lifetime.transient, .graph], CacheEntry.allCases)
    fileprivate func `an instance that a lazy created is freed with it, in a container that stays`(
        lifetime: Lifetime, kept: CacheEntry
    ) async throws {
        let census = Census()
        let container = makeContainer(census, lifetime, kept)
        for _ in 0..<10 {
            let lazy = try await container.resolve(Lazy<Node>.self)
            _ = try await lazy()
            #expect(census.living == 1)
        }
        #expect(census.living == 0)
        let own = Lazy(Node.self, from: container)
        _ = try await own()
        own.release()
        #expect(census.living == 0)
    }

    @Test(arguments: lifetimes, lifetimes)
    func `an owner and the instance that its lazy created are freed`(owner: Lifetime, part: Lifetime) async throws {
        final class Owner: Sendable {
            let lazy: Lazy<Node>
            let node: Node
            init(_ lazy: Lazy<Node>, _ node: Node) { (self.lazy, self.node) = (lazy, node) }
        }
        let census = Census()
        do {
            let container = Container {
                Registration(Leaf.self) { _ in Leaf() }
                Registration(Node.self, lifetime: part) { r in
                    Node(
                        census,
                        keeping: [r, try await r.resolve(Lazy<Leaf>.self), try await r.resolve(Provider<Leaf>.self)])
                }
                Registration(Owner.self, lifetime: owner) { r in
                    Owner(try await r.resolve(), Node(census, keeping: [r]))
                }
            }
            let made = try await container.resolve(Owner.self)
            do {
                _ = try await made.lazy()
            } catch ResolutionError.Code.captiveDependency {
                // A singleton's request for a scoped service is refused.
            }
        }
        #expect(census.living == 0)
    }

    @Test(arguments: CacheEntry.allCases)
    fileprivate func `an instance of a kept graph is freed`(kept: CacheEntry) async throws {
        let census = Census()
        let container = makeContainer(census, .graph, kept)
        let graph = GraphIdentifier()
        for _ in 0..<10 {
            let node = try await container.withGraph(graph) { try await $0.resolve(Node.self) }
            let again = try await container.withGraph(graph) { try await $0.resolve(Node.self) }
            #expect(again === node)
        }
        #expect(census.living == 0)
        do {
            let lazy = try await container.withGraph(graph) { try await $0.resolve(Lazy<Node>.self) }
            let node = try await lazy()
            #expect(try await container.withGraph(graph) { try await $0.resolve(Node.self) } === node)
        }
        #expect(census.living == 0)
    }

    @Test func `wrappers inside wrappers are freed`() async throws {
        let census = Census()
        let container = makeContainer(census, .transient, .resolver)
        do {
            let nested = try await container.resolve(Lazy<Lazy<Node>>.self)
            _ = try await nested()()
            let provider = try await container.resolve(Lazy<Provider<Node>>.self)
            _ = try await provider()()
            let optional = try await container.resolve(Lazy<Node?>.self)
            _ = try await optional()
            #expect(census.living == 2)
        }
        #expect(census.living == 0)
    }

    @Test func `a lazy that fails, or is released during its creation, keeps nothing`() async throws {
        let census = Census()
        let gate = Gate()
        let fails = Locked(true)
        let container = Container {
            Registration(Node.self, lifetime: .transient) { r in
                let node = Node(census, keeping: [r])
                if fails.withLock({ $0 }) { throw TestError(1) }
                await gate.pass()
                return node
            }
        }
        do {
            let lazy = try await container.resolve(Lazy<Node>.self)
            await #expect(throws: TestError(1)) { try await lazy() }
            #expect(census.living == 0)
            fails.withLock { $0 = false }
            let task = Task { _ = try await lazy() }
            await gate.arrived()
            lazy.release()
            gate.open()
            try await task.value
            #expect(lazy.isEmpty)
            #expect(census.living == 0)
            _ = try await lazy()
            #expect(census.living == 1)
        }
        #expect(census.living == 0)
    }

    @Test func `callers that come at any moment get one instance`() async throws {
        let made = Counter()
        let container = Container { Registration(Thing.self, lifetime: .transient) { _ in Thing(made.increment()) } }
        for round in 1...2_000 {
            let lazy = try await container.resolve(Lazy<Thing>.self)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 { group.addTask { try await lazy().number } }
                for try await number in group { #expect(number == round) }
            }
        }
        #expect(made.value == 2_000)
    }

    @Test func `a creation that ends keeps no run that asked for it`() async throws {
        let census = Census()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(Leaf.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Resolver.self)
                return Leaf()
            }
            Registration(Node.self, lifetime: .singleton) { r in Node(census, keeping: [r]) }
            Registration(String.self, lifetime: .transient) { (r, node: Node) in
                _ = try await r.resolve(Node.self)
                _ = try await r.resolve(Leaf.self)
                return ""
            }
        }
        _ = try await container.resolve(String.self, arguments: Node(census))
        #expect(census.living == 1, "the argument of the first request is gone, the singleton stays")
    }
}
