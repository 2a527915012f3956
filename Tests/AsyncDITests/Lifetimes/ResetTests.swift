import Testing

@testable import AsyncDI

/// Forgetting and disposing.
@Suite(.timeLimit(.minutes(10))) struct ResetTests {
    @Test(arguments: Lifetime.shared)
    func `reset of a lifetime forgets its instances and no others`(lifetime: Lifetime) async throws {
        let container = Container { for lifetime in Lifetime.shared { SharingTests.registration(lifetime) } }
        var things: [Thing] = []
        for lifetime in Lifetime.shared { things.append(try await container.resolve(qualifier: lifetime.name)) }
        try await container.reset(lifetime)
        for (thing, other) in zip(things, Lifetime.shared) {
            let now = try await container.resolve(Thing.self, qualifier: other.name)
            #expect((now === thing) == (other != lifetime))
        }
    }

    @Test(arguments: Lifetime.shared)
    func `reset of a service forgets it for all arguments, and no other service`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
            Registration(NamedObject.self, lifetime: lifetime) { _ in NamedObject(name: "") }
        }
        let (thing, one) = (
            try await container.resolve(Thing.self), try await container.resolve(Thing.self, arguments: 1)
        )
        let other = try await container.resolve(NamedObject.self)
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Thing.self, arguments: 1) !== one)
        #expect(try await container.resolve(NamedObject.self) === other)
    }

    @Test func `reset of a service takes the qualifier named and no other`() async throws {
        let container = Container {
            for name in ["a", "b"] {
                Registration(Thing.self, qualifier: name, lifetime: .singleton) { _ in Thing() }
            }
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
        }
        let a = try await container.resolve(Thing.self, qualifier: "a")
        let b = try await container.resolve(Thing.self, qualifier: "b")
        let unqualified = try await container.resolve(Thing.self)
        try await container.reset(Thing.self, qualifier: "a")
        #expect(try await container.resolve(Thing.self, qualifier: "a") !== a)
        #expect(try await container.resolve(Thing.self, qualifier: "b") === b)
        #expect(try await container.resolve(Thing.self) === unqualified)
    }

    @Test(arguments: Lifetime.shared)
    func `reset of arguments forgets that one instance`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, qualifier: "q", lifetime: lifetime) { (_, number: Int, text: String) in Thing() }
        }
        let one = try await container.resolve(Thing.self, qualifier: "q", arguments: 1, "a")
        let two = try await container.resolve(Thing.self, qualifier: "q", arguments: 2, "a")
        try await container.reset(Thing.self, qualifier: "q", arguments: 1, "a")
        #expect(try await container.resolve(Thing.self, qualifier: "q", arguments: 1, "a") !== one)
        #expect(try await container.resolve(Thing.self, qualifier: "q", arguments: 2, "a") === two)
    }

    @Test func `reset of arguments without an instance does nothing`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing() }
        }
        let one = try await container.resolve(Thing.self, arguments: 1)
        try await container.reset(Thing.self, arguments: 2)
        try await container.reset(Thing.self, arguments: "1")
        try await container.reset(NamedObject.self, arguments: 1)
        #expect(try await container.resolve(Thing.self, arguments: 1) === one)
    }

    @Test func `reset of arguments means the service behind a forwarded type where that is registered`() async throws {
        let app = Container {
            Registration(NamedObject.self, lifetime: .scoped) { (_, name: String) in NamedObject(name: name) }
                .implements((any NamedService).self)
        }
        let child = Container(parent: app) {
            Registration(NamedObject.self, lifetime: .scoped) { (_, name: String) in NamedObject(name: "own " + name) }
        }
        let own = try await child.resolve(NamedObject.self, arguments: "a")
        let inherited = try await child.resolve((any NamedService).self, arguments: "a")
        #expect((own.name, inherited.name) == ("own a", "a"))
        try await child.reset((any NamedService).self, arguments: "a")
        let next = try await child.resolve((any NamedService).self, arguments: "a")
        #expect(next as? NamedObject !== inherited as? NamedObject)
        #expect(try await child.resolve(NamedObject.self, arguments: "a") === own)
    }

    @Test func `reset of everything forgets the container's cached instances, and keeps registrations`() async throws {
        let container = Container { for lifetime in Lifetime.shared { SharingTests.registration(lifetime) } }
        var things: [Thing] = []
        for lifetime in Lifetime.shared { things.append(try await container.resolve(qualifier: lifetime.name)) }
        try await container.reset()
        for (thing, lifetime) in zip(things, Lifetime.shared) {
            #expect(try await container.resolve(Thing.self, qualifier: lifetime.name) !== thing)
        }
    }

    @Test func `reset leaves an instance registration`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Thing.self, instance: Thing(7)).onDispose { _ in disposed.increment() }
        }
        try await container.reset()
        try await container.reset(.singleton)
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self).number == 7)
        #expect(disposed.value == 0)
        try await container.dispose()
        #expect(disposed.value == 1)
    }

    @Test func `reset of a keyedBy registration goes by the key of the arguments`() async throws {
        let container = Container {
            Registration(Thing.self, keyedBy: { (text: String) in text.lowercased() }) { _, text in Thing(text.count) }
        }
        let one = try await container.resolve(Thing.self, arguments: "One")
        let three = try await container.resolve(Thing.self, arguments: "three")
        try await container.reset(Thing.self, arguments: "oNE")
        #expect(try await container.resolve(Thing.self, arguments: "ONE") !== one)
        #expect(try await container.resolve(Thing.self, arguments: "Three") === three)
    }

    @Test func `a keyedBy registration whose arguments are not hashable is reset as a service`() async throws {
        struct Style: Sendable { let name: String }
        let container = Container {
            Registration(Thing.self, keyedBy: { (style: Style) in style.name }) { _, style in Thing() }
        }
        let thing = try await container.resolve(Thing.self, arguments: Style(name: "a"))
        #expect(try await container.resolve(Thing.self, arguments: Style(name: "a")) === thing)
        try await container.reset(Thing.self)
        #expect(try await container.resolve(Thing.self, arguments: Style(name: "a")) !== thing)
    }

    // MARK: Containers

    @Test(arguments: Lifetime.owned)
    func `reset in a child does not touch the parent's instances`(lifetime: Lifetime) async throws {
        let parent = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing() } }
        let child = Container(parent: parent)
        let thing = try await child.resolve(Thing.self)
        try await child.reset()
        try await child.reset(lifetime)
        try await child.reset(Thing.self)
        #expect(try await child.resolve(Thing.self) === thing)
    }

    @Test(arguments: Lifetime.asked)
    func `a scope's instance of a parent's registration is reset in the scope`(lifetime: Lifetime) async throws {
        let disposed = Log<Int>()
        let runs = Counter()
        let parent = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(runs.increment()) }
                .onDispose { disposed.append($0.number) }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
                .onDispose { disposed.append($0.number) }
        }
        let scope = try await parent.openScope("scope")
        #expect(try await parent.resolve(Thing.self).number == 1)
        #expect(try await scope.resolve(Thing.self).number == 2)
        try await parent.reset(Thing.self)
        #expect(disposed.entries == [1])
        #expect(try await scope.resolve(Thing.self).number == 2)
        try await scope.reset(Thing.self)
        #expect(disposed.entries == [1, 2])
        #expect(try await scope.resolve(Thing.self).number == 3)
        try await scope.reset(lifetime)
        #expect(disposed.entries == [1, 2, 3])
        _ = try await scope.resolve(Thing.self, arguments: 10)
        try await scope.reset(Thing.self, arguments: 10)
        #expect(disposed.entries == [1, 2, 3, 10])
    }

    @Test func `throughAncestors goes up, from the container asked`() async throws {
        let disposed = Log<Int>()
        func thing(_ number: Int) -> Registration<Thing> {
            Registration(Thing.self, qualifier: "\(number)", lifetime: .singleton) { _ in Thing(number) }
                .onDispose { disposed.append($0.number) }
        }
        let root = Container { thing(1) }
        let middle = Container(parent: root) { thing(2) }
        let leaf = Container(parent: middle) { thing(3) }
        let below = Container(parent: leaf) { thing(4) }
        for number in 1...4 { _ = try await below.resolve(Thing.self, qualifier: "\(number)") }
        try await leaf.reset(.singleton, throughAncestors: true)
        #expect(disposed.entries == [3, 2, 1])
        #expect(try below.ready(Thing.self, qualifier: "4").number == 4)
    }

    @Test func `throughAncestors works for a service`() async throws {
        let root = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(NamedObject.self, lifetime: .singleton) { _ in NamedObject(name: "") }
        }
        let child = Container(parent: root)
        let (thing, other) = (try await child.resolve(Thing.self), try await child.resolve(NamedObject.self))
        try await child.reset(Thing.self, throughAncestors: true)
        #expect(try await child.resolve(Thing.self) !== thing)
        #expect(try await child.resolve(NamedObject.self) === other)
    }

    // MARK: Disposal

    @Test func `reset disposes newest first, and waits for it`() async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
                .onDispose { thing in
                    await Task.yield()
                    disposed.append(thing.number)
                }
            Registration(Thing.self, lifetime: .singleton) { r in
                // Complete after its dependency.
                _ = try await r.resolve(Thing.self, arguments: 3)
                return Thing(4)
            }
            .onDispose { disposed.append($0.number) }
        }
        for number in [1, 2] { _ = try await container.resolve(Thing.self, arguments: number) }
        _ = try await container.resolve(Thing.self)
        try await container.reset()
        #expect(disposed.entries == [4, 3, 2, 1])
        try await container.dispose()
        #expect(disposed.entries == [4, 3, 2, 1])
    }

    @Test func `an onDispose that throws stops no other, and all errors come back together`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
                .onDispose { thing in
                    disposed.increment()
                    if thing.number != 2 { throw TestError(thing.number) }
                }
        }
        var things: [Thing] = []
        for number in 1...3 { things.append(try await container.resolve(arguments: number)) }
        let error = await #expect(throws: DisposalError.self) { try await container.reset(.multiton) }
        #expect(error?.errors as? [TestError] == [TestError(3), TestError(1)])
        #expect(disposed.value == 3)
        #expect(try await container.resolve(Thing.self, arguments: 1) !== things[0])
        try await container.reset(Thing.self, arguments: 2)
    }

    @Test func `the errors of ancestors come back too`() async throws {
        func failing(_ number: Int) -> Registration<Thing> {
            Registration(Thing.self, qualifier: "\(number)", lifetime: .singleton) { _ in Thing(number) }
                .onDispose { throw TestError($0.number) }
        }
        let parent = Container { failing(1) }
        let child = Container(parent: parent) { failing(2) }
        for name in ["1", "2"] { _ = try await child.resolve(Thing.self, qualifier: name) }
        let error = await #expect(throws: DisposalError.self) {
            try await child.reset(.singleton, throughAncestors: true)
        }
        #expect(error?.errors as? [TestError] == [TestError(2), TestError(1)])
        _ = try? await parent.dispose()
    }

    @Test func `a disposal hook asks the container for the new instance`() async throws {
        let numbers = Log<Int>()
        let runs = Counter()
        let container = Container()
        try await container.register(
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(runs.increment()) }
                .onDispose { [weak container] old in
                    guard let container, old.number == 1 else { return }
                    numbers.append(try await container.resolve(Thing.self).number)
                })
        _ = try await container.resolve(Thing.self)
        try await container.reset(Thing.self)
        #expect(numbers.entries == [2])
    }

    @Test func `an instance in flight at a reset of other arguments is kept`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in try await factory.run() }
        }
        let one = Task { try await container.resolve(Thing.self, arguments: 1) }
        await factory.began()
        let two = Task { try await container.resolve(Thing.self, arguments: 2) }
        await factory.began(2)
        try await container.reset(Thing.self, arguments: 1)
        factory.answer(Thing(10), run: 0)
        factory.answer(Thing(20), run: 1)
        #expect(try await one.value.number == 10)
        let kept = try await two.value
        #expect(try await container.resolve(Thing.self, arguments: 2) === kept)
        let again = Task { try await container.resolve(Thing.self, arguments: 1) }
        await factory.began(3)
        factory.answer(Thing(30), run: 2)
        #expect(try await again.value.number == 30)
    }

    @Test func `an instance in flight at a reset is disposed once, with its container`() async throws {
        let factory = DrivenFactory<Thing>()
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() }
                .onDispose { disposed.append($0.number) }
        }
        let waiter = Task { try await container.resolve(Thing.self) }
        await factory.began()
        try await container.reset()
        factory.answer(Thing(1))
        _ = try await waiter.value
        try await container.dispose()
        #expect(disposed.entries == [1])
    }

    @Test func `a disposed container cannot be reset`() async throws {
        let container = Container()
        try await container.dispose()
        await expect(.disposed) { try await container.reset() }
    }
}
