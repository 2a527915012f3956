import Testing

@testable import AsyncDI

/// The capabilities that users of SwiftHilt know: a test for each, under its familiar name.
@Suite(.timeLimit(.minutes(10)))
struct SwiftHiltParityTests {
    // MARK: Registering

    @Test func `register and resolve`() async throws {
        let container = Container()
        try await container.register((any API).self, lifetime: .singleton) { _ in RealAPI() }
        try await container.register(Repository.self) { r in Repository(api: try await r.resolve()) }
        let repository: Repository = try await container.resolve()
        #expect(repository.api === (try await container.resolve((any API).self)))
        #expect(try await container.optional(Thing.self) == nil)
    }

    @Test func `registerMany contributes, and replaces nothing`() async throws {
        let container = Container { Registration(String.self, instance: "the one") }
        try await container.registerMany(String.self) { _ in "a" }
        try await container.registerMany(String.self) { _ in "b" }
        #expect(try await container.resolveMany(String.self) == ["a", "b"])
        #expect(try await container.resolve(String.self) == "the one")
        #expect(try await container.resolveMany(Int.self).isEmpty)
    }

    @Test func `qualifiers: custom types, and strings`() async throws {
        let container = Container {
            Registration(String.self, qualifier: Env.prod, instance: "prod")
            Registration(String.self, qualifier: Env.test, instance: "test")
            Registration(String.self, qualifier: .named("prod"), instance: "named")
        }
        #expect(try await container.resolve(String.self, qualifier: Env.prod) == "prod")
        #expect(try await container.resolve(String.self, qualifier: Env.test) == "test")
        #expect(try await container.resolve(String.self, qualifier: "prod") == "named")
        await expect(.notRegistered) { try await container.resolve(String.self) }
    }

    @Test func `modules of providers and contributions are installed together`() async throws {
        struct AppModule: Module {
            var registrations: Registrations {
                Registration((any API).self, lifetime: .singleton) { _ in RealAPI() }
                Registration(String.self, instance: "log").intoMany()
                Registration(String.self, instance: "metrics").intoMany()
            }
        }
        let container = Container()
        try await container.register(AppModule())
        #expect(try await container.resolve((any API).self) is RealAPI)
        #expect(try await container.resolveMany(String.self) == ["log", "metrics"])
    }

    // MARK: Lifetimes

