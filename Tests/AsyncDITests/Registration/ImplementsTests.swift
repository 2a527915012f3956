import Testing

@testable import AsyncDI

private protocol Pet: Sendable {
    var name: String { get }
}
private protocol Walker: Sendable {}
private final class Dog: Pet, Walker {
    let name: String
    init(name: String) { self.name = name }
    convenience init() { self.init(name: "dog") }
}
private struct Fish: Pet {
    let name: String
}

/// One service under several types.
@Suite(.timeLimit(.minutes(10))) struct ImplementsTests {
    static let shared: [Lifetime] = [
        .singleton, .multiton, .scoped, .weak, Lifetime("custom"), Lifetime("own", ownedBy: .resolvingContainer),
        Lifetime("stored") { StrongStorage() },
    ]

    @Test(arguments: shared, [true, false])
    func `the other type gives the same instance, whichever is asked first`(lifetime: Lifetime, isFirst: Bool)
        async throws
    {
        let runs = Counter()
        let container = Container {
            Registration(Dog.self, lifetime: lifetime) { _ in
                runs.increment()
                return Dog()
            }
            .implements((any Pet).self)
            .implements((any Walker).self) { $0 }
        }
        let first: any Sendable =
            isFirst ? try await container.resolve((any Pet).self) : try await container.resolve(Dog.self)
        let dog = try await container.resolve(Dog.self)
        #expect(first as? Dog === dog)
        #expect(try await container.resolve((any Pet).self) as? Dog === dog)
        #expect(try await container.resolve((any Walker).self) as? Dog === dog)
        // Again, now that both may be there already.
        #expect(try await container.resolve((any Pet).self) as? Dog === dog)
        #expect(runs.value == 1)
    }

    @Test func `the other type goes with the service, also after a replacement`() async throws {
        let parent = Container { Registration((any Pet).self) { _ in Fish(name: "parent's") } }
        let container = Container(parent: parent) {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        try await container.register(Dog.self, lifetime: .singleton) { _ in Dog(name: "second") }
        #expect(try await container.resolve((any Pet).self).name == "second")
        #expect(await container.unregister(Dog.self))
        #expect(try await container.resolve((any Pet).self).name == "parent's")
        #expect(try await container.optional((any Walker).self) == nil)
    }

    @Test func `a decoration applies to the parent's service when the container's own other type is gone`() async throws
    {
        let parent = Container { Registration((any Pet).self) { _ in Fish(name: "fish") } }
        let container = Container(parent: parent) {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
            Decoration((any Pet).self) { _, pet in Fish(name: "decorated \(pet.name)") }
        }
        #expect(try await container.resolve((any Pet).self).name == "decorated dog")
        await container.unregister(Dog.self)
        #expect(try await container.resolve((any Pet).self).name == "decorated fish")
    }

    @Test(arguments: [true, false]) func `the other types of an ignored registration are ignored too`(atOnce: Bool)
        async throws
    {
        let ignored = Registrations {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog(name: "ignored") }.implements((any Pet).self)
        }
        let container = Container(onDuplicate: .keep) {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Walker).self)
            if atOnce { ignored }
        }
        if !atOnce { try await container.register { ignored } }
        #expect(try await container.optional((any Pet).self) == nil)
        #expect(try await container.resolve((any Walker).self) is Dog)
    }

    @Test func `the other type shares within a graph, and a transient is new each time`() async throws {
        let container = Container {
            Registration(Dog.self, qualifier: "graph", lifetime: .graph) { _ in Dog() }.implements((any Pet).self)
            Registration(Dog.self, qualifier: "transient", lifetime: .transient) { _ in Dog() }
                .implements((any Pet).self) { $0 }
            for name in ["graph", "transient"] {
                Registration(Bool.self, qualifier: name) { r in
                    let pet = try await r.resolve((any Pet).self, qualifier: name)
                    return try await r.resolve(Dog.self, qualifier: name) === pet as? Dog
                }
            }
        }
        #expect(try await container.resolve(Bool.self, qualifier: "graph"))
        #expect(try await !container.resolve(Bool.self, qualifier: "transient"))
    }

    @Test func `each scope's instance is shared with the other type in that scope`() async throws {
        let root = Container { Registration(Dog.self, lifetime: .scoped) { _ in Dog() }.implements((any Pet).self) }
        let (one, two) = (try await root.openScope(1), try await root.openScope(2))
        for _ in 0..<2 {
            for scope in [one, two, root] {
                #expect(try await scope.resolve((any Pet).self) as? Dog === scope.resolve(Dog.self))
            }
            // A look-up without a lock must try again.
            try await root.register(Int.self, instance: 1)
        }
        #expect(try await one.resolve((any Pet).self) as? Dog !== two.resolve((any Pet).self) as? Dog)
    }

    @Test func `the other type has the same qualifier and arguments`() async throws {
        let container = Container {
            Registration(Dog.self, qualifier: "q", lifetime: .singleton) { (_, name: String) in Dog(name: name) }
                .implements((any Pet).self)
        }
        let rex = try await container.resolve((any Pet).self, qualifier: "q", arguments: "rex")
        #expect(rex.name == "rex")
        #expect(try await container.resolve(Dog.self, qualifier: "q", arguments: "rex") === rex as? Dog)
        #expect(try await container.resolve((any Pet).self, qualifier: "q", arguments: "ada").name == "ada")
        #expect(try await container.optional((any Pet).self) == nil)
        await expect(.argumentMismatch) {
            try await container.resolve((any Pet).self, qualifier: "q")
        }
    }

    @Test func `a conversion may be any`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog(name: "rex") }
                .implements(String.self) { $0.name }
        }
        #expect(try await container.resolve(String.self) == "rex")
    }

    @Test func `a lease under the other type keeps the instance from its disposal`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Dog.self, lifetime: .multiton) { (_, name: String) in Dog(name: name) }
                .implements((any Pet).self)
                .implements(String.self) { $0.name }
                .onDispose { log.append("dispose \($0.name)") }
        }
        // The first lease creates the instance; the second time it is there already.
        for _ in 0..<2 {
            try await container.withInstance((any Pet).self, arguments: "rex") { pet in
                try await container.withInstance(String.self, arguments: "rex") { name in
                    try await container.reset(Dog.self)
                    log.append("use \(pet.name) \(name)")
                }
            }
            // Waits for the disposal of its predecessor.
            _ = try await container.resolve(Dog.self, arguments: "rex")
        }
        #expect(log.entries == ["use rex rex", "dispose rex", "use rex rex", "dispose rex"])
    }

    @Test func `a conversion that fails ends the lease`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Fish.self, lifetime: .singleton) { _ in Fish(name: "fish") }
                .implements((any Walker).self)
                .onDispose { log.append("dispose \($0.name)") }
        }
        await expect(.typeMismatch) { try await container.withInstance((any Walker).self) { _ in } }
        #expect(container.activity().leases.isEmpty)
        try await container.reset(Fish.self)
        #expect(log.entries == ["dispose fish"])
    }

    @Test func `a value implements too, and so does a given instance`() async throws {
        let container = Container {
            Registration(Fish.self, lifetime: .singleton) { _ in Fish(name: "made") }.implements((any Pet).self)
            Registration(Fish.self, qualifier: "q", instance: Fish(name: "given")).implements((any Pet).self)
        }
        #expect(try await container.resolve((any Pet).self).name == "made")
        #expect(try await container.resolve((any Pet).self, qualifier: "q").name == "given")
    }

    @Test(arguments: [Lifetime.transient, .graph, .singleton])
    func `a type that the service does not conform to is a typeMismatch`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Fish.self, lifetime: lifetime) { _ in Fish(name: "fish") }.implements((any Walker).self)
            Registration(using: { (walker: any Walker) in Thing() })
        }
        let direct = await expect(.typeMismatch) { try await container.resolve((any Walker).self) }
        #expect(direct?.description.contains("Fish") == true)
        #expect(direct?.description.contains("Walker") == true)
        let nested = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
        #expect(nested?.path.map(\.description) == ["Thing", "Walker"])
        #expect(try await container.resolve(Fish.self).name == "fish")
    }

    @Test func `a service that implements itself is an invalidRegistration`() async throws {
        let registration = Registration(Dog.self) { _ in Dog() }.implements(Dog.self)
        await expect(.invalidRegistration) { try await Container().register(registration) }
        await expect(.invalidRegistration) {
            try await Container { registration }.resolve(Dog.self)
        }
    }

    @Test func `the other type is registered: for isRegistered, optionals and children`() async throws {
        let container = Container { Registration(Dog.self) { _ in Dog() }.implements((any Pet).self) }
        let child = Container(parent: container)
        #expect(await container.isRegistered((any Pet).self))
        #expect(await child.isRegistered((any Pet).self))
        #expect(try await child.resolve((any Pet)?.self)?.name == "dog")
        #expect(try await child.optional((any Pet).self)?.name == "dog")
    }

    @Test func `a child shares its parent's instance through the other type`() async throws {
        let parent = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        let child = Container(parent: parent)
        let pet = try await child.resolve((any Pet).self)
        #expect(try await parent.resolve(Dog.self) === pet as? Dog)
    }

    // MARK: Changes

    @Test func `when the service is replaced, the other type gives the new one`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog(name: "old") }.implements((any Pet).self)
        }
        #expect(try await container.resolve((any Pet).self).name == "old")
        try await container.register(Dog.self, lifetime: .singleton) { _ in Dog(name: "new") }
        #expect(try await container.resolve((any Pet).self).name == "new")
        #expect(try await container.resolve((any Pet).self) as? Dog === container.resolve(Dog.self))
    }

    @Test func `when the service is unregistered, so is the other type`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        _ = try await container.resolve((any Pet).self)
        #expect(await container.unregister(Dog.self))
        #expect(await !container.isRegistered((any Pet).self))
        #expect(try await container.optional((any Pet).self) == nil)
    }

    @Test func `when the other type is unregistered, the service stays`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        let dog = try await container.resolve((any Pet).self)
        #expect(await container.unregister((any Pet).self))
        #expect(try await container.optional((any Pet).self) == nil)
        #expect(try await container.resolve(Dog.self) === dog as? Dog)
    }

    @Test func `a registration of the other type by itself takes its place, and stays when the service goes`()
        async throws
    {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        _ = try await container.resolve((any Pet).self)
        try await container.register((any Pet).self, lifetime: .singleton) { _ in Fish(name: "fish") }
        #expect(try await container.resolve((any Pet).self).name == "fish")
        #expect(try await container.resolve(Dog.self).name == "dog")
        await container.unregister(Dog.self)
        #expect(try await container.resolve((any Pet).self).name == "fish")
    }

    @Test func `a registration that replaced another type stays ready when the service is reset`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }.implements((any Pet).self)
        }
        _ = try await container.resolve((any Pet).self)
        try await container.register((any Pet).self, instance: Fish(name: "fish"))
        #expect(try container.ready((any Pet).self).name == "fish")
        try await container.reset(Dog.self)
        #expect(try container.ready((any Pet).self).name == "fish")
    }

    @Test func `another type that is replaced in flight is not handed out afterward`() async throws {
        let factory = DrivenFactory<Dog>()
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in try await factory.run() }.implements((any Pet).self)
        }
        let waiter = Task { try await container.resolve((any Pet).self) }
        await factory.began()
        try await container.register((any Pet).self, instance: Fish(name: "fish"))
        factory.answer(Dog())
        #expect(try await waiter.value.name == "dog")
        #expect(try await container.resolve((any Pet).self).name == "fish")
    }

    @Test func `an instance in flight at a reset is not handed out afterward under another type`() async throws {
        let factory = DrivenFactory<Dog>()
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in try await factory.run() }.implements((any Pet).self)
        }
        let old = Task { try await container.resolve((any Pet).self) }
        await factory.began()
        try await container.reset()
        let new = Task { try await container.resolve(Dog.self) }
        await factory.began(2)
        factory.answer(Dog(name: "new"), run: 1)
        let dog = try await new.value
        factory.answer(Dog(name: "old"), run: 0)
        #expect(try await old.value.name == "old")
        #expect(try await container.resolve((any Pet).self) as? Dog === dog)
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak])
    func `after a reset both types give one new instance`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Dog.self, lifetime: lifetime) { _ in Dog() }.implements((any Pet).self)
        }
        let old = try await container.resolve((any Pet).self)
        try await container.reset(Dog.self)
        let new = try await container.resolve((any Pet).self)
        #expect(old as? Dog !== new as? Dog)
        #expect(try await container.resolve(Dog.self) === new as? Dog)
        try await container.reset((any Pet).self)
        #expect(try await container.resolve(Dog.self) !== new as? Dog)
        #expect(try await container.resolve((any Pet).self) as? Dog === container.resolve(Dog.self))
    }

    @Test func `a reset of the other type with arguments resets the service with them`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .multiton) { (_, name: String) in Dog(name: name) }.implements(
                (any Pet).self)
        }
        let rex = try await container.resolve(Dog.self, arguments: "rex")
        let ada = try await container.resolve(Dog.self, arguments: "ada")
        try await container.reset((any Pet).self, arguments: "rex")
        #expect(try await container.resolve(Dog.self, arguments: "rex") !== rex)
        #expect(try await container.resolve(Dog.self, arguments: "ada") === ada)
    }

    @Test func `a service of several types is disposed once`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog() }
                .implements((any Pet).self)
                .implements((any Walker).self)
                .onDispose { _ in disposed.increment() }
        }
        _ = try await container.resolve((any Pet).self)
        _ = try await container.resolve((any Walker).self)
        try await container.dispose()
        #expect(disposed.value == 1)
    }

    @Test func `the error of an invalid service is thrown for its other types too`() async throws {
        let container = Container {
            Registration(Dog.self, lifetime: .transient) { _ in Dog() }.implements((any Pet).self).onDispose { _ in }
        }
        await expect(.invalidRegistration) { try await container.resolve((any Pet).self) }
    }

    @Test func `a rejected duplicate is not reached through its other types`() async throws {
        let container = Container(onDuplicate: .reject) {
            Registration(Dog.self, lifetime: .singleton) { _ in Dog(name: "first") }.implements((any Pet).self)
            Registration(Dog.self, lifetime: .singleton) { _ in Dog(name: "second") }
        }
        await expect(.duplicateRegistration) { try await container.resolve(Dog.self) }
        await expect(.duplicateRegistration) { try await container.resolve((any Pet).self) }
        await expect(.duplicateRegistration) { try await container.withInstance((any Pet).self) { _ in } }
        await expect(.duplicateRegistration) { _ = try container.ready((any Pet).self) }
    }

    @Test func `a reset by the other type reaches a fallback's service`() async throws {
        let fallback = Container {
            Registration(Dog.self, lifetime: .scoped) { _ in Dog() }.implements((any Pet).self)
        }
        let container = Container(fallbacks: [fallback])
        let first = try await container.resolve((any Pet).self) as? Dog
        try await container.reset((any Pet).self)
        let second = try await container.resolve((any Pet).self) as? Dog
        #expect(first != nil && first !== second)
        try await container.dispose()
    }
}
