import Testing

@testable import AsyncDI

@Suite(.timeLimit(.minutes(10)))
struct GraphIdentifierTests {
    private final class Owner: Sendable {
        let graph: GraphIdentifier
        let part: Thing
        init(_ graph: GraphIdentifier, _ part: Thing) {
            self.graph = graph
            self.part = part
        }
    }

    private func makeContainer(_ made: Counter = Counter()) -> Container {
        Container {
            Registration(Thing.self) { _ in Thing(made.increment()) }
            Registration(using: Owner.init)
        }
    }

    @Test func `withGraph shares one graph among several resolves`() async throws {
        let container = makeContainer()
        try await container.withGraph { r in
            let thing = try await r.resolve(Thing.self)
            #expect(try await r.resolve(Thing.self) === thing)
            #expect(try await r.resolve(Owner.self).part === thing)
        }
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
    }

    @Test func `a graph is returned to by the identifier that was resolved inside it`() async throws {
        let container = makeContainer()
        let owner = try await container.resolve(Owner.self)
        try await container.withGraph(owner.graph) { r in
            let (part, graph) = (try await r.resolve(Thing.self), try await r.resolve(GraphIdentifier.self))
            #expect(part === owner.part)
            #expect(graph == owner.graph)
        }
        #expect(try await container.resolve(Owner.self).graph != owner.graph)
    }

    @Test func `a custom identifier joins separate requests, as long as a reference holds the instances`()
        async throws
    {
        let container = makeContainer()
        let graph = GraphIdentifier()
        var thing: Thing? = try await container.withGraph(graph) { try await $0.resolve(Thing.self) }
        let same = try await container.withGraph(graph) { try await $0.resolve(Thing.self) }
        #expect(same === thing)
        weak let gone = thing
        thing = nil
        _ = consume same
        #expect(gone == nil, "the identifier does not hold instances")
        #expect(try await container.withGraph(graph) { try await $0.resolve(Thing.self) }.number == 2)
    }

    @Test func `a graph in use by one task keeps its instances while another leaves it`() async throws {
        let container = makeContainer()
        let graph = GraphIdentifier()
        let gate = Gate()
        let longer = Task {
            try await container.withGraph(graph) { r in
                let number = try await r.resolve(Thing.self).number
                await gate.pass()
                return (number, try await r.resolve(Thing.self).number)
            }
        }
        await gate.arrived()
        #expect(try await container.withGraph(graph) { try await $0.resolve(Thing.self).number } == 1)
        gate.open()
        #expect(try await longer.value == (1, 1))
    }

    @Test func `an instance that holds the identifier of its own graph is freed`() async throws {
        let container = makeContainer()
        weak var gone: Owner?
        do {
            let owner = try await container.resolve(Owner.self)
            gone = owner
        }
        #expect(gone == nil)
    }

    @Test func `a thousand tasks in one graph get one instance`() async throws {
        let made = Counter()
        let container = makeContainer(made)
        try await container.withGraph { r in
            try await withThrowingTaskGroup(of: Thing.self) { group in
                for _ in 0..<1000 { group.addTask { try await r.resolve(Thing.self) } }
                var things: Set<ObjectIdentifier> = []
                for try await thing in group { things.insert(ObjectIdentifier(thing)) }
                #expect(things.count == 1)
            }
        }
        #expect(made.value == 1)
    }

    @Test func `a graph used for long forgets released instances after a few more`() async throws {
        let container = Container { Registration(Thing.self) { (_, number: Int) in Thing(number) } }
        let graph = GraphIdentifier()
        let kept = try await container.withGraph(graph) { r in try await r.resolve(Thing.self, arguments: -1) }
        for number in 0..<100 {
            _ = try await container.withGraph(graph) { r in try await r.resolve(Thing.self, arguments: number).number }
        }
        let again = try await container.withGraph(graph) { r in try await r.resolve(Thing.self, arguments: -1) }
        #expect(again === kept)
        #expect((1...17).contains(graph.graph.count))
    }

    @Test func `the end of a use costs the same, however many instances of the graph are alive`() async throws {
        let container = Container { Registration(Thing.self) { (_, number: Int) in Thing(number) } }
        let graph = GraphIdentifier()
        let things = try await container.withGraph(graph) { r in
            var things: [Thing] = []
            for number in 0..<20_000 { things.append(try await r.resolve(Thing.self, arguments: number)) }
            return things
        }
        for number in 0..<20_000 {
            let again = try await container.withGraph(graph) { r in try await r.resolve(Thing.self, arguments: number) }
            #expect(again === things[number])
        }
    }

    @Test(arguments: [false, true])
    func `a task that has outlived its scope is refused alone, whatever other tasks do with the graph`(
        isLateFirst: Bool
    ) async throws {
        struct Setting: Sendable { let name: String }
        struct Facade: Sendable { let setting: Setting }
        let (mayEnd, begun) = (Gate(), Counter())
        let container = Container {
            Registration(instance: Setting(name: "app"))
            Registration(Facade.self) { r in
                begun.increment()
                await mayEnd.pass()
                return Facade(setting: try await r.resolve())
            }
        }
        let (graph, isOver) = (GraphIdentifier(), Gate())
        @Sendable func request() async throws -> String {
            try await container.withGraph(graph) { try await $0.resolve(Facade.self).setting.name }
        }
        let late = try await container.withScope {
            Registration(instance: Setting(name: "scope"))
        } operation: { _ in
            Task {
                await isOver.pass()
                await expect(.disposed) { try await request() }
            }
        }
        if isLateFirst {
            isOver.open()
            await until { begun.value == 1 }
        }
        let current = Task.detached { try await request() }
        await until { begun.value == (isLateFirst ? 2 : 1) }
        isOver.open()
        await until { begun.value == 2 }
        mayEnd.open()
        #expect(try await current.value == "app")
        await late.value
    }

    @Test func `a task that has outlived its scope shares a graph's instances that did not need the scope`()
        async throws
    {
        let container = makeContainer()
        let (owner, empty, isOver) = (try await container.resolve(Owner.self), GraphIdentifier(), Gate())
        let late = try await container.withScope { _ in
            Task {
                await isOver.pass()
                let part = try await container.withGraph(owner.graph) { r in
                    let thing = try await r.resolve(Thing.self)
                    #expect(try await r.resolve(Thing.self) === thing)
                    #expect(try await r.resolve(Owner.self).part === thing)
                    #expect(try await r.resolve(GraphIdentifier.self) == owner.graph)
                    return thing
                }
                return (part, try await container.withGraph(empty) { try await $0.resolve(Thing.self) })
            }
        }
        isOver.open()
        let (part, new) = try await late.value
        #expect(part === owner.part)
        #expect(try await container.withGraph(empty) { try await $0.resolve(Thing.self) } === new)
    }
}