    @Test func `lifetime singleton: one instance, in the container that registers it, for its children too`()
        async throws
    {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let child = Container(parent: container)
        let thing = try await child.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing)
    }

    @Test func `lifetime singleton: its factory sees the registering container, also for a child`() async throws {
        let container = Container {
            Registration(String.self, instance: "parent's")
            Registration(Label.self, lifetime: .singleton) { r in Label(try await r.resolve()) }
        }
        let child = Container(parent: container) { Registration(String.self, instance: "child's") }
        #expect(try await child.resolve(Label.self).text == "parent's")
    }

    @Test func `lifetime scoped: one instance for each container asked`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .scoped) { _ in Thing() } }
        let child = Container(parent: container)
        let thing = try await container.resolve(Thing.self)
        #expect(try await child.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Thing.self) === thing)
    }

    @Test func `lifetime transient: a new instance for every request`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .transient) { _ in Thing() } }
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
    }

    @Test func `the default lifetime can be set for a container: to singleton, as in SwiftHilt`() async throws {
        let container = Container(defaultLifetime: .singleton) { Registration(Thing.self) { _ in Thing() } }
        #expect(try await container.resolve(Thing.self) === container.resolve(Thing.self))
    }

    // MARK: Containers

    @Test func `child(): sees its parent's services, and ends with it`() async throws {
        let container = Container { Registration(Int.self, instance: 1) }
        let child = Container(parent: container) { Registration(String.self, instance: "child's") }
        #expect(try await child.resolve(Int.self) == 1)
        await expect(.notRegistered) { try await container.resolve(String.self) }
        try await container.dispose()
        await expect(.disposed) { try await child.resolve(String.self) }
    }

    @Test func `clearCache() forgets this container's instances, and disposes them; the parent's stay`() async throws {
        let log = Log<String>()
        let parent = Container { Registration(Label.self, lifetime: .singleton) { _ in Label("parent's") } }
        let container = Container(parent: parent) {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in log.append("singleton") }
            Registration(Repository.self, lifetime: .scoped) { _ in Repository(api: RealAPI()) }
                .onDispose { _ in log.append("scoped") }
        }
        let label = try await container.resolve(Label.self)
        let thing = try await container.resolve(Thing.self)
        let repository = try await container.resolve(Repository.self)
        try await container.reset()
        #expect(log.entries == ["scoped", "singleton"])
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Repository.self) !== repository)
        #expect(try await container.resolve(Label.self) === label)
    }

    // MARK: Multibindings

    @Test func `multibindings come in the order of registration, the parent's first`() async throws {
        let root = Container { Registration(String.self, instance: "root").intoMany() }
        let middle = Container(parent: root)
        let leaf = Container(parent: middle) { Registration(String.self, instance: "leaf 1").intoMany() }
        try await middle.registerMany(String.self) { _ in "middle" }
        try await leaf.registerMany(String.self) { _ in "leaf 2" }
        #expect(try await leaf.resolveMany(String.self) == ["root", "middle", "leaf 1", "leaf 2"])
        #expect(try await middle.resolveMany(String.self) == ["root", "middle"])
    }

    @Test func `multibindings keep their order however late each is made, for many tasks at once`() async throws {
        let factories = (0..<4).map { _ in DrivenFactory<Int>() }
        let container = Container {
            for factory in factories {
                Registration(Int.self, lifetime: .singleton) { _ in try await factory.run() }.intoMany()
            }
        }
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<20 { group.addTask { try await container.resolveMany(Int.self) } }
            for factory in factories { await factory.began() }
            for index in factories.indices.reversed() { factories[index].answer(index) }
            for try await numbers in group { #expect(numbers == [0, 1, 2, 3]) }
        }
        #expect(factories.allSatisfy { $0.count == 1 })
    }

    @Test func `multibindings stay in order while others are contributed`() async throws {
        let container = Container { for number in 0..<10 { Registration(Int.self, instance: number).intoMany() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let numbers = try await container.resolveMany(Int.self)
                    #expect(Array(numbers.prefix(10)) == Array(0..<10))
                }
                group.addTask { try await container.registerMany(Int.self) { _ in 100 } }
            }
            try await group.waitForAll()
        }
        #expect(try await container.resolveMany(Int.self) == Array(0..<10) + Array(repeating: 100, count: 20))
    }

    @Test func `multibindings in map form, by keys`() async throws {
        let parent = Container {
            Registration(String.self, instance: "csv").intoMany(key: Format.csv)
            Registration(String.self, instance: "pdf").intoMany(key: Format.pdf)
            Registration(String.self, instance: "no key").intoMany()
        }
        let container = Container(parent: parent)
        try await container.registerMany(String.self, key: Format.pdf) { _ in "better pdf" }
        #expect(
            try await container.resolveMap(String.self, keyedBy: Format.self) == [.csv: "csv", .pdf: "better pdf"])
        #expect(try await parent.resolveMap(String.self, keyedBy: Format.self) == [.csv: "csv", .pdf: "pdf"])
    }

    @Test func `contributions have a lifetime, and are disposed`() async throws {
        let (runs, log) = (Counter(), Log<Int>())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }
                .onDispose { thing in log.append(thing.number) }
                .intoMany()
        }
        try await container.registerMany(Thing.self, lifetime: .transient) { _ in Thing(1 + runs.increment()) }
        let (first, second) = (
            try await container.resolveMany(Thing.self), try await container.resolveMany(Thing.self)
        )
        #expect(first[0] === second[0])
        #expect(first.map(\.number) == [1, 2])
        #expect(second.map(\.number) == [1, 3])
        try await container.dispose()
        #expect(log.entries == [1])
    }

    // MARK: Injection

    @Test func `global resolve, optional and resolveMany ask the current container`() async throws {
        let container = Container {
            Registration(Thing.self, instance: Thing(1))
            Registration(Int.self, instance: 5).intoMany()
        }
        try await Injection.with(container) { () async throws in
            let thing: Thing = try await resolve()
            let missing = try await optional(Label.self)
            let numbers = try await resolveMany(Int.self)
            #expect(thing.number == 1)
            #expect(missing == nil)
            #expect(numbers == [5])
        }
    }

    @Test func `@Inject with an owner asks the owner's container`() async throws {
        let container = Container {
            Registration(Thing.self, instance: Thing(1))
            Registration(Thing.self, qualifier: Env.test, instance: Thing(2))
        }
        let other = Container { Registration(Thing.self, instance: Thing(3)) }
        let owner = Injection.with(other) { Owner(container: container) }
        #expect(owner.thing.number == 1)
        #expect(owner.testThing.number == 2)
        #expect(Owner(container: other).thing.number == 3)
    }

    @Test func `prewarmSingletons makes every singleton, independent ones side by side`() async throws {
        let (first, second, scoped) = (DrivenFactory<Thing>(), DrivenFactory<Label>(), Counter())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await first.run() }
            Registration(Label.self, lifetime: .singleton) { _ in try await second.run() }
            Registration(Repository.self, lifetime: .scoped) { _ in
                scoped.increment()
                return Repository(api: RealAPI())
            }
        }
        async let prewarmed: Void = container.prewarm()
        await first.began()
        await second.began()
        first.answer(Thing(7))
        second.answer(Label("label"))
        try await prewarmed
        #expect(try container.ready(Thing.self).number == 7)
        #expect(try container.ready(Label.self).text == "label")
        #expect(scoped.value == 0)
    }

    @Test func `prewarm concerns one container, where SwiftHilt includes its ancestors`() async throws {
        let runs = Counter()
        let parent = Container { Registration(Int.self, lifetime: .singleton) { _ in runs.increment() } }
        let child = Container(parent: parent)
        try await child.prewarm()
        #expect(runs.value == 0)
        try await parent.prewarm()
        #expect(runs.value == 1)
    }

    @Test func `prewarmSingletons during other requests: each singleton is made once`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(runs.increment()) }
        }
        let child = Container(parent: container)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await container.prewarm() }
            for _ in 0..<100 { group.addTask { _ = try await child.resolve(Thing.self) } }
            try await group.waitForAll()
        }
        #expect(runs.value == 1)
    }
}

