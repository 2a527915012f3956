import Testing

@testable import AsyncDI

private enum Env: String, Qualifier { case prod, test }
private enum Stage: String, Qualifier { case prod }

/// Not private: what conforms to a private protocol cannot be looked up by name.
enum Zoo {
    protocol Pet: Sendable {}
    protocol Animal: Sendable {}
    struct Cat: Pet, Animal {}
    struct Stone: Sendable {}
}
private typealias Pet = Zoo.Pet
private typealias Animal = Zoo.Animal
private typealias Cat = Zoo.Cat
private typealias Stone = Zoo.Stone

/// What tells two registrations apart: DESIGN 3.1.
@Suite(.timeLimit(.minutes(10))) struct KeyTests {
    @Test func `registrations differ by service type`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 1 }
            Registration(String.self) { _ in "one" }
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(try await container.resolve(String.self) == "one")
    }

    @Test func `a type and its optional, a protocol and its implementation, are different services`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 1 }
            Registration(Int?.self) { _ in 2 }
            Registration(Cat.self) { _ in Cat() }
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(try await container.resolve(Int?.self) == 2)
        await #expect(throws: ResolutionError.self) { try await container.resolve((any Pet).self) }
    }

    @Test func `registrations differ by qualifier, in value and in type`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 0 }
            Registration(Int.self, qualifier: Env.prod) { _ in 1 }
            Registration(Int.self, qualifier: Env.test) { _ in 2 }
            Registration(Int.self, qualifier: Stage.prod) { _ in 3 }
            Registration(Int.self, qualifier: "prod") { _ in 4 }
        }
        #expect(try await container.resolve(Int.self) == 0)
        #expect(try await container.resolve(Int.self, qualifier: Env.prod) == 1)
        #expect(try await container.resolve(Int.self, qualifier: Env.test) == 2)
        #expect(try await container.resolve(Int.self, qualifier: Stage.prod) == 3)
        #expect(try await container.resolve(Int.self, qualifier: "prod") == 4)
    }

    @Test func `a string qualifier and named are the same`() async throws {
        let container = Container { Registration(Int.self, qualifier: .named("main")) { _ in 1 } }
        #expect(try await container.resolve(Int.self, qualifier: "main") == 1)
        #expect(try await container.resolve(Int.self, qualifier: .named("main")) == 1)
    }

    @Test func `registrations differ by the types of their arguments, and their order`() async throws {
        let container = Container {
            Registration(String.self) { _ in "none" }
            Registration(String.self) { (_, number: Int) in "Int" }
            Registration(String.self) { (_, text: String) in "String" }
            Registration(String.self) { (_, number: Int, text: String) in "Int, String" }
            Registration(String.self) { (_, text: String, number: Int) in "String, Int" }
        }
        #expect(try await container.resolve(String.self) == "none")
        #expect(try await container.resolve(String.self, arguments: 1) == "Int")
        #expect(try await container.resolve(String.self, arguments: "a") == "String")
        #expect(try await container.resolve(String.self, arguments: 1, "a") == "Int, String")
        #expect(try await container.resolve(String.self, arguments: "a", 1) == "String, Int")
    }

    @Test func `an optional argument is of another type than the argument itself`() async throws {
        let container = Container {
            Registration(Int.self) { (_, text: String) in 1 }
            Registration(Int.self) { (_, text: String?) in 2 }
        }
        #expect(try await container.resolve(Int.self, arguments: "a") == 1)
        #expect(try await container.resolve(Int.self, arguments: String?("a")) == 2)
    }

    @Test func `an optional argument does not answer for the argument itself, nor back`() async throws {
        let plain = Container { Registration(Int.self) { (_, text: String) in 1 } }
        let optional = Container { Registration(Int.self) { (_, text: String?) in 2 } }
        let first = await #expect(throws: ResolutionError.self) {
            try await plain.resolve(Int.self, arguments: String?("a"))
        }
        let second = await #expect(throws: ResolutionError.self) {
            try await optional.resolve(Int.self, arguments: "a")
        }
        #expect(first?.code == .argumentMismatch)
        #expect(second?.code == .argumentMismatch)
    }

    @Test func `a qualified request does not fall back to the unqualified registration, nor back`() async throws {
        let unqualified = Container { Registration(Int.self) { _ in 0 } }
        let qualified = Container { Registration(Int.self, qualifier: Env.prod) { _ in 1 } }
        let first = await #expect(throws: ResolutionError.self) {
            try await unqualified.resolve(Int.self, qualifier: Env.prod)
        }
        let second = await #expect(throws: ResolutionError.self) { try await qualified.resolve(Int.self) }
        #expect(first?.code == .notRegistered)
        #expect(second?.code == .notRegistered)
        #expect(try await unqualified.optional(Int.self, qualifier: Env.prod) == nil)
        #expect(try await qualified.optional(Int.self) == nil)
    }

    @Test func `a qualifier and argument types go together`() async throws {
        let container = Container {
            Registration(String.self, qualifier: Env.prod) { (_, number: Int) in "prod \(number)" }
            Registration(String.self, qualifier: Env.test) { (_, number: Int) in "test \(number)" }
        }
        #expect(try await container.resolve(String.self, qualifier: Env.prod, arguments: 1) == "prod 1")
        #expect(try await container.resolve(String.self, qualifier: Env.test, arguments: 1) == "test 1")
    }
}

