import Testing

@testable import AsyncDI

/// How users of Swinject put containers together and look into them: each test under the name that they know it by.
@Suite(.timeLimit(.minutes(10))) struct SwinjectContainerParityTests {
    // MARK: Behaviors and description

    @Test func `behaviours: an observer hears of every registration`() async throws {
        let observer = RecordingObserver()
        let container = Container(observers: [observer]) { Registration(Cat.self) { _ in Cat() } }
        try await container.register((any Animal).self, qualifier: "dog") { _ in Dog() }
        await observer.received {
            guard case .registered(let key) = $0 else { return false }
            return key.description == "Animal[dog]"
        }
        let keys = observer.events.compactMap { event in
            if case .registered(let key) = event { key.description } else { nil }
        }
        #expect(keys == ["Cat", "Animal[dog]"])
    }

    @Test func `description lists registrations, sorted`() async throws {
        let container = Container(name: "zoo") {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }
            Registration(Cat.self) { (_, name: String) in Cat(name) }
            Registration((any Animal).self, qualifier: "dog") { _ in Dog() }
        }
        let text = container.description
        let places = ["Animal[dog]", "Cat(String)", "Dog"].map { text.ranges(of: $0).first?.lowerBound }
        #expect(!places.contains(nil), "\(text)")
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted(), "\(text)")
        #expect(text.contains("zoo") && text.contains("singleton"))
    }

    // MARK: Hierarchy

    @Test func `hierarchy: a child sees its parent's services, may override them, and keeps its own`() async throws {
        let parent = Container {
            Registration(Int.self, instance: 1)
            Registration(String.self, instance: "parent's")
        }
        let child = Container(parent: parent) {
            Registration(String.self, instance: "child's")
            Registration(Double.self, instance: 0.5)
        }
        #expect(try await child.resolve(Int.self) == 1)
        #expect(try await child.resolve(String.self) == "child's")
        #expect(try await parent.resolve(String.self) == "parent's")
        await expect(.notRegistered) { try await parent.resolve(Double.self) }
    }

    @Test func `hierarchy: a parent's shared service does not see a child's registrations`() async throws {
        let parent = Container {
            Registration(Cat.self) { _ in Cat("parent's") }
            Registration(Holder.self, lifetime: .singleton) { r in Holder(cat: try await r.resolve()) }
        }
        let child = Container(parent: parent) { Registration(Cat.self) { _ in Cat("child's") } }
        #expect(try await child.resolve(Holder.self).cat.name == "parent's")
    }

    // MARK: Assemblies

    @Test func `assemblies are loaded when all of them are registered`() async throws {
        let log = Log<String>()
        let container = Container {
            AnimalAssembly(log: log)
            NameAssembly(name: "Mimi", log: log)
        }
        #expect(log.entries.isEmpty)
        try await container.start()
        #expect(log.entries == ["animals: Mimi", "names"])
        #expect(try await container.resolve((any Animal).self).name == "Mimi")
        #expect(log.entries.count == 2, "each is told once")
    }

    @Test func `an assembler without a start has its assemblies loaded before it first answers`() async throws {
        let log = Log<String>()
        let container = Container {
            AnimalAssembly(log: log)
            NameAssembly(name: "Mimi", log: log)
        }
        _ = try await container.resolve((any Animal).self)
        #expect(log.entries == ["animals: Mimi", "names"])
    }

    @Test func `an assembly may be applied late, and is loaded before apply returns`() async throws {
        let log = Log<String>()
        let container = Container { NameAssembly(name: "Mimi", log: log) }
        try await container.start()
        try await container.register(AnimalAssembly(log: log))
        #expect(log.entries == ["names", "animals: Mimi"])
        #expect(try await container.resolve((any Animal).self).name == "Mimi")
    }

    @Test func `a child assembler uses its parent's assemblies`() async throws {
        let log = Log<String>()
        let parent = Container { NameAssembly(name: "Mimi", log: log) }
        let child = Container(parent: parent) { AnimalAssembly(log: log) }
        try await child.start()
        #expect(try await child.resolve((any Animal).self).name == "Mimi")
        #expect(log.entries.contains("animals: Mimi"))
        await expect(.notRegistered) { try await parent.resolve((any Animal).self) }
    }

    // MARK: The container

    @Test func `every outermost request has a GraphIdentifier, where Swinject has none`() async throws {
        let container = Container()
        let (first, second) = (
            try await container.resolve(GraphIdentifier.self), try await container.resolve(GraphIdentifier.self)
        )
        #expect(first != second)
    }

    @Test func `a GraphIdentifier re-enters its graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(GraphKeeper.self) { r in
                GraphKeeper(thing: try await r.resolve(), graph: try await r.resolve())
            }
        }
        let keeper = try await container.resolve(GraphKeeper.self)
        let (again, other) = (
            try await container.withGraph(keeper.graph) { try await $0.resolve(Thing.self) },
            try await container.resolve(Thing.self)
        )
        #expect(again === keeper.thing)
        #expect(other !== keeper.thing)
        #expect(try await container.resolve(GraphKeeper.self).graph != keeper.graph)
    }

    @Test func `hasAnyRegistration looks through ancestors, whatever the arguments`() async throws {
        let parent = Container { Registration(Cat.self, qualifier: "named") { (_, name: String) in Cat(name) } }
        let container = Container(parent: parent) { Registration(Thing.self) { _ in Thing() } }
        #expect(await container.hasAnyRegistration(of: Thing.self))
        #expect(await container.hasAnyRegistration(of: Cat.self, qualifier: "named"))
        #expect(await !container.hasAnyRegistration(of: Cat.self))
        #expect(await !parent.hasAnyRegistration(of: Thing.self))
        #expect(await !container.isRegistered(Cat.self, qualifier: "named"), "isRegistered is about one key")
        #expect(await container.isRegistered(Cat.self, qualifier: "named", arguments: String.self))
        try await parent.dispose()
        #expect(await !container.hasAnyRegistration(of: Thing.self))
    }

    @Test func `removeAll takes back all registrations, and disposes their instances`() async throws {
        let disposed = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in disposed.open() }
            Registration(Int.self, instance: 1)
        }
        _ = try await container.resolve(Thing.self)
        await container.unregisterAll()
        await expect(.notRegistered) { try await container.resolve(Thing.self) }
        await expect(.notRegistered) { try await container.resolve(Int.self) }
        await disposed.pass()
        try await container.register(Int.self, instance: 2)
        #expect(try await container.resolve(Int.self) == 2)
    }

    @Test func `synchronize is not needed: a hundred tasks share one creation, and nothing else waits`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() }
            Registration(Cat.self, lifetime: .singleton) { _ in Cat() }
        }
        try await withThrowingTaskGroup(of: Thing.self) { group in
            for _ in 0..<100 { group.addTask { try await container.resolve(Thing.self) } }
            await container.core.waiters(of: Thing.self, reach: 100)
            _ = try await container.resolve(Cat.self)
            let thing = Thing()
            factory.answer(thing)
            for try await one in group { #expect(one === thing) }
        }
        #expect(factory.count == 1)
    }
}

// MARK: Services

private protocol Animal: AnyObject, Sendable {
    var name: String { get }
}

private final class Cat: Animal {
    let name: String
    init(_ name: String = "cat") { self.name = name }
}

private final class Dog: Animal {
    let name = "dog"
}

private struct GraphKeeper: Sendable {
    let thing: Thing
    let graph: GraphIdentifier
}

private final class Holder: Sendable {
    let cat: Cat
    init(cat: Cat) { self.cat = cat }
}

private struct AnimalAssembly: Module {
    let log: Log<String>

    var registrations: Registrations {
        Registration((any Animal).self, lifetime: .singleton) { r in Cat(try await r.resolve(String.self)) }
    }

    func loaded(_ resolver: Resolver) async throws {
        log.append("animals: \(try await resolver.resolve((any Animal).self).name)")
    }
}

private struct NameAssembly: Module {
    let name: String
    let log: Log<String>

    var registrations: Registrations { Registration(String.self, instance: name) }

    func loaded(_ resolver: Resolver) async throws { log.append("names") }
}