// MARK: The process's own container, one test at a time

extension InjectionDefaultTests {
    @Test func `install and useContainer: registrations go to the default container, which can be exchanged`()
        async throws
    {
        defer { Injection.default = nil }
        let container = Container()
        Injection.default = container
        try await Injection.default?.register {
            Registration((any API).self, lifetime: .singleton) { _ in RealAPI() }
        }
        #expect(try await resolve((any API).self) === container.resolve((any API).self))
        Injection.default = Container { Registration(Thing.self, instance: Thing(2)) }
        #expect(try await resolve(Thing.self).number == 2)
        await expect(.notRegistered) { try await resolve((any API).self) }
    }

    @Test func `environment precedence: the task's container, then the default`() async throws {
        defer { Injection.default = nil }
        Injection.default = Container { Registration(Int.self, instance: 1) }
        let task = Container { Registration(Int.self, instance: 2) }
        #expect(try await resolve(Int.self) == 1)
        let numbers = try await Injection.with(task) { () async throws in
            async let child = resolve(Int.self)
            return [
                try await resolve(Int.self), try await child, try await Task { try await resolve(Int.self) }.value,
                try await Task.detached { try await resolve(Int.self) }.value,
            ]
        }
        #expect(numbers == [2, 2, 2, 1], "a detached task has left the environment")
        #expect(Injection.container === Injection.default)
    }
}

extension SwiftHiltParityTests {
    @Test func `recording and DOT: the graph of the resolved services`() async throws {
        let container = Container {
            Registration((any API).self, lifetime: .singleton) { _ in RealAPI() }
            Registration(using: Repository.init)
        }
        await container.startRecording()
        _ = try await container.resolve(Repository.self)
        await container.stopRecording()
        let graph = await container.dependencyGraph()
        #expect(graph.edges.map { "\($0.from) -> \($0.to)" } == ["Repository -> API"])
        #expect(try graph.topologicalOrder() == ["API", "Repository"])
        let dot = graph.dot()
        #expect(dot.hasPrefix("digraph") && dot.contains("Repository") && dot.contains("->"))
    }
}

// MARK: Services

private enum Env: Qualifier { case prod, test }
private enum Format: Sendable { case csv, pdf }

private protocol API: AnyObject, Sendable {}
private final class RealAPI: API {}

private final class Repository: Sendable {
    let api: any API
    init(api: any API) { self.api = api }
}

private final class Label: Sendable {
    let text: String
    init(_ text: String) { self.text = text }
}

private final class Owner: ContainerOwner {
    let container: Container
    @OwnerInject var thing: Thing
    @OwnerInject(qualifier: Env.test) var testThing: Thing

    init(container: Container) { self.container = container }
}
