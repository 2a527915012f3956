import Testing

@testable import AsyncDI

/// What users of Swinject do: a test for each capability, under the name that they know it by.
@Suite(.timeLimit(.minutes(10)))
struct SwinjectParityTests {
    // MARK: Behaviours and description

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

    // MARK: Registration

    @Test func `registration by name`() async throws {
        let container = Container {
            Registration((any Animal).self, qualifier: "cat") { _ in Cat() }
            Registration((any Animal).self, qualifier: "dog") { _ in Dog() }
        }
        #expect(try await container.resolve((any Animal).self, qualifier: "cat") is Cat)
        #expect(try await container.resolve((any Animal).self, qualifier: .named("dog")) is Dog)
        await expect(.notRegistered) { try await container.resolve((any Animal).self) }
    }

    @Test func `registration by arguments, of which the types tell registrations apart`() async throws {
        let container = Container {
            Registration(Cat.self) { _ in Cat("none") }
            Registration(Cat.self) { (_, name: String) in Cat(name) }
            Registration(Cat.self) { (_, name: String, number: Int) in Cat("\(name) \(number)") }
        }
        #expect(try await container.resolve(Cat.self).name == "none")
        #expect(try await container.resolve(Cat.self, arguments: "Mimi").name == "Mimi")
        #expect(try await container.resolve(Cat.self, arguments: "Mimi", 2).name == "Mimi 2")
        await expect(.argumentMismatch) { try await container.resolve(Cat.self, arguments: 2, "Mimi") }
    }

    @Test func `autoregistration: an initialiser is registered by its parameters' types`() async throws {
        let container = Container {
            Registration(Cat.self, lifetime: .singleton) { _ in Cat("Mimi") }.implements((any Animal).self) { $0 }
            Registration(using: Person.init(pet:cat:))
        }
        let person = try await container.resolve(Person.self)
        #expect(person.pet === person.cat)
        #expect(person.cat.name == "Mimi")
    }

    // MARK: Object scopes

