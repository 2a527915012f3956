import Testing

@testable import AsyncDI

/// How users of Swinject register, forward and complete services: each test under the name that they know it by.
@Suite(.timeLimit(.minutes(10))) struct SwinjectRegistrationParityTests {
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

    @Test func `autoregistration: an initializer is registered by its parameters' types`() async throws {
        let container = Container {
            Registration(Cat.self, lifetime: .singleton) { _ in Cat("Mimi") }.implements((any Animal).self) { $0 }
            Registration(using: Person.init(pet:cat:))
        }
        let person = try await container.resolve(Person.self)
        #expect(person.pet === person.cat)
        #expect(person.cat.name == "Mimi")
    }

    // MARK: Hooks

    @Test func `initCompleted: several hooks, in order, before the caller gets the instance`() async throws {
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

    @Test func `implements of a named service, under no name, as in Swinject`() async throws {
        let container = Container {
            Registration(Cat.self, qualifier: "named", lifetime: .singleton) { _ in Cat("Mimi") }
                .implements((any Animal).self, qualifier: nil) { $0 }
        }
        let cat = try await container.resolve(Cat.self, qualifier: "named")
        #expect(try await container.resolve((any Animal).self) === cat)
        await expect(.notRegistered) { try await container.resolve((any Animal).self, qualifier: "named") }
    }

    @Test(arguments: [Lifetime.graph, .singleton, .scoped])
    func `value types are shared too, unlike in Swinject`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Int.self, lifetime: lifetime) { _ in runs.increment() }
            Registration([String: Int].self) { r in
                ["first": try await r.resolve(Int.self), "second": try await r.resolve(Int.self)]
            }
        }
        #expect(try await container.resolve([String: Int].self) == ["first": 1, "second": 1])
    }

    @Test func `a failable initializer is a factory that throws`() async throws {
        struct NoNumber: Error {}
        let container = Container {
            Registration(Int.self) { (_, text: String) in
                guard let number = Int(text) else { throw NoNumber() }
                return number
            }
        }
        #expect(try await container.resolve(Int.self, arguments: "42") == 42)
        await #expect(throws: NoNumber.self) { try await container.resolve(Int.self, arguments: "many") }
        await #expect(throws: NoNumber.self) { try await container.optional(Int.self, arguments: "many") }
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
}

// MARK: Services

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

private struct Trio: Sendable {
    let cat: Cat
    let animal: any Animal
    let named: any Named
}

private final class Parent: Sendable {
    let child: Child
    init(child: Child) { self.child = child }
}

private final class Child: Sendable {
    let parent = Locked<WeakReference<Parent>?>(nil)
}