/// Where a container looks, and in which order: DESIGN 3.1.
@Suite(.timeLimit(.minutes(10))) struct SearchOrderTests {
    @Test func `the container itself is asked first, then its fallbacks in order, then its parent`() async throws {
        func naming(
            _ place: String, _ qualifiers: String..., parent: Container? = nil, fallbacks: [Container] = []
        ) -> Container {
            Container(parent: parent, fallbacks: fallbacks) {
                for qualifier in qualifiers { Registration(String.self, qualifier: qualifier) { _ in place } }
            }
        }
        let grandparent = naming("grandparent", "a", "b", "c", "d", "e")
        let parent = naming("parent", "a", "b", "c", "d", parent: grandparent)
        let second = naming("second fallback", "a", "b", "c")
        let first = naming("first fallback", "a", "b")
        let container = naming("itself", "a", parent: parent, fallbacks: [first, second])
        #expect(try await container.resolve(String.self, qualifier: "a") == "itself")
        #expect(try await container.resolve(String.self, qualifier: "b") == "first fallback")
        #expect(try await container.resolve(String.self, qualifier: "c") == "second fallback")
        #expect(try await container.resolve(String.self, qualifier: "d") == "parent")
        #expect(try await container.resolve(String.self, qualifier: "e") == "grandparent")
    }

    @Test func `the nearest registration wins for each key by itself`() async throws {
        let parent = Container {
            Registration(String.self) { _ in "parent" }
            Registration(String.self, qualifier: Env.prod) { _ in "parent prod" }
            Registration(String.self) { (_, number: Int) in "parent \(number)" }
        }
        let child = Container(parent: parent) { Registration(String.self, qualifier: Env.prod) { _ in "child prod" } }
        #expect(try await child.resolve(String.self) == "parent")
        #expect(try await child.resolve(String.self, qualifier: Env.prod) == "child prod")
        #expect(try await child.resolve(String.self, arguments: 1) == "parent 1")
        #expect(try await parent.resolve(String.self, qualifier: Env.prod) == "parent prod")
    }

    @Test(arguments: [Lifetime.singleton, .scoped, .weak, .multiton, Lifetime("custom")])
    func `a nearer registration wins also when it comes after an instance`(lifetime: Lifetime) async throws {
        let root = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) } }
        let middle = Container(parent: root)
        let leaf = Container(parent: middle)
        let far = try await leaf.resolve(Thing.self)
        #expect(far.number == 1)
        try await middle.register(Thing.self, lifetime: lifetime) { _ in Thing(2) }
        #expect(try await leaf.resolve(Thing.self).number == 2)
        try await leaf.register(Thing.self, lifetime: lifetime) { _ in Thing(3) }
        #expect(try await leaf.resolve(Thing.self).number == 3)
        #expect(try await middle.resolve(Thing.self).number == 2)
        #expect(try await root.resolve(Thing.self).number == 1)
        withExtendedLifetime(far) {}
    }

    @Test func `a nearer registration that goes uncovers the farther one`() async throws {
        let parent = Container { Registration(Int.self, instance: 1) }
        let child = Container(parent: parent) { Registration(Int.self, instance: 2) }
        #expect(try await child.resolve(Int.self) == 2)
        #expect(await child.unregister(Int.self))
        #expect(try await child.resolve(Int.self) == 1)
    }

    @Test func `a child's registrations are not seen by its parent or siblings`() async throws {
        let parent = Container()
        let child = Container(parent: parent) { Registration(Int.self, instance: 2) }
        let sibling = Container(parent: parent)
        #expect(try await parent.optional(Int.self) == nil)
        #expect(try await sibling.optional(Int.self) == nil)
        #expect(try await child.optional(Int.self) == 2)
    }

    @Test func `a singleton of a fallback is the fallback's own`() async throws {
        let fallback = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let container = Container(fallbacks: [fallback])
        let other = Container(fallbacks: [fallback])
        let thing = try await container.resolve(Thing.self)
        #expect(try await fallback.resolve(Thing.self) === thing)
        #expect(try await other.resolve(Thing.self) === thing)
    }

    @Test func `a fallback is kept alive by who falls back to it`() async throws {
        let container = Container(fallbacks: [Container { Registration(Int.self) { _ in 5 } }])
        #expect(try await container.resolve(Int.self) == 5)
    }

    @Test func `an instance of a fallback that is being disposed is not handed out`() async throws {
        let gate = Gate()
        let fallback = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in await gate.pass() }
        }
        let container = Container(fallbacks: [fallback])
        _ = try await container.resolve(Thing.self)
        let disposal = Task { try await fallback.dispose() }
        await gate.arrived()
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
        #expect(error?.code == .disposed)
        gate.open()
        try await disposal.value
        await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
    }

    // MARK: Inside withScope

    @Test func `inside withScope an outer container answers with what the scope has`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(String.self) { _ in "application" }
        }
        try await container.withScope("request") {
            Registration(String.self) { _ in "request" }
            Registration(Int.self, instance: 42)
        } operation: { (scope) async throws in
            #expect(try await container.resolve(Thing.self) === scope.resolve(Thing.self))
            #expect(try await container.resolve(String.self) == "request")
            #expect(try await container.resolve(Int.self) == 42)
            #expect(try container.ready(Int.self) == 42)
            #expect(try await container.optional(Int.self) == 42)
        }
        #expect(try await container.resolve(String.self) == "application")
        #expect(try await container.optional(Int.self) == nil)
    }

    @Test func `inside nested scopes an outer container answers with the innermost below it`() async throws {
        let container = Container { Registration(String.self) { _ in "application" } }
        let unrelated = Container { Registration(String.self) { _ in "unrelated" } }
        try await container.withScope("outer") {
            Registration(String.self) { _ in "outer" }
        } operation: { (outer) async throws in
            try await outer.withScope("inner") {
                Registration(String.self) { _ in "inner" }
            } operation: { (inner) async throws in
                #expect(try await container.resolve(String.self) == "inner")
                #expect(try await outer.resolve(String.self) == "inner")
                #expect(try await inner.resolve(String.self) == "inner")
                #expect(try await unrelated.resolve(String.self) == "unrelated")
            }
            #expect(try await container.resolve(String.self) == "outer")
        }
    }

    @Test func `inside withScope a container below the scope, or beside it, answers for itself`() async throws {
        let container = Container { Registration(String.self) { _ in "application" } }
        let sibling = Container(parent: container) { Registration(String.self) { _ in "sibling" } }
        try await container.withScope("request") {
            Registration(String.self) { _ in "request" }
        } operation: { (scope) async throws in
            let below = Container(parent: scope) { Registration(String.self) { _ in "below" } }
            #expect(try await below.resolve(String.self) == "below")
            #expect(try await sibling.resolve(String.self) == "sibling")
        }
    }

    @Test func `a factory's questions are not redirected, so an override may ask for the original`() async throws {
        let container = Container { Registration(String.self) { _ in "original" } }
        try await container.withScope("request") {
            Registration(String.self) { _ in "overridden " + (try await container.resolve(String.self)) }
        } operation: { (_) async throws in
            #expect(try await container.resolve(String.self) == "overridden original")
        }
    }

    // MARK: isRegistered

    @Test func `isRegistered looks where resolve does`() async throws {
        let grandparent = Container { Registration(Int.self, instance: 1) }
        let parent = Container(parent: grandparent)
        let fallback = Container { Registration(String.self) { _ in "" } }
        let container = Container(parent: parent, fallbacks: [fallback]) { Registration(Double.self) { _ in 1 } }
        #expect(await container.isRegistered(Double.self))
        #expect(await container.isRegistered(String.self))
        #expect(await container.isRegistered(Int.self))
        #expect(await !container.isRegistered(Bool.self))
        #expect(await !parent.isRegistered(Double.self))
        #expect(await !parent.isRegistered(String.self))
    }

    @Test func `isRegistered tells qualifiers apart`() async throws {
        let container = Container(parent: Container { Registration(Int.self, qualifier: Env.prod) { _ in 1 } })
        #expect(await container.isRegistered(Int.self, qualifier: Env.prod))
        #expect(await !container.isRegistered(Int.self, qualifier: Env.test))
        #expect(await !container.isRegistered(Int.self))
    }

    @Test func `isRegistered tells argument types apart`() async throws {
        let container = Container(parent: Container { Registration(Int.self) { (_, a: String, b: Int) in 1 } })
        #expect(await container.isRegistered(Int.self, arguments: String.self, Int.self))
        #expect(await !container.isRegistered(Int.self, arguments: Int.self, String.self))
        #expect(await !container.isRegistered(Int.self, arguments: String?.self, Int.self))
        #expect(await !container.isRegistered(Int.self, arguments: String.self))
        #expect(await !container.isRegistered(Int.self))
    }
}