    @Test func `object scope transient: a new instance for every request`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { _ in Thing() }
            Registration(using: Pair.init)
        }
        let pair = try await container.resolve(Pair.self)
        #expect(pair.first !== pair.second)
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
    }

    @Test func `object scope graph: shared within one resolution, and not with the next`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .graph) { _ in Thing() }
            Registration(using: Pair.init)
        }
        let (pair, next) = (try await container.resolve(Pair.self), try await container.resolve(Pair.self))
        #expect(pair.first === pair.second)
        #expect(pair.first !== next.first)
    }

    @Test func `object scope container: shared by the container and its children`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let child = Container(parent: container)
        let thing = try await child.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(try await Container(parent: container).resolve(Thing.self) === thing)
    }

    @Test func `object scope weak: shared while somebody holds it`() async throws {
        let runs = Counter()
        let container = Container { Registration(Thing.self, lifetime: .weak) { _ in Thing(runs.increment()) } }
        do {
            let thing = try await container.resolve(Thing.self)
            #expect(try await container.resolve(Thing.self) === thing)
            #expect(runs.value == 1)
        }
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `object scope multiton: one instance for each pack of arguments`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int, _: String) in Thing(number) }
        }
        let one = try await container.resolve(Thing.self, arguments: 1, "a")
        #expect(try await container.resolve(Thing.self, arguments: 1, "a") === one)
        #expect(try await container.resolve(Thing.self, arguments: 1, "b") !== one)
        #expect(try await container.resolve(Thing.self, arguments: 2, "a").number == 2)
    }

    @Test func `a custom object scope has a storage factory`() async throws {
        let made = Counter()
        let lifetime = Lifetime("discarded when read") {
            made.increment()
            return OneUseStorage()
        }
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Cat.self, lifetime: lifetime) { _ in Cat() }
        }
        let thing = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing, "the storage still has it, once")
        #expect(try await container.resolve(Thing.self) !== thing, "the storage has let it go")
        _ = try await container.resolve(Cat.self)
        #expect(made.value == 2, "one storage for each registration")
    }

    @Test func `a custom object scope composes its storage with a parent's`() async throws {
        let kept = StrongStorage()
        let lifetime = Lifetime("once, or as long as the parent") { CompositeStorage([OneUseStorage(), kept]) }
        let container = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing() } }
        let thing = try await container.resolve(Thing.self)
        for _ in 1...3 { #expect(try await container.resolve(Thing.self) === thing, "the parent's storage has it") }
        kept.clear()
        #expect(try await container.resolve(Thing.self) !== thing)
    }

    @Test func `resetObjectScope forgets the instances of one scope`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .session) { _ in Thing() }
            Registration(Cat.self, lifetime: .singleton) { _ in Cat() }
        }
        let (thing, cat) = (try await container.resolve(Thing.self), try await container.resolve(Cat.self))
        try await container.reset(.session)
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Cat.self) === cat)
    }

    @Test func `resetObjectScope by type forgets one service`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(Cat.self, lifetime: .singleton) { _ in Cat() }
        }
        let (thing, cat) = (try await container.resolve(Thing.self), try await container.resolve(Cat.self))
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Cat.self) === cat)
    }

    @Test(arguments: [false, true])
    func `resetObjectScope goes through ancestors when told to, by scope and by type alike`(isByType: Bool) async throws
    {
        let root = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let child = Container(parent: Container(parent: root))
        func reset(throughAncestors: Bool) async throws {
            if isByType {
                try await child.reset(Thing.self, throughAncestors: throughAncestors)
            } else {
                try await child.reset(.singleton, throughAncestors: throughAncestors)
            }
        }
        let thing = try await child.resolve(Thing.self)
        try await reset(throughAncestors: false)
        #expect(try await child.resolve(Thing.self) === thing)
        try await reset(throughAncestors: true)
        #expect(try await child.resolve(Thing.self) !== thing)
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

    // MARK: Hooks

    @Test func `initCompleted: several hooks, in order, before anybody gets the instance`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Cat.self, lifetime: .singleton) { _ in Cat("Mimi") }
                .onCreate { _, cat in log.append("first \(cat.name)") }
                .onCreate { r, _ in log.append("second \(try await r.resolve(Int.self))") }
            Registration(Int.self, instance: 2)
        }
        _ = try await container.resolve(Cat.self)
        #expect(log.entries == ["first Mimi", "second 2"])
    }

    @Test(arguments: [Lifetime.graph, .singleton, .weak])
    func `initCompleted: services that need each other`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Parent.self, lifetime: lifetime) { r in
                runs.increment()
                return Parent(child: try await r.resolve())
            }
            Registration(Child.self, lifetime: lifetime) { _ in
                runs.increment()
                return Child()
            }
            .injectProperties { r, child in
                let parent = try await r.resolve(Parent.self)
                child.parent.withLock { $0 = WeakReference(parent) }
            }
        }
        let parent = try await container.resolve(Parent.self)
        #expect(parent.child.parent.withLock { $0 }?.instance === parent)
        #expect(runs.value == 2)
    }

    // MARK: Wrappers

    @Test func `Lazy is resolved at its first use, once, with names and arguments`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Cat.self, qualifier: "named", lifetime: .transient) { (_, name: String) in
                Cat("\(name) \(runs.increment())")
            }
        }
        let lazy = try await container.resolve(Lazy<Cat>.self, qualifier: "named", arguments: "Mimi")
        #expect(runs.value == 0)
        let cat = try await lazy()
        #expect(cat.name == "Mimi 1")
        #expect(try await lazy() === cat)
    }

    @Test func `Lazy restores its graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(LazyPair.self) { r in
                LazyPair(first: try await r.resolve(), second: try await r.resolve())
            }
        }
        let pair = try await container.resolve(LazyPair.self)
        #expect(try await pair.second() === pair.first)
        let next = try await container.resolve(LazyPair.self)
        #expect(try await next.second() !== pair.first)
    }

    @Test func `Optional, and a Provider used in a factory, belong to its graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration([Thing].self) { r in
                let optional = try await r.resolve(Thing?.self)
                let provider = try await r.resolve(Provider<Thing>.self)
                return [try await r.resolve(), try #require(optional), try await provider()]
            }
        }
        let things = try await container.resolve([Thing].self)
        #expect(things.count == 3 && things.allSatisfy { $0 === things[0] })
    }

    @Test func `Provider resolves at each use, with names and arguments`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Cat.self, qualifier: "named", lifetime: .transient) { (_, name: String) in
                Cat("\(name) \(runs.increment())")
            }
        }
        let provider = try await container.resolve(Provider<Cat>.self, qualifier: "named", arguments: "Mimi")
        #expect(runs.value == 0)
        #expect(try await provider().name == "Mimi 1")
        #expect(try await provider().name == "Mimi 2")
        #expect(try await provider("Tom").name == "Tom 3", "arguments may also come at the call")
    }

    @Test func `Optional is nil for what is not registered, with names and arguments`() async throws {
        let container = Container {
            Registration(Cat.self, qualifier: "named") { (_, name: String) in Cat(name) }
            Registration(using: Finder.init)
        }
        #expect(try await container.resolve(Cat?.self, qualifier: "named", arguments: "Mimi")?.name == "Mimi")
        #expect(try await container.resolve(Cat?.self, qualifier: "other", arguments: "Mimi") == nil)
        #expect(try await container.resolve(Finder.self).dog == nil)
        await expect(.argumentMismatch) { try await container.resolve(Cat?.self, qualifier: "named") }
    }

    // MARK: Forwarding

    @Test func `implements forwards with the name and the arguments`() async throws {
        let container = Container {
            Registration(Cat.self, qualifier: "named", lifetime: .multiton) { (_, name: String) in Cat(name) }
                .implements((any Animal).self) { $0 }
        }
        let cat = try await container.resolve(Cat.self, qualifier: "named", arguments: "Mimi")
        #expect(
            try await container.resolve((any Animal).self, qualifier: "named", arguments: "Mimi") === cat)
        #expect(
            try await container.resolve((any Animal).self, qualifier: "named", arguments: "Tom").name == "Tom")
        await expect(.notRegistered) { try await container.resolve((any Animal).self, arguments: "Mimi") }
        await expect(.argumentMismatch) { try await container.resolve((any Animal).self, qualifier: "named") }
    }

    @Test(arguments: [Lifetime.graph, .singleton, .weak, .scoped])
    func `implements shares the instance in every scope, under several types`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Cat.self, lifetime: lifetime) { _ in Cat("\(runs.increment())") }
                .implements((any Animal).self) { $0 }
                .implements((any Named).self)
            Registration(Trio.self) { r in
                Trio(cat: try await r.resolve(), animal: try await r.resolve(), named: try await r.resolve())
            }
        }
        let trio = try await container.resolve(Trio.self)
        #expect(trio.animal === trio.cat)
        #expect(trio.named === trio.cat)
        #expect(runs.value == 1)
    }

    @Test func `implements of an incompatible type is an error that says so`() async throws {
        let container = Container { Registration(Thing.self) { _ in Thing() }.implements((any Animal).self) }
        let error = await expect(.typeMismatch) { try await container.resolve((any Animal).self) }
        #expect(error?.description.contains("Thing") == true)
        _ = try await container.resolve(Thing.self)
    }

    @Test(arguments: [Lifetime.graph, .singleton, .weak, .scoped])
    func `implements under names of its own shares the instance, and ends with it`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Cat.self, qualifier: "cat", lifetime: lifetime) { (_, name: String) in Cat(name) }
                .implements((any Animal).self, qualifier: nil) { $0 }
                .implements((any Named).self, qualifier: "named")
                .implements(Cat.self, qualifier: "alias") { $0 }
        }
        let identifier = GraphIdentifier()
        func cats() async throws -> [Cat] {
            let answers: [any Sendable] = try await container.withGraph(identifier) { r in
                [
                    try await r.resolve(Cat.self, qualifier: "cat", arguments: "Mimi"),
                    try await r.resolve((any Animal).self, arguments: "Mimi"),
                    try await r.resolve((any Named).self, qualifier: "named", arguments: "Mimi"),
                    try await r.resolve(Cat.self, qualifier: "alias", arguments: "Mimi"),
                ]
            }
            return answers.compactMap { $0 as? Cat }
        }
        let first = try await cats()
        #expect(first.count == 4 && first.allSatisfy { $0 === first[0] })
        await expect(.notRegistered) {
            try await container.resolve((any Animal).self, qualifier: "cat", arguments: "Mimi")
        }
        guard lifetime != .graph else { return }
        try await container.reset((any Named).self, qualifier: "named")
        let second = try await cats()
        #expect(second[0] !== first[0])
        #expect(second.allSatisfy { $0 === second[0] })
        await container.unregister(Cat.self, qualifier: "cat")
        await expect(.notRegistered) { try await container.resolve((any Animal).self, arguments: "Mimi") }
        await expect(.notRegistered) {
            try await container.resolve(Cat.self, qualifier: "alias", arguments: "Mimi")
        }
    }

    @Test func `forward: another type is added later by a registration of its own`() async throws {
        let container = Container { Registration(Cat.self, lifetime: .singleton) { _ in Cat() } }
        let cat = try await container.resolve(Cat.self)
        try await container.register((any Animal).self, lifetime: .transient) { r in try await r.resolve(Cat.self) }
        #expect(try await container.resolve((any Animal).self) === cat)
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

    @Test func `removeAll takes back every registration, and disposes what they made`() async throws {
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

extension Lifetime {
    fileprivate static let session = Lifetime("session")
}

private protocol Named: AnyObject, Sendable {
    var name: String { get }
}

private protocol Animal: AnyObject, Sendable {
    var name: String { get }
}

private final class Cat: Animal, Named {
    let name: String
    init(_ name: String = "cat") { self.name = name }
}

private final class Dog: Animal {
    let name = "dog"
}

private struct Person: Sendable {
    let pet: any Animal
    let cat: Cat
}

private struct Pair: Sendable {
    let first: Thing
    let second: Thing
}

private struct LazyPair: Sendable {
    let first: Thing
    let second: Lazy<Thing>
}

private struct Trio: Sendable {
    let cat: Cat
    let animal: any Animal
    let named: any Named
}

private struct Finder: Sendable {
    let dog: Dog?
}

private struct GraphKeeper: Sendable {
    let thing: Thing
    let graph: GraphIdentifier
}

private final class Holder: Sendable {
    let cat: Cat
    init(cat: Cat) { self.cat = cat }
}

private final class Parent: Sendable {
    let child: Child
    init(child: Child) { self.child = child }
}

private final class Child: Sendable {
    let parent = Locked<WeakReference<Parent>?>(nil)
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

/// Gives its instance once.
private final class OneUseStorage: InstanceStorage {
    private let instance = Locked<(any Sendable)?>(nil)

    func load() -> (any Sendable)? {
        instance.withLock { instance in
            defer { instance = nil }
            return instance
        }
    }
    func store(_ new: any Sendable) { instance.withLock { $0 = new } }
    func clear() { instance.withLock { $0 = nil } }
}
