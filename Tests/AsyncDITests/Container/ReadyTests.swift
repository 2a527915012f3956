import Testing

@testable import AsyncDI

private protocol Pet: Sendable {}
private final class Dog: Pet {}
private enum Env: Qualifier { case prod }

/// Bound to the main actor, as view models are.
@MainActor private final class ViewModel {
    let thing: Thing
    let pet: any Pet
    init(thing: Thing, pet: any Pet) {
        MainActor.assertIsolated()
        self.thing = thing
        self.pet = pet
    }
}

/// Not `Sendable`.
private final class Controller {
    var numbers: [Int]
    init() { numbers = [] }
    init(thing: Thing) { numbers = [thing.number] }
    init(thing: Thing, name: String, dog: Dog) throws {
        if name.isEmpty { throw TestError(7) }
        numbers = [thing.number, name.count]
    }
    init(thing: Thing, name: String?) { numbers = [thing.number, name?.count ?? -1] }
}

/// Synchronous access to existing instances.
@Suite(.timeLimit(.minutes(10))) struct ReadyTests {
    static let shared: [Lifetime] = [
        .singleton, .multiton, .scoped, .weak, Lifetime("custom"), Lifetime("own", ownedBy: .resolvingContainer),
        Lifetime("stored") { StrongStorage() },
    ]

    @Test(arguments: shared)
    func `a shared instance is ready from the first resolve until it is reset`(lifetime: Lifetime) async throws {
        let container = Container { Registration(Thing.self, lifetime: lifetime) { _ in Thing() } }
        await expect(.notReady) { try container.ready(Thing.self) }
        let thing = try await container.resolve(Thing.self)
        #expect(try container.ready(Thing.self) === thing)
        try await container.reset(Thing.self)
        await expect(.notReady) { try container.ready(Thing.self) }
    }

    @Test func `an instance registration is ready at once, also in children`() throws {
        let thing = Thing()
        let container = Container { Registration(Thing.self, qualifier: Env.prod, instance: thing) }
        #expect(try container.ready(Thing.self, qualifier: Env.prod) === thing)
        let inferred: Thing = try Container(parent: container).ready(qualifier: Env.prod)
        #expect(inferred === thing)
    }

    @Test func `the owner's instance is ready in children, whichever container resolved it`() async throws {
        let parent = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let (one, two) = (Container(parent: parent), Container(parent: parent))
        let thing = try await one.resolve(Thing.self)
        for container in [one, two, parent] { #expect(try container.ready(Thing.self) === thing) }
    }

    @Test func `a scope's instance is ready in that scope only`() async throws {
        let root = Container { Registration(Thing.self, lifetime: .scoped) { _ in Thing() } }
        let (one, two) = (try await root.openScope(1), try await root.openScope(2))
        let thing = try await one.resolve(Thing.self)
        #expect(try one.ready(Thing.self) === thing)
        #expect(throws: ResolutionError.self) { try two.ready(Thing.self) }
        #expect(throws: ResolutionError.self) { try root.ready(Thing.self) }
    }

    @Test(arguments: [Lifetime.scoped, Lifetime("own", ownedBy: .resolvingContainer)])
    func `a scope's instance stays ready when something else is registered anywhere`(lifetime: Lifetime) async throws {
        let root = Container {
            Registration(Dog.self, lifetime: lifetime) { _ in Dog() }.implements((any Pet).self)
        }
        let scope = try await root.openScope("scope")
        let dog = try await scope.resolve(Dog.self)
        _ = try await scope.resolve((any Pet).self)
        try await Container().register(Int.self, instance: 1)
        #expect(try scope.ready(Dog.self) === dog)
        #expect(try scope.ready((any Pet).self) as? Dog === dog)
    }

    @Test func `a service that is being created is not ready`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let asker = Task { try await container.resolve(Thing.self) }
        await factory.began()
        await expect(.notReady) { try container.ready(Thing.self) }
        factory.answer(Thing())
        #expect(try await asker.value === container.ready(Thing.self))
    }

    @Test func `a weak instance is ready while a reference holds it`() async throws {
        let container = Container { Registration(Dog.self, lifetime: .weak) { _ in Dog() }.implements((any Pet).self) }
        let dog = try await container.resolve(Dog.self)
        #expect(try container.ready(Dog.self) === dog)
        #expect(try container.ready((any Pet).self) as? Dog === dog)
    }

    @Test(arguments: [Lifetime.singleton, .scoped, Lifetime("custom")])
    func `a service is ready under every type that it implements`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Dog.self, lifetime: lifetime) { _ in Dog() }.implements((any Pet).self)
        }
        await expect(.notReady) { try container.ready((any Pet).self) }
        let dog = try await container.resolve(Dog.self)
        #expect(try container.ready((any Pet).self) as? Dog === dog)
    }

    @Test func `an instance registration is ready under the types that it implements`() throws {
        let dog = Dog()
        let container = Container { Registration(Dog.self, instance: dog).implements((any Pet).self) }
        #expect(try container.ready((any Pet).self) as? Dog === dog)
    }

    // MARK: Missing instances

    @Test func `notReady names the service and says what to do`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }
            Registration(Int.self, lifetime: .transient) { _ in 1 }
            Registration(String.self) { _ in "" }
        }
        let shared = #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        #expect(shared?.path.map(\.description) == ["Thing"])
        #expect(shared?.description.contains("Thing has not been created yet") == true)
        for error in [
            await expect(.notReady) { try container.ready(Int.self) },
            await expect(.notReady) { try container.ready(String.self) },
        ] {
            #expect(error?.description.contains("never ready") == true)
        }
    }

    @Test func `a missing registration is no notReady, and names similar ones`() async throws {
        let container = Container(name: "app") {
            Registration(Thing.self, qualifier: Env.prod, instance: Thing())
            Registration(Int.self, lifetime: .singleton) { (_, text: String) in text.count }
        }
        let missing = await expect(.notRegistered) { try container.ready(Thing.self) }
        #expect(missing?.description.contains("container \"app\"") == true)
        #expect(missing?.description.contains("Thing[prod]") == true)
        await expect(.argumentMismatch) { try container.ready(Int.self) }
    }

    @Test func `nothing is ready in a disposed container`() async throws {
        let container = Container { Registration(instance: Thing()) }
        try await container.dispose()
        await expect(.disposed) { try container.ready(Thing.self) }
    }

    // MARK: withScope

    @Test func `inside withScope an outer container is ready with the scope's instances`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
            Registration(String.self, instance: "application")
        }
        try await container.withScope("request") {
            Registration(String.self, instance: "request")
        } operation: { (scope) async throws in
            #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
            let thing = try await scope.resolve(Thing.self)
            #expect(try container.ready(Thing.self) === thing)
            #expect(try container.ready(String.self) == "request")
            #expect(try container.ready(using: Controller.init(thing:)).numbers == [0])
        }
        #expect(throws: ResolutionError.self) { try container.ready(Thing.self) }
        #expect(try container.ready(String.self) == "application")
    }

    @Test func `a singleton's factory gets no scope's instance by ready either`() async throws {
        let container = Container { Registration(Thing.self, lifetime: .scoped) { _ in Thing() } }
        try await container.register(Dog.self, lifetime: .singleton) { _ in
            _ = try container.ready(Thing.self)
            return Dog()
        }
        _ = try await container.resolve(Thing.self)
        await expect(.captiveDependency, path: ["Dog", "Thing"]) { try await container.resolve(Dog.self) }
    }

    // MARK: ready(using:)

    @Test @MainActor func `ready using builds instances bound to the main actor`() throws {
        let (thing, dog) = (Thing(), Dog())
        let container = Container {
            Registration(instance: thing)
            Registration((any Pet).self, instance: dog)
        }
        let model = try container.ready(using: ViewModel.init)
        #expect(model.thing === thing)
        #expect(model.pet as? Dog === dog)
        #expect(try container.ready(using: ViewModel.init) !== model)
    }

    @Test func `ready using builds instances that are not Sendable, from any number of dependencies`() throws {
        let container = Container {
            Registration(instance: Thing(5))
            Registration(instance: "name")
            Registration(instance: Dog())
        }
        let controller = try container.ready(using: { Controller() })
        controller.numbers.append(1)
        #expect(controller.numbers == [1])
        #expect(try container.ready(using: Controller.init(thing:)).numbers == [5])
        #expect(try container.ready(using: Controller.init(thing:name:dog:)).numbers == [5, 4])
    }

    @Test func `injection points of what ready using builds use its container`() async throws {
        struct Injecting {
            @Inject var number: Int
            let name: String
            init(name: String) { self.name = name }
        }
        let container = Container {
            Registration(Int.self, instance: 1)
            Registration(instance: "name")
        }
        #expect(try container.ready(using: Injecting.init(name:)).number == 1)
        // In a scope, the outer container stands for it, as for the parameters.
        try await container.withScope {
            Registration(Int.self, instance: 2)
        } operation: { _ in
            let inScope = try container.ready(using: Injecting.init(name:)).number
            #expect(inScope == 2)
        }
        let other = Container { Registration(Int.self, instance: 3) }
        let inOther = try Injection.with(other) { try container.ready(using: Injecting.init(name:)).number }
        #expect(inOther == 1)
    }

    @Test func `ready using throws the initializer's error`() throws {
        let container = Container {
            Registration(instance: Thing())
            Registration(instance: "")
            Registration(instance: Dog())
        }
        #expect(throws: TestError(7)) { _ = try container.ready(using: Controller.init(thing:name:dog:)) }
    }

    @Test func `ready using names the missing dependency, and runs nothing`() async throws {
        let container = Container {
            Registration(instance: Thing())
            Registration(String.self, lifetime: .singleton) { _ in "" }
        }
        func build(thing: Thing, name: String, dog: Dog) -> Controller {
            Issue.record("nothing is built")
            return Controller()
        }
        await expect(.notReady, path: ["String"]) { _ = try container.ready(using: build) }
        await expect(.notRegistered, path: ["Dog"]) {
            _ = try container.ready(using: { (dog: Dog) in Controller() })
        }
    }

    @Test func `ready using gives nil for an optional dependency that is not registered`() throws {
        let container = Container { Registration(instance: Thing(1)) }
        #expect(try container.ready(using: Controller.init(thing:name:)).numbers == [1, -1])
        let named = Container(parent: container) { Registration(instance: "name") }
        #expect(try named.ready(using: Controller.init(thing:name:)).numbers == [1, 4])
    }
}