/// A second registration of a key, and taking one back: DESIGN 3.1.
@Suite(.timeLimit(.minutes(10))) struct DuplicateTests {
    @Test func `a second registration replaces the first by default, in the initialiser and later`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 1 }
            Registration(Int.self) { _ in 2 }
        }
        #expect(try await container.resolve(Int.self) == 2)
        try await container.register(Int.self) { _ in 3 }
        #expect(try await container.resolve(Int.self) == 3)
    }

    @Test func `with keep the first registration stays, in the initialiser and later`() async throws {
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
        let error = await #expect(throws: ResolutionError.self) { try await container.register(Int.self) { _ in 2 } }
        #expect(error?.code == .duplicateRegistration)
        #expect(error?.path.map(\.description) == ["Int"])
        #expect(error?.description.contains("\"strict\"") == true)
        #expect(try await container.resolve(Int.self) == 1)
    }

    @Test func `with reject a duplicate in the initialiser is thrown by every resolve of its key`() async throws {
        let container = Container(onDuplicate: .reject) {
            Registration(Int.self) { _ in 1 }
            Registration(String.self) { _ in "fine" }
            Registration(Int.self) { _ in 2 }
        }
        for _ in 0..<2 {
            let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Int.self) }
            #expect(error?.code == .duplicateRegistration)
        }
        let optional = await #expect(throws: ResolutionError.self) { try await container.optional(Int.self) }
        #expect(optional?.code == .duplicateRegistration)
        let ready = #expect(throws: ResolutionError.self) { try container.ready(Int.self) }
        #expect(ready?.code == .duplicateRegistration)
        #expect(try await container.resolve(String.self) == "fine")
    }

    @Test func `with reject a duplicate of an instance is thrown too`() async throws {
        let container = Container(onDuplicate: .reject) {
            Registration(Int.self, instance: 1)
            Registration(Int.self, instance: 2)
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Int.self) }
        #expect(error?.code == .duplicateRegistration)
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
        let error = await #expect(throws: ResolutionError.self) {
            try await container.register(Registration(Cat.self) { _ in Cat() }.implements((any Pet).self))
        }
        #expect(error?.code == .duplicateRegistration)
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
        let error = await #expect(throws: ResolutionError.self) {
            try await container.register {
                Registration(Int.self) { _ in 1 }
                Registration(Int.self) { _ in 2 }
            }
        }
        #expect(error?.code == .duplicateRegistration)
        #expect(await !container.isRegistered(Int.self))
    }

    @Test func `a builder with an invalid registration registers and replaces nothing`() async throws {
        let container = Container { Registration(Int.self) { _ in 1 } }
        let error = await #expect(throws: ResolutionError.self) {
            try await container.register {
                Registration(Int.self) { _ in 2 }
                Registration(String.self, lifetime: .transient) { _ in "" }.onDispose { _ in }
            }
        }
        #expect(error?.code == .invalidRegistration)
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

    // MARK: unregister

    @Test func `what is unregistered is not found any more`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        _ = try await container.resolve(Thing.self)
        #expect(await container.unregister(Thing.self))
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
        #expect(error?.code == .notRegistered)
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        #expect(await !container.isRegistered(Thing.self))
        #expect(await !container.unregister(Thing.self))
    }

    @Test func `what is unregistered is disposed once`() async throws {
        let disposed = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in disposed.increment() }
        }
        _ = try await container.resolve(Thing.self)
        await container.unregister(Thing.self)
        try await container.dispose()
        #expect(disposed.value == 1)
    }

    @Test func `unregister takes the qualifier named and no other`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 0 }
            Registration(Int.self, qualifier: Env.prod) { _ in 1 }
            Registration(Int.self, qualifier: Env.test) { _ in 2 }
        }
        #expect(await container.unregister(Int.self, qualifier: Env.prod))
        #expect(try await container.resolve(Int.self) == 0)
        #expect(try await container.optional(Int.self, qualifier: Env.prod) == nil)
        #expect(try await container.resolve(Int.self, qualifier: Env.test) == 2)
    }

    @Test func `unregister takes the argument types named, or all when none are`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 0 }
            Registration(Int.self) { (_, number: Int) in number }
            Registration(Int.self) { (_, text: String) in text.count }
        }
        #expect(await container.unregister(Int.self, arguments: String.self))
        #expect(await !container.unregister(Int.self, arguments: Double.self))
        #expect(try await container.resolve(Int.self) == 0)
        #expect(try await container.resolve(Int.self, arguments: 7) == 7)
        #expect(await container.unregister(Int.self))
        #expect(await !container.isRegistered(Int.self, arguments: Int.self))
        #expect(await !container.isRegistered(Int.self))
    }

    @Test func `unregister leaves what an ancestor registered`() async throws {
        let parent = Container { Registration(Int.self) { _ in 1 } }
        let child = Container(parent: parent)
        #expect(await !child.unregister(Int.self))
        #expect(try await child.resolve(Int.self) == 1)
    }

    @Test func `what is registered again after unregister is made anew`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) } }
        _ = try await container.resolve(Thing.self)
        await container.unregister(Thing.self)
        try await container.register(Thing.self, lifetime: .singleton) { _ in Thing(2) }
        #expect(try await container.resolve(Thing.self).number == 2)
    }
}

