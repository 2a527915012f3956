import Testing

@testable import AsyncDI

/// A value of which two may differ although they were created in the same way.
private struct Value: Sendable, Equatable { let number: Int }

/// Equal only to itself, and always with the same hash.
private struct Colliding: Hashable {
    let number: Int
    func hash(into hasher: inout Hasher) { hasher.combine(0) }
}

/// How long and where instances are shared: the table of the guide "Lifetimes".
@Suite(.timeLimit(.minutes(10))) struct SharingTests {
    @Test func `a transient is never shared, with or without arguments`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .transient) { _ in Thing() }
            Registration(Thing.self, lifetime: .transient) { (_, number: Int) in Thing(number) }
            Registration(ThingPair.self, lifetime: .transient) { r in
                try await ThingPair(first: r.resolve(), second: r.resolve())
            }
        }
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
        #expect(try await container.resolve(Thing.self, arguments: 1) !== container.resolve(Thing.self, arguments: 1))
        #expect(try await !container.resolve(ThingPair.self).isShared)
    }

    @Test(arguments: Lifetime.shared)
    func `a shared service gives the same instance again`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(runs.increment()) }
        }
        let thing = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(try container.ready(Thing.self) === thing)
        #expect(runs.value == 1)
    }

    @Test(arguments: Lifetime.shared)
    func `arguments are part of the cache key`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int, text: String) in Thing(number) }
        }
        let one = try await container.resolve(Thing.self, arguments: 1, "a")
        let two = try await container.resolve(Thing.self, arguments: 2, "a")
        let other = try await container.resolve(Thing.self, arguments: 1, "b")
        #expect((one.number, two.number, other.number) == (1, 2, 1))
        #expect(one !== other)
        #expect(try await container.resolve(Thing.self, arguments: 1, "a") === one)
        #expect(try await container.resolve(Thing.self, arguments: 2, "a") === two)
        #expect(try await container.resolve(Thing.self, arguments: 1, "b") === other)
    }

    @Test(arguments: Lifetime.shared)
    func `equality of arguments decides, never their hash`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (_, key: Colliding) in Thing(key.number) }
        }
        let things = [
            try await container.resolve(Thing.self, arguments: Colliding(number: 1)),
            try await container.resolve(Thing.self, arguments: Colliding(number: 2)),
        ]
        #expect(things.map(\.number) == [1, 2])
        #expect(try await container.resolve(Thing.self, arguments: Colliding(number: 1)) === things[0])
    }

    @Test(arguments: Lifetime.shared)
    func `qualifiers have instances of their own`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, qualifier: "a", lifetime: lifetime) { _ in Thing(1) }
            Registration(Thing.self, qualifier: "b", lifetime: lifetime) { _ in Thing(2) }
        }
        let (a, b) = (
            try await container.resolve(Thing.self, qualifier: "a"),
            try await container.resolve(Thing.self, qualifier: "b")
        )
        #expect((a.number, b.number) == (1, 2))
        #expect(try await container.resolve(Thing.self, qualifier: "a") === a)
    }

    @Test(arguments: Lifetime.owned, [false, true])
    func `an owner shares its instance with every scope below it`(lifetime: Lifetime, asksBelowFirst: Bool) async throws
    {
        let root = Container()
        let owner = Container(parent: root) {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
        }
        let child = Container(parent: owner)
        let grandchild = try await child.openScope("grandchild")
        let order = asksBelowFirst ? [grandchild, child, owner] : [owner, child, grandchild]
        let thing = try await order[0].resolve(Thing.self)
        let withArguments = try await order[0].resolve(Thing.self, arguments: 1)
        for container in order {
            #expect(try await container.resolve(Thing.self) === thing)
            #expect(try await container.resolve(Thing.self, arguments: 1) === withArguments)
        }
        #expect(try await root.optional(Thing.self) == nil)
    }

    @Test(arguments: Lifetime.asked)
    func `each scope has its own instance, made by the container asked`(lifetime: Lifetime) async throws {
        let root = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
        }
        let containers = [root, try await root.openScope(1), try await root.openScope(2), Container(parent: root)]
        var things: [Thing] = []
        for container in containers {
            things.append(try await container.resolve(Thing.self))
            things.append(try await container.resolve(Thing.self, arguments: 1))
        }
        #expect(Set(things.map(ObjectIdentifier.init)).count == 8)
        for (index, container) in containers.enumerated() {
            #expect(try await container.resolve(Thing.self) === things[2 * index])
            #expect(try await container.resolve(Thing.self, arguments: 1) === things[2 * index + 1])
        }
    }

    @Test func `instances are kept through other registrations and resets of other services`() async throws {
        let root = Container { for lifetime in Lifetime.shared { Self.registration(lifetime) } }
        let scope = try await root.openScope("scope")
        var things: [Thing] = []
        for lifetime in Lifetime.shared { things.append(try await scope.resolve(qualifier: lifetime.name)) }
        try await root.register(Int.self, instance: 1)
        try await scope.register(String.self, instance: "")
        try await root.reset(String.self)
        for (thing, lifetime) in zip(things, Lifetime.shared) {
            #expect(try await scope.resolve(Thing.self, qualifier: lifetime.name) === thing)
        }
    }

    /// A thing qualified by the name of its lifetime.
    static func registration(_ lifetime: Lifetime) -> Registration<Thing> {
        Registration(Thing.self, qualifier: lifetime.name, lifetime: lifetime) { _ in Thing() }
    }

    // MARK: Origins of dependencies

    @Test(arguments: [Lifetime.transient, .graph] + Lifetime.asked)
    func `an instance of the container asked takes its dependencies from there`(lifetime: Lifetime) async throws {
        let parent = Container {
            Registration(String.self) { _ in "parent" }
            Registration((any NamedService).self, lifetime: lifetime) { r in try await NamedObject(name: r.resolve()) }
        }
        let child = Container(parent: parent) { Registration(String.self) { _ in "child" } }
        #expect(try await child.resolve((any NamedService).self).name == "child")
        #expect(try await parent.resolve((any NamedService).self).name == "parent")
        #expect(try await child.resolve((any NamedService).self).name == "child")
    }

    @Test(arguments: Lifetime.owned)
    func `an owner's instance takes the owner's dependencies, also for a child`(lifetime: Lifetime) async throws {
        let parent = Container {
            Registration(String.self) { _ in "parent" }
            Registration((any NamedService).self, lifetime: lifetime) { r in try await NamedObject(name: r.resolve()) }
        }
        let child = Container(parent: parent) { Registration(String.self) { _ in "child" } }
        #expect(try await child.resolve((any NamedService).self).name == "parent")
    }

    // MARK: Values

    @Test(arguments: Lifetime.kept)
    func `a value is shared like an object`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Value.self, lifetime: lifetime) { _ in Value(number: runs.increment()) }
            Registration((any NamedService).self, lifetime: lifetime) { _ in NamedValue(name: "\(runs.increment())") }
            Registration(Value.self, lifetime: lifetime) { (_, factor: Int) in Value(number: runs.increment() * factor)
            }
        }
        #expect(try await container.resolve(Value.self) == Value(number: 1))
        #expect(try await container.resolve(Value.self) == Value(number: 1))
        #expect(try await container.resolve((any NamedService).self).name == "2")
        #expect(try await container.resolve((any NamedService).self).name == "2")
        #expect(try await container.resolve(Value.self, arguments: 10) == Value(number: 30))
        #expect(try await container.resolve(Value.self, arguments: 10) == Value(number: 30))
    }

    @Test func `a value is shared within a graph, and never as a transient`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Value.self, lifetime: .graph) { _ in Value(number: runs.increment()) }
            Registration(Int.self, lifetime: .transient) { _ in runs.increment() }
            Registration([Value].self) { r in try await [r.resolve(), r.resolve()] }
            Registration([Int].self) { r in try await [r.resolve(), r.resolve()] }
        }
        #expect(try await container.resolve([Value].self) == [Value(number: 1), Value(number: 1)])
        #expect(try await container.resolve([Int].self) == [2, 3])
    }

    // MARK: The default

    @Test func `the default lifetime is graph`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(ThingPair.self) { r in try await ThingPair(first: r.resolve(), second: r.resolve()) }
        }
        #expect(try await container.resolve(ThingPair.self).isShared)
        #expect(try await container.resolve(Thing.self) !== container.resolve(Thing.self))
    }

    @Test func `the default lifetime can be changed for a container, and not for its children`() async throws {
        let container = Container(defaultLifetime: .singleton) {
            Registration(Thing.self) { _ in Thing() }
            Registration(using: { (thing: Thing) in ThingPair(first: thing, second: thing) })
        }
        let thing = try await container.resolve(Thing.self)
        #expect(try await container.resolve(Thing.self) === thing)
        try await container.register(Thing.self, qualifier: "late") { _ in Thing() }
        #expect(
            try await container.resolve(Thing.self, qualifier: "late")
                === container.resolve(Thing.self, qualifier: "late"))
        let child = Container(parent: container) { Registration(Thing.self, qualifier: "child") { _ in Thing() } }
        #expect(try await child.resolve(Thing.self) === thing)
        #expect(
            try await child.resolve(Thing.self, qualifier: "child")
                !== child.resolve(Thing.self, qualifier: "child"))
    }
}
