import Testing

@testable import AsyncDI

private final class Session: Sendable {}

/// A graph service that holds a service of its scope.
private final class View: Sendable {
    let session: Session
    init(_ session: Session) { self.session = session }
}

private final class Holder: Sendable {
    let part: any Sendable
    init(_ part: any Sendable) { self.part = part }
}

/// One graph of requests to several containers.
@Suite(.timeLimit(.minutes(10))) struct GraphInScopesTests {
    private let graph = GraphIdentifier()
    private let root = Container {
        Registration(Session.self, lifetime: .scoped) { _ in Session() }
        Registration(using: View.init)
        Registration(Thing.self) { _ in Thing() }
    }

    @Test func `one scope after the other gets instances of its own`() async throws {
        var kept: [View] = []
        for _ in 0..<50 {
            try await root.withScope { [graph] scope in
                let view = try await scope.withGraph(graph) { try await $0.resolve(View.self) }
                #expect(try await view.session === scope.resolve(Session.self))
                kept.append(view)
            }
        }
        #expect(Set(kept.map(ObjectIdentifier.init)).count == 50)
    }

    @Test func `each container has a number that no other one ever has`() async throws {
        var seen: Set<UInt64> = [root.core.number]
        for _ in 0..<200 { seen.insert(Container().core.number) }
        for _ in 0..<200 { _ = try await root.withScope { seen.insert($0.core.number) } }
        #expect(seen.count == 401)
    }

    @Test func `instances of closed scopes do not pile up in a graph that is in use`() async throws {
        try await root.withGraph(graph) { [root, graph] resolver in
            let own = try await resolver.resolve(Thing.self)
            for _ in 0..<1_000 {
                try await root.withScope { scope in
                    _ = try await scope.withGraph(graph) { try await $0.resolve(View.self) }
                }
            }
            #expect(graph.graph.count < 100)
            #expect(try await resolver.resolve(Thing.self) === own)
        }
    }

    // MARK: Captives

    /// A root whose singleton resolves a scope's graph.
    private func makeRoot(lifetime: Lifetime = .singleton, asking asked: Locked<Container?>) -> Container {
        Container {
            Registration(Session.self, lifetime: .scoped) { _ in Session() }
            Registration(using: View.init)
            Registration(Thing.self) { _ in Thing() }
            Registration(Holder.self, lifetime: lifetime) { [graph] _ in
                let asked = try #require(asked.withLock { $0 })
                return Holder(try await asked.withGraph(graph) { try await $0.resolve(View.self) })
            }
        }
    }

    @Test(arguments: [Lifetime.singleton, .multiton, .weak])
    func `an instance that outlives a scope cannot take one that the scope's graph has already`(lifetime: Lifetime)
        async throws
    {
        let asked = Locked<Container?>(nil)
        let root = makeRoot(lifetime: lifetime, asking: asked)
        let scope = try await root.openScope("request")
        asked.withLock { $0 = scope }
        let view = try await scope.withGraph(graph) { try await $0.resolve(View.self) }
        await expect(.captiveDependency, path: ["Holder", "View"]) { try await root.resolve(Holder.self) }
        await expect(.captiveDependency) { try await root.resolve(Holder.self) }
        await expect(.captiveDependency) { try await scope.resolve(Holder.self) }
        #expect(try await scope.withGraph(graph) { try await $0.resolve(View.self) } === view)
        asked.withLock { $0 = nil }
    }

    @Test func `an instance that is being created for another request is captive too`() async throws {
        let gate = Gate()
        let asked = Locked<Container?>(nil)
        let root = makeRoot(asking: asked)
        let scope = try await root.openScope("request") {
            Registration(View.self) { r in
                let view = View(try await r.resolve())
                await gate.pass()
                return view
            }
        }
        asked.withLock { $0 = scope }
        let first = Task { [graph] in _ = try await scope.withGraph(graph) { try await $0.resolve(View.self) } }
        await gate.arrived()
        await expect(.captiveDependency) { try await root.resolve(Holder.self) }
        gate.open()
        try await first.value
        await expect(.captiveDependency) { try await root.resolve(Holder.self) }
        asked.withLock { $0 = nil }
    }

    @Test func `an instance created for the same holder was checked already`() async throws {
        let scope = Locked<Container?>(nil)
        let root = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Holder.self, lifetime: .singleton) { [graph] _ in
                let scope = try #require(scope.withLock { $0 })
                return try await scope.withGraph(graph) { r in
                    let thing = try await r.resolve(Thing.self)
                    #expect(try await r.resolve(Thing.self) === thing)
                    return Holder(thing)
                }
            }
        }
        let request = try await root.openScope("request")
        scope.withLock { $0 = request }
        let holder = try await root.resolve(Holder.self)
        #expect(try await root.resolve(Holder.self) === holder)
        scope.withLock { $0 = nil }
    }

    @Test func `a scope's own singleton may take instances of its scope's graph`() async throws {
        let graph = graph
        try await root.withScope { scope in
            try await scope.register(Holder.self, lifetime: .singleton) { r in
                let scope = try #require(r.container)
                return Holder(try await scope.withGraph(graph) { try await $0.resolve(View.self) })
            }
            let view = try await scope.withGraph(graph) { try await $0.resolve(View.self) }
            #expect(try await scope.resolve(Holder.self).part as? View === view)
        }
    }

    @Test func `a root's singleton cannot take the root's scoped instances from a graph of the root`()
        async throws
    {
        let asked = Locked<Container?>(nil)
        let root = makeRoot(asking: asked)
        asked.withLock { $0 = root }
        let view = try await root.withGraph(graph) { try await $0.resolve(View.self) }
        await expect(.captiveDependency) { try await root.resolve(Holder.self) }
        await expect(.captiveDependency) { try await root.resolve(Holder.self) }
        withExtendedLifetime(view) {}
        asked.withLock { $0 = nil }
    }

    @Test func `a root's singleton may take instances from a graph of the root, where none is shorter-lived`()
        async throws
    {
        let asked = Locked<Container?>(nil)
        let root = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Holder.self, lifetime: .singleton) { [graph] _ in
                let asked = try #require(asked.withLock { $0 })
                return Holder(try await asked.withGraph(graph) { try await $0.resolve(Thing.self) })
            }
        }
        asked.withLock { $0 = root }
        let thing = try await root.withGraph(graph) { try await $0.resolve(Thing.self) }
        #expect(try await root.resolve(Holder.self).part as? Thing === thing)
        asked.withLock { $0 = nil }
    }
}