/// What a miss says: DESIGN 3.1.
@Suite(.timeLimit(.minutes(10))) struct MissTests {
    private func miss<Service: Sendable>(_ service: Service.Type, in container: Container) async -> ResolutionError? {
        await #expect(throws: ResolutionError.self) { try await container.resolve(service) }
    }

    @Test func `a miss names the service and the container`() async throws {
        let error = await miss(Thing.self, in: Container(name: "app"))
        #expect(error?.code == .notRegistered)
        #expect(error?.path.map(\.description) == ["Thing"])
        #expect(error?.description.contains("Thing is not registered in container \"app\"") == true)
        #expect(error?.description.contains("Registration(Thing.self)") == true)
    }

    @Test func `a miss by argument types is an argumentMismatch that lists what is registered`() async throws {
        let container = Container {
            Registration(Thing.self) { (_, number: Int, text: String?) in Thing() }
            Registration(Thing.self) { (_, flag: Bool) in Thing() }
        }
        let none = await miss(Thing.self, in: container)
        #expect(none?.code == .argumentMismatch)
        #expect(none?.description.contains("no arguments") == true)
        #expect(none?.description.contains("(Int, String?)") == true)
        #expect(none?.description.contains("(Bool)") == true)
        let other = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Thing.self, arguments: "a", 1.5)
        }
        #expect(other?.code == .argumentMismatch)
        #expect(other?.description.contains("(String, Double)") == true)
        #expect(other?.path.map(\.description) == ["Thing(String, Double)"])
    }

    @Test func `arguments for a service that takes none are an argumentMismatch`() async throws {
        let container = Container(parent: Container { Registration(Thing.self) { _ in Thing() } })
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Thing.self, arguments: 1)
        }
        #expect(error?.code == .argumentMismatch)
        #expect(error?.description.contains("registered with no arguments") == true)
    }

    @Test func `a tuple of arguments is said to be one`() async throws {
        let container = Container { Registration(Thing.self) { (_, text: String, number: Int) in Thing(number) } }
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Thing.self, arguments: ("a", 1))
        }
        #expect(error?.code == .argumentMismatch)
        #expect(error?.description.contains("tuple") == true)
        #expect(try await container.resolve(Thing.self, arguments: "a", 1).number == 1)
    }

    @Test func `a miss lists the other qualifiers, also an ancestor's`() async throws {
        let parent = Container { Registration(Thing.self, qualifier: Env.prod) { _ in Thing() } }
        let container = Container(parent: parent) { Registration(Thing.self, qualifier: "backup") { _ in Thing() } }
        let unqualified = await miss(Thing.self, in: container)
        #expect(unqualified?.code == .notRegistered)
        #expect(unqualified?.description.contains("Thing[prod]") == true)
        #expect(unqualified?.description.contains("Thing[backup]") == true)
        let qualified = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Thing.self, qualifier: Env.test)
        }
        #expect(qualified?.description.contains("Thing[test] is not registered") == true)
        #expect(qualified?.description.contains("Thing[prod]") == true)
    }

    @Test func `a miss of a protocol names a registered type that conforms, and how to use it`() async throws {
        let parent = Container {
            Registration(Cat.self) { _ in Cat() }
            Registration(Stone.self) { _ in Stone() }
        }
        let error = await miss((any Pet).self, in: Container(parent: parent))
        #expect(error?.code == .notRegistered)
        #expect(error?.description.contains("Cat") == true)
        #expect(error?.description.contains(".implements((any Pet).self)") == true)
        #expect(error?.description.contains("Stone") == false)
    }

    @Test func `a miss of a protocol names a living instance that conforms`() async throws {
        let container = Container { Registration((any Animal).self, lifetime: .singleton) { _ in Cat() } }
        let before = await miss((any Pet).self, in: container)
        #expect(before?.description.contains("Animal") == false)
        _ = try await container.resolve((any Animal).self)
        let after = await miss((any Pet).self, in: container)
        #expect(after?.description.contains("Animal") == true)
    }

    @Test func `a miss names a child or sibling that has it`() async throws {
        let parent = Container(name: "parent")
        let child = Container(name: "child", parent: parent) { Registration(Thing.self) { _ in Thing() } }
        let sibling = Container(name: "sibling", parent: parent)
        #expect(await miss(Thing.self, in: parent)?.description.contains("container \"child\"") == true)
        #expect(await miss(Thing.self, in: sibling)?.description.contains("container \"child\"") == true)
        withExtendedLifetime(child) {}
    }

    @Test func `a miss names an open scope that has it`() async throws {
        let container = Container()
        let scope = try await container.openScope("request-1") { Registration(Thing.self) { _ in Thing() } }
        let nested = try await scope.openScope("nested") { Registration(Int.self) { _ in 1 } }
        #expect(await miss(Thing.self, in: container)?.description.contains("request-1") == true)
        #expect(await miss(Int.self, in: container)?.description.contains("nested") == true)
        withExtendedLifetime(nested) {}
    }

    @Test func `a miss does not name what is not near`() async throws {
        let unrelated = Container(name: "unrelated") { Registration(Thing.self) { _ in Thing() } }
        #expect(await miss(Thing.self, in: Container())?.description.contains("unrelated") == false)
        withExtendedLifetime(unrelated) {}
    }
}
