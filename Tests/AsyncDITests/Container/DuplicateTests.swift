import Testing

@testable import AsyncDI

private enum Env: String, Qualifier { case prod, test }

private typealias Pet = Zoo.Pet
private typealias Cat = Zoo.Cat

/// A second registration of a key.
@Suite(.timeLimit(.minutes(10))) struct DuplicateTests {
    @Test func `a second registration replaces the first by default, in the initializer and later`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 1 }
            Registration(Int.self) { _ in 2 }
        }
        #expect(try await container.resolve(Int.self) == 2)
        try await container.register(Int.self) { _ in 3 }
        #expect(try await container.resolve(Int.self) == 3)
    }

    @Test func `with keep the first registration stays, in the initializer and later`() async throws {
        let container = Container(onDuplicate: .keep) {
            Registration(Int.self) { _ in 1 }
            Registration(Int.self) { _ in 2 }
        }
        #expect(try await container.resolve(Int.self) == 1)
        try await container.register(Int.self) { _ in 3 }
        #expect(try await container.resolve(Int.self) == 1)
    }

    @Test func `with reject a second registration throws, and the first one stays`() async throws {
        let container = Container(name: "strict", onDuplicate: .reject) { Registration(Int.self) { _ in 1 } }
        let error = await expect(.duplicateRegistration) { try await container.register(Int.self) { _ in 2 } }
        #expect(error?.path.map(\.description) == ["Int"])
        #expect(error?.description.contains("\"strict\"") == true)
        #expect(try await container.resolve(Int.self) == 1)
    }

    @Test func `with reject a duplicate in the initializer is thrown by every resolve of its key`() async throws {
        let container = Container(onDuplicate: .reject) {
            Registration(Int.self) { _ in 1 }
            Registration(String.self) { _ in "fine" }
            Registration(Int.self) { _ in 2 }
        }
        for _ in 0..<2 {
            await expect(.duplicateRegistration) { try await container.resolve(Int.self) }
        }
        await expect(.duplicateRegistration) { try await container.optional(Int.self) }
        await expect(.duplicateRegistration) { try container.ready(Int.self) }
        #expect(try await container.resolve(String.self) == "fine")
    }

    @Test func `with reject a duplicate of an instance is thrown too`() async throws {
        let container = Container(onDuplicate: .reject) {
            Registration(Int.self, instance: 1)
            Registration(Int.self, instance: 2)
        }
        await expect(.duplicateRegistration) { try await container.resolve(Int.self) }
    }

    @Test func `another qualifier, other argument types or another container make no duplicate`() async throws {
        let parent = Container(onDuplicate: .reject) { Registration(Int.self) { _ in 1 } }
        try await parent.register(Int.self, qualifier: Env.prod) { _ in 2 }
        try await parent.register(Int.self) { (_, number: Int) in number }
        try await parent.register(Int.self) { (_, text: String) in text.count }
        let child = Container(parent: parent, onDuplicate: .reject)
        try await child.register(Int.self) { _ in 3 }
        #expect(try await child.resolve(Int.self) == 3)
        #expect(try await parent.resolve(Int.self) == 1)
        #expect(try await child.resolve(Int.self, qualifier: Env.prod) == 2)
    }

    @Test func `a type that a registration implements may be a duplicate`() async throws {
        let container = Container(onDuplicate: .reject) { Registration((any Pet).self) { _ in Cat() } }
        await expect(.duplicateRegistration) {
            try await container.register(Registration(Cat.self) { _ in Cat() }.implements((any Pet).self))
        }
        #expect(await !container.isRegistered(Cat.self))
    }

    // MARK: All or nothing

    @Test func `a builder with a rejected duplicate registers nothing`() async throws {
        let container = Container(onDuplicate: .reject) { Registration(Int.self) { _ in 1 } }
        await #expect(throws: ResolutionError.self) {
            try await container.register {
                Registration(String.self) { _ in "" }
                Registration(Int.self) { _ in 2 }
                Registration(Double.self) { _ in 0 }
            }
        }
        #expect(await !container.isRegistered(String.self))
        #expect(await !container.isRegistered(Double.self))
        #expect(try await container.resolve(Int.self) == 1)
    }

    @Test func `a builder with a duplicate within itself registers nothing`() async throws {
        let container = Container(onDuplicate: .reject)
        await expect(.duplicateRegistration) {
            try await container.register {
                Registration(Int.self) { _ in 1 }
                Registration(Int.self) { _ in 2 }
            }
        }
        #expect(await !container.isRegistered(Int.self))
    }

    @Test func `a builder with an invalid registration registers and replaces nothing`() async throws {
        let container = Container { Registration(Int.self) { _ in 1 } }
        await expect(.invalidRegistration) {
            try await container.register {
                Registration(Int.self) { _ in 2 }
                Registration(String.self, lifetime: .transient) { _ in "" }.onDispose { _ in }
            }
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(await !container.isRegistered(String.self))
    }

    @Test func `a module with a rejected duplicate registers nothing`() async throws {
        struct Numbers: Module {
            var registrations: Registrations {
                Registration(Double.self) { _ in 0 }
                Registration(Int.self) { _ in 2 }
            }
        }
        let container = Container(onDuplicate: .reject) { Registration(Int.self) { _ in 1 } }
        await #expect(throws: ResolutionError.self) { try await container.register(Numbers()) }
        #expect(await !container.isRegistered(Double.self))
    }

    // MARK: Replacing

    static let owning: [Lifetime] = [.singleton, .scoped, .multiton, Lifetime("custom")]

    @Test(arguments: owning)
    func `a replaced instance is not handed out any more, and is disposed once`(lifetime: Lifetime) async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) }.onDispose { disposed.append($0.number) }
        }
        #expect(try await container.resolve(Thing.self).number == 1)
        try await container.register(
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(2) }.onDispose { disposed.append($0.number) })
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        #expect(try await container.resolve(Thing.self).number == 2)
        try await container.dispose()
        #expect(disposed.entries.sorted() == [1, 2])
    }

    @Test func `every argument's instance of a replaced registration is disposed`() async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(number) }
                .onDispose { disposed.append($0.number) }
        }
        for number in 1...3 { _ = try await container.resolve(Thing.self, arguments: number) }
        try await container.register(Thing.self, lifetime: .multiton) { (_, number: Int) in Thing(-number) }
        #expect(try await container.resolve(Thing.self, arguments: 1).number == -1)
        try await container.dispose()
        #expect(disposed.entries == [3, 2, 1])
    }

    @Test func `a replaced instance is not handed out in children either`() async throws {
        let parent = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) } }
        let child = Container(parent: parent)
        #expect(try await child.resolve(Thing.self).number == 1)
        try await parent.register(Thing.self, lifetime: .singleton) { _ in Thing(2) }
        #expect(try await child.resolve(Thing.self).number == 2)
    }

    @Test func `replacing a scoped registration of a parent reaches its open scopes`() async throws {
        let disposed = Log<Int>()
        let parent = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing(1) }.onDispose { disposed.append($0.number) }
        }
        let scope = try await parent.openScope("scope")
        #expect(try await scope.resolve(Thing.self).number == 1)
        try await parent.register(
            Registration(Thing.self, lifetime: .scoped) { _ in Thing(2) }.onDispose { disposed.append($0.number) })
        #expect(try await scope.resolve(Thing.self).number == 2)
        try await scope.dispose()
        #expect(disposed.entries == [2, 1])
    }

    @Test func `an instance that was replaced in flight is given to its waiters, and disposed once`() async throws {
        let factory = DrivenFactory<Thing>()
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() }
                .onDispose { disposed.append($0.number) }
        }
        let waiter = Task { try await container.resolve(Thing.self) }
        await factory.began()
        try await container.register(Thing.self, lifetime: .singleton) { _ in Thing(2) }
        #expect(try await container.resolve(Thing.self).number == 2)
        factory.answer(Thing(1))
        #expect(try await waiter.value.number == 1)
        #expect(try await container.resolve(Thing.self).number == 2)
        try await container.dispose()
        #expect(disposed.entries == [1])
    }

    @Test func `a replaced instance registration is disposed only if it has an onDispose`() async throws {
        let disposed = Log<Int>()
        let container = Container {
            Registration(Int.self, instance: 1)
            Registration(Thing.self, instance: Thing(2)).onDispose { disposed.append($0.number) }
        }
        try await container.register {
            Registration(Int.self, instance: 3)
            Registration(Thing.self, instance: Thing(4))
        }
        #expect(try await container.resolve(Int.self) == 3)
        #expect(try await container.resolve(Thing.self).number == 4)
        try await container.dispose()
        #expect(disposed.entries == [2])
    }

    @Test func `with keep, an instance stays and is not disposed`() async throws {
        let disposed = Counter()
        let container = Container(onDuplicate: .keep) {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in disposed.increment() }
        }
        let thing = try await container.resolve(Thing.self)
        try await container.register(Thing.self, lifetime: .singleton) { _ in Thing() }
        #expect(try await container.resolve(Thing.self) === thing)
        try await container.reset(Lifetime.graph)
        #expect(disposed.value == 0)
    }
}
