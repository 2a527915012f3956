import Testing

@testable import AsyncDI

private struct Value: Sendable { let number: Int }

/// Lifetimes of the user's own.
@Suite(.timeLimit(.minutes(10))) struct CustomLifetimeTests {
    @Test(arguments: [Lifetime.Owner.registeringContainer, .resolvingContainer])
    func `a custom lifetime lasts until it is reset`(owner: Lifetime.Owner) async throws {
        let session = Lifetime("session", ownedBy: owner)
        let container = Container {
            Registration(Thing.self, lifetime: session) { _ in Thing() }
            Registration(Thing.self, qualifier: "other", lifetime: .singleton) { _ in Thing() }
        }
        let thing = try await container.resolve(Thing.self)
        let other = try await container.resolve(Thing.self, qualifier: "other")
        #expect(try await container.resolve(Thing.self) === thing)
        try await container.reset(session)
        #expect(try await container.resolve(Thing.self) !== thing)
        #expect(try await container.resolve(Thing.self, qualifier: "other") === other)
    }

    @Test func `a custom lifetime is told apart by its name`() async throws {
        let container = Container {
            Registration(Thing.self, qualifier: "a", lifetime: Lifetime("a")) { _ in Thing() }
            Registration(Thing.self, qualifier: "b", lifetime: Lifetime("b")) { _ in Thing() }
            Registration(Thing.self, qualifier: "singleton", lifetime: .singleton) { _ in Thing() }
        }
        let names = ["a", "b", "singleton"]
        var things: [Thing] = []
        for name in names { things.append(try await container.resolve(qualifier: name)) }
        try await container.reset(Lifetime("a"))
        try await container.reset(Lifetime("singleton"))
        #expect(try await container.resolve(Thing.self, qualifier: "a") !== things[0])
        #expect(try await container.resolve(Thing.self, qualifier: "b") === things[1])
        #expect(try await container.resolve(Thing.self, qualifier: "singleton") === things[2])
    }

    @Test(arguments: [Lifetime.Owner.registeringContainer, .resolvingContainer])
    func `a storage of its own is made for each registration and pack of arguments`(owner: Lifetime.Owner) async throws
    {
        let shelves = Counter()
        let lifetime = Lifetime("shelf", ownedBy: owner) {
            shelves.increment()
            return UserStorage()
        }
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
        }
        let thing = try await container.resolve(Thing.self)
        let one = try await container.resolve(Thing.self, arguments: 1)
        let two = try await container.resolve(Thing.self, arguments: 2)
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(try await container.resolve(Thing.self, arguments: 1) === one)
        #expect(try await container.resolve(Thing.self, arguments: 2) === two)
        #expect(shelves.value == 3)
    }

    @Test func `when a storage has nothing any more, a new instance is made and stored`() async throws {
        let shelf = UserStorage()
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in Thing(runs.increment()) }
        }
        #expect(try await container.resolve(Thing.self).number == 1)
        #expect(try await container.resolve(Thing.self).number == 1)
        shelf.forget()
        #expect(try await container.resolve(Thing.self).number == 2)
        #expect(try await container.resolve(Thing.self).number == 2)
        #expect(shelf.stores.value == 2)
    }

    @Test func `an instance in a storage is created once, however many ask`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { UserStorage() }) { _ in try await factory.run() }
        }
        let askers = (0..<50).map { _ in Task { try await container.resolve(Thing.self) } }
        await container.core.waiters(of: Thing.self, reach: 50)
        let thing = Thing()
        factory.answer(thing)
        for asker in askers { #expect(try await asker.value === thing) }
        #expect(factory.count == 1)
    }

    @Test func `an instance in a storage is ready`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { UserStorage() }) { _ in Thing() }
        }
        let thing = try await container.resolve(Thing.self)
        #expect(try container.ready(Thing.self) === thing)
    }

    @Test func `a storage is cleared on reset and on disposal`() async throws {
        let shelf = UserStorage()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in Thing() }
        }
        _ = try await container.resolve(Thing.self)
        try await container.reset(Thing.self)
        #expect(shelf.clears.value == 1)
        _ = try await container.resolve(Thing.self)
        try await container.dispose()
        #expect(shelf.clears.value >= 2)
        #expect(shelf.load() == nil)
    }

    @Test func `a storage that gives another type is a typeMismatch`() async throws {
        let shelf = UserStorage()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in Thing() }
        }
        shelf.store("a string")
        let error = await expect(.typeMismatch) { try await container.resolve(Thing.self) }
        #expect(error?.description.contains("String") == true)
    }

    // MARK: Instances that are not kept

    @Test func `an argument that is not equal to itself makes no storage`() async throws {
        let storages = Counter()
        let lifetime = Lifetime("kept") {
            storages.increment()
            return StrongStorage()
        }
        let container = Container { Registration(Thing.self, lifetime: lifetime) { (_, _: Double) in Thing() } }
        await expect(.invalidArgument) {
            try await container.resolve(Thing.self, arguments: Double.nan)
        }
        #expect(storages.value == 0)
        #expect(container.core.withState { $0.instances.isEmpty })
    }

    @Test func `arguments whose creation fails leave no storage behind`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("kept") { StrongStorage() }) { (_, number: Int) in
                if number > 0 { throw TestError(number) }
                return Thing()
            }
        }
        for number in 1...3 {
            await #expect(throws: TestError(number)) { try await container.resolve(Thing.self, arguments: number) }
        }
        #expect(container.core.withState { $0.instances.isEmpty })
        let thing = try await container.resolve(Thing.self, arguments: 0)
        #expect(try await container.resolve(Thing.self, arguments: 0) === thing)
    }

    @Test func `dispose waits for an instance that was dropped before its hook begins`() async throws {
        let log = Log<String>()
        let disposal = Locked<Task<Void, any Error>?>(nil)
        let holder = Locked<Container?>(nil)
        let lifetime = Lifetime("kept") {
            UserStorage(cleared: {
                guard let container = holder.value else { return }
                disposal.value = Task {
                    try await container.dispose()
                    log.append("disposed")
                }
                while !log.entries.contains("disposed"),
                    container.core.disposal.subject?.facts(in: container.core).text.contains("storage") != true
                { yieldThread() }
            })
        }
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing() }.onDispose { _ in log.append("hook") }
        }
        holder.value = container
        _ = try await container.resolve(Thing.self)
        try await takingAThread {
            try await container.reset(Thing.self)
            try await disposal.value?.value
        }
        holder.value = nil
        #expect(log.entries == ["hook", "disposed"])
    }

    // MARK: Instances that replace others

    @Test func `an instance that a storage has let go is disposed when its successor is kept`() async throws {
        let shelf = UserStorage()
        let runs = Counter()
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in Thing(runs.increment()) }
                .onDispose { disposed.append($0.number) }
        }
        for number in 1...3 {
            #expect(try await container.resolve(Thing.self).number == number)
            while disposed.entries.count < number - 1 { await Task.yield() }
            shelf.forget()
        }
        #expect(disposed.entries == [1, 2])
        #expect(container.core.withState { $0.ledger.count } == 1)
        try await container.reset(Thing.self)
        try await container.dispose()
        #expect(disposed.entries == [1, 2, 3])
    }

    @Test(arguments: [false, true])
    func `a lease of an instance from a storage holds its disposal off`(isMadeBefore: Bool) async throws {
        let shelf = UserStorage()
        let runs = Counter()
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in Thing(runs.increment()) }
                .onDispose { disposed.append($0.number) }
            Registration(Value.self, lifetime: Lifetime("values") { StrongStorage() }) { _ in Value(number: 10) }
                .onDispose { disposed.append($0.number) }
        }
        if isMadeBefore {
            _ = try await container.resolve(Thing.self)
            _ = try await container.resolve(Value.self)
        }
        // Replaced by its storage, then reset as well.
        try await container.withInstance(Thing.self) { thing in
            shelf.forget()
            #expect(try await container.resolve(Thing.self).number == 2)
            try await container.reset(Thing.self)
            #expect(thing.number == 1 && disposed.entries == [2])
        }
        while disposed.entries != [2, 1] { await Task.yield() }
        try await container.withInstance(Value.self) { value in
            try await container.reset(Value.self)
            #expect(value.number == 10 && disposed.entries == [2, 1])
        }
        try await container.dispose()
        #expect(disposed.entries == [2, 1, 10])
    }

    @Test func `a caller that leases while an instance is being stored waits for the creation's end`() async throws {
        let shelf = UserStorage()
        let factory = DrivenFactory<Thing>()
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in try await factory.run() }
                .onDispose { disposed.append($0.number) }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await factory.began()
        // As if the creation had come as far as storing its product.
        shelf.store(Thing(1))
        let body = Task {
            try await container.withInstance(Thing.self) { thing in
                try await container.reset(Thing.self)
                #expect(disposed.entries.isEmpty)
                return thing.number
            }
        }
        await container.core.waiters(of: Thing.self, reach: 2)
        factory.answer(Thing(2))
        #expect(try await body.value == 2)
        #expect(try await asker.value.number == 2)
        try await container.dispose()
        #expect(disposed.entries == [2])
    }

    @Test func `an instance loaded before a reset is not leased after it, though its storage is reused`() async throws {
        let shelf = UserStorage()
        let container = Container {
            Registration(Thing.self, lifetime: Lifetime("shelf") { shelf }) { _ in Thing() }.onDispose { _ in }
        }
        func lease(_ thing: Thing, _ entry: (key: CreationKey, generation: Int)) -> (any HeldLease)? {
            container.core.lease(
                entry.key, loaded: StrongCell(thing), from: shelf, generation: entry.generation)
        }
        func entry() throws -> (key: CreationKey, generation: Int) {
            try #require(
                container.core.withState { state in
                    state.instances.all.first.flatMap { kept in kept.stored.map { (kept.key, $0.generation) } }
                })
        }
        let old = try await container.resolve(Thing.self)
        let before = try entry()
        try await container.reset(Thing.self)
        let new = try await container.resolve(Thing.self)
        #expect(lease(old, before) == nil)
        let held = try #require(try lease(new, entry()))
        held.end()
        try await container.dispose()
    }
}
