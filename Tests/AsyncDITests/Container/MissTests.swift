import Testing

@testable import AsyncDI

private enum Env: String, Qualifier { case prod, test }

private struct Incomparable {}

private typealias Pet = Zoo.Pet
private typealias Animal = Zoo.Animal
private typealias Cat = Zoo.Cat
private typealias Stone = Zoo.Stone

/// The message of a miss.
@Suite(.timeLimit(.minutes(10))) struct MissTests {
    private func miss<Service: Sendable>(
        _ service: Service.Type, in container: Container, _ code: ResolutionError.Code = .notRegistered,
        at location: SourceLocation = #_sourceLocation
    ) async -> ResolutionError? {
        await expect(code, at: location) { try await container.resolve(service) }
    }

    @Test func `a miss names the service and the container`() async throws {
        let error = await miss(Thing.self, in: Container(name: "app"))
        #expect(error?.path.map(\.description) == ["Thing"])
        #expect(error?.description.contains("Thing is not registered in container \"app\"") == true)
        #expect(error?.description.contains("Registration(Thing.self)") == true)
    }

    @Test func `a miss tells qualifiers of the same name apart by their types`() async throws {
        let container = Container { Registration(Thing.self, qualifier: "prod") { _ in Thing() } }
        let error = await expect(.notRegistered) {
            try await container.resolve(Thing.self, qualifier: Env.prod)
        }
        #expect(error?.description.contains("Its qualifier is of the type Swift.String, and the requested one") == true)
        let other = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Thing.self, qualifier: Env.test)
        }
        #expect(other?.description.contains("Its qualifier") == false)
    }

    @Test func `a request to a container that was released, not disposed, says so`() async throws {
        var container: Container? = Container(name: "app") { Registration(Thing.self) { _ in Thing() } }
        let lazy = try #require(try await container?.resolve(Lazy<Thing>.self))
        container = nil
        let error = await expect(.disposed) { try await lazy() }
        #expect(error?.message.contains("container \"app\", which has been released") == true)
        #expect(error?.advice?.hasPrefix("Keep a reference to the container") == true)
        let disposed = Container(name: "app") { Registration(Thing.self) { _ in Thing() } }
        let other = try await disposed.resolve(Lazy<Thing>.self)
        try await disposed.dispose()
        #expect(await expect(.disposed) { try await other() }?.message.hasSuffix("which is disposed.") == true)
    }

    @Test func `a miss names the registration of an optional type`() async throws {
        let container = Container(name: "app") {
            Registration { _ in Optional(Thing()) }
            Registration(making: String.self) { _ in "text" }
            Registration(expected: Double.self)
        }
        let error = await miss(Thing.self, in: container)
        #expect(
            error?.advice?.contains("Registered as an optional type: Thing?. Request that type, or register") == true)
        let making = await #expect(throws: ResolutionError.self) { try await container.make(String?.self) }
        #expect(making?.advice == "String is registered: name the type, make(String.self).")
        let unsupplied = await #expect(throws: ResolutionError.self) {
            try await container.withScope {
                Registration(instance: Optional(1.5))
            } operation: { scope in
                try await scope.resolve(Double.self)
            }
        }
        #expect(
            unsupplied?.advice
                == "It has Double?: supply the value under the expected key, Registration(Double.self, instance: …).")
    }

    @Test func `a miss names a fallback that is disposed`() async throws {
        let fallback = Container(name: "shared") { Registration(Thing.self) { _ in Thing() } }
        let container = Container(fallbacks: [fallback])
        _ = try await container.resolve(Thing.self)
        try await fallback.dispose()
        let error = await miss(Thing.self, in: container)
        #expect(error?.description.contains("also searches container \"shared\", which is disposed") == true)
    }

    @Test func `a miss names the closure that the compiler took for an instance`() async throws {
        let container = Container()
        try await container.register { @MainActor in Thing() }
        let error = await miss(Thing.self, in: container)
        #expect(error?.advice?.hasPrefix("The closure @MainActor @Sendable () -> Thing (") == true)
        #expect(
            error?.advice?.hasSuffix(
                ") is registered as an instance: to register its result, name the service, Registration(Thing.self) { … }."
            ) == true)
        // And it is one that a user may want to have.
        let closure = try await container.resolve((@MainActor @Sendable () -> Thing).self)
        #expect(await closure().number == 0)
        #expect(await miss(Cat.self, in: container)?.advice?.contains("closure") == false)
    }

    @Test func `a registration that a disposal has removed meanwhile is no miss`() async throws {
        let (owner, host) = (Container(name: "owner"), Container(name: "host"))
        let request = Request(key: ServiceKey(Thing.self), pack: .none, host: host.core, asker: nil)
        #expect(request.missing(in: owner.core).code == .notRegistered)
        try await owner.dispose()
        let error = request.missing(in: owner.core)
        #expect(error.code == .disposed)
        #expect(error.description.contains("container \"owner\"") == true)
    }

    @Test func `a miss names contributions once`() async throws {
        let container = Container { for _ in 0..<3 { Registration(Int.self) { _ in 1 }.intoMany() } }
        let error = await miss(Int.self, in: container)
        #expect(error?.description.contains("Registered: [Int]. Use resolveMany") == true)
    }

    @Test func `a contribution's key of another type is named`() async throws {
        let container = Container {
            Registration(Int.self) { _ in 1 }.intoMany(key: "1")
            Registration(Int.self) { _ in 2 }.intoMany(key: "2")
            Registration(Int.self) { _ in 3 }.intoMany()
            Registration(Int.self, qualifier: .named("others")) { _ in 3 }.intoMany(key: true)
        }
        let one = await #expect(throws: ResolutionError.self) {
            try await container.withInstance(Int.self, contributedAs: 1) { _ in }
        }
        let types = "The requested key is of the type Swift.Int, and there are keys of Swift.String."
        #expect(one?.advice?.contains(types) == true)
        let other = await #expect(throws: ResolutionError.self) {
            try await container.withInstance(Int.self, contributedAs: "3") { _ in }
        }
        #expect(other?.advice?.contains("of the type") == false)
        let map = await miss([Int: Int].self, in: container)
        let advice = "Its contributions have keys of Swift.String. Contribute to it, with a key of type Int:"
        #expect(map?.advice?.hasPrefix(advice) == true)
    }

    @Test func `a miss by argument types is an argumentMismatch that lists the registered ones`() async throws {
        let container = Container {
            Registration(Thing.self) { (_, number: Int, text: String?) in Thing() }
            Registration(Thing.self) { (_, flag: Bool) in Thing() }
        }
        let none = await miss(Thing.self, in: container, .argumentMismatch)
        #expect(none?.description.contains("no arguments") == true)
        #expect(none?.description.contains("(Int, String?)") == true)
        #expect(none?.description.contains("(Bool)") == true)
        let other = await expect(.argumentMismatch, path: ["Thing(String, Double)"]) {
            try await container.resolve(Thing.self, arguments: "a", 1.5)
        }
        #expect(other?.description.contains("(String, Double)") == true)
    }

    @Test func `arguments for a service that takes none are an argumentMismatch`() async throws {
        let container = Container(parent: Container { Registration(Thing.self) { _ in Thing() } })
        let error = await expect(.argumentMismatch) {
            try await container.resolve(Thing.self, arguments: 1)
        }
        #expect(error?.description.contains("registered with no arguments") == true)
    }

    @Test func `a tuple of arguments is said to be one`() async throws {
        let container = Container { Registration(Thing.self) { (_, text: String, number: Int) in Thing(number) } }
        let error = await expect(.argumentMismatch) {
            try await container.resolve(Thing.self, arguments: ("a", 1))
        }
        #expect(error?.description.contains("tuple") == true)
        #expect(try await container.resolve(Thing.self, arguments: "a", 1).number == 1)
    }

    @Test func `a miss lists the other qualifiers, also an ancestor's`() async throws {
        let parent = Container { Registration(Thing.self, qualifier: Env.prod) { _ in Thing() } }
        let container = Container(parent: parent) { Registration(Thing.self, qualifier: "backup") { _ in Thing() } }
        let unqualified = await miss(Thing.self, in: container)
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
        #expect(error?.description.contains("Cat") == true)
        #expect(error?.description.contains(".implements((any Zoo.Pet).self)") == true)
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

    @Test func `the advice registers the whole key`() async throws {
        func advice(_ body: (Container) async throws -> Any) async -> String? {
            await #expect(throws: ResolutionError.self) { try await body(Container()) }?.advice
        }
        let end = ", or check which container you resolve from."
        #expect(
            await advice { try await $0.resolve(Thing.self, qualifier: Env.prod) }
                == "Register it: Registration(Thing.self, qualifier: Env.prod) { … }\(end)")
        #expect(
            await advice { try await $0.resolve(Thing.self, arguments: 1, "a" as String?) }
                == "Register it: Registration(Thing.self) { (_, _: Int, _: String?) in … }\(end)")
        #expect(
            await advice { try await $0.resolve(Thing.self, qualifier: "q", arguments: Incomparable()) }
                == "Register it: Registration(Thing.self, qualifier: \"q\", lifetime: .transient) "
                + "{ (_, _: Incomparable) in … }\(end)")
        let function: @Sendable (Int) -> Int = { $0 }
        #expect(
            await advice { try await $0.resolve(Thing.self, arguments: 1, function) }
                == "Register it: Registration(Thing.self, lifetime: .transient) "
                + "{ (_, _: Int, _: @escaping @Sendable (Int) -> Int) in … }\(end)")
        #expect(
            await advice { try await $0.resolve((any Animal).self, qualifier: "q", arguments: 1) }
                == "Register it: Registration((any Zoo.Animal).self, qualifier: \"q\") { (_, _: Int) in … }\(end)")
        #expect(
            await advice { try await $0.resolve([Thing].self, qualifier: "q") }
                == "Contribute to it: Registration(Thing.self, qualifier: \"q\") { … }.intoMany()\(end)")
        #expect(
            await advice { try await $0.resolve([String: Thing].self, qualifier: "q") }
                == "Contribute to it, with a key of type String: "
                + "Registration(Thing.self, qualifier: \"q\") { … }.intoMany(key: …)\(end)")
        #expect(
            await advice { try await $0.resolve([Provider<Thing>].self) }
                == "Contributions are requested together: request a Provider<[Thing]>\(end)")
        #expect(
            await advice { try await $0.resolve([String: Lazy<Thing>].self) }
                == "Contributions are requested together: request a Lazy<[String: Thing]>\(end)")
        #expect(
            await advice { try await $0.make(Thing.self) }
                == "Register it: Registration(making: Thing.self) { … }\(end)")
        #expect(
            await advice { try await $0.make(Thing.self, qualifier: .key(7), arguments: 1) }
                == "Register it: Registration(making: Thing.self, qualifier: .key(7)) { (_, _: Int) in … }\(end)")
        // And it is Swift: this compiles.
        _ = Registration(Thing.self, qualifier: Env.prod) { (_, _: Int, _: String?) in Thing() }
        _ = Registration(Thing.self, qualifier: "q", lifetime: .transient) { (_, _: Incomparable) in Thing() }
        _ = Registration(Thing.self, lifetime: .transient) { (_, _: Int, _: @escaping @Sendable (Int) -> Int) in Thing()
        }
        _ = Registration(making: Thing.self, qualifier: .key(7)) { (_, _: Int) in Thing() }
    }

    @Test func `the advice to implement a protocol has its qualifier, where that is another one`() async throws {
        let container = Container {
            Registration(Cat.self, qualifier: "x") { _ in Cat() }
            Registration(Cat.self) { (_, _: Int) in Cat() }
            Registration(making: Cat.self) { _ in Cat() }
        }
        let plain = await miss((any Pet).self, in: container)
        #expect(
            plain?.advice
                == "Zoo.Cat[x] conforms: add .implements((any Zoo.Pet).self, qualifier: nil) to its registration.")
        for (qualifier, modifier) in [
            ("x", ".implements((any Zoo.Pet).self)"), ("y", ".implements((any Zoo.Pet).self, qualifier: \"y\")"),
        ] {
            let error = await #expect(throws: ResolutionError.self) {
                try await container.resolve((any Pet).self, qualifier: qualifier)
            }
            #expect(error?.advice == "Zoo.Cat[x] conforms: add \(modifier) to its registration.")
        }
        let made = await #expect(throws: ResolutionError.self) { try await container.make((any Pet).self) }
        #expect(made?.advice?.hasPrefix("Register it: Registration(making: (any Zoo.Pet).self) { … }") == true)
        // And it helps.
        let repaired = Container {
            Registration(Cat.self, qualifier: "x") { _ in Cat() }.implements((any Pet).self, qualifier: nil)
        }
        _ = try await repaired.resolve((any Pet).self)
    }

    @Test func `a miss names the type of a living instance that conforms where its service does not`() async throws {
        let container = Container { Registration((any Animal).self, lifetime: .singleton) { _ in Cat() } }
        _ = try await container.resolve((any Animal).self)
        #expect(
            await miss((any Pet).self, in: container)?.advice
                == "Zoo.Animal (whose instance is a Zoo.Cat) conforms: add .implements((any Zoo.Pet).self) to its "
                + "registration.")
        // And it helps.
        let repaired = Container {
            Registration((any Animal).self, lifetime: .singleton) { _ in Cat() }.implements((any Pet).self)
        }
        _ = try await repaired.resolve((any Pet).self)
    }

    @Test func `a miss names the type of a qualifier without the address of the function that it is in`() async throws {
        enum Local: Qualifier { case prod }
        let container = Container { Registration(Thing.self, qualifier: Env.prod) { _ in Thing() } }
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Thing.self, qualifier: Local.prod)
        }
        #expect(error?.advice?.contains("and the requested one of AsyncDITests.MissTests.Local.") == true)
    }

    @Test func `a miss tells apart qualifiers whose types have one name`() async throws {
        func first() -> any Qualifier {
            enum Local: Qualifier { case prod }
            return Local.prod
        }
        func second() -> any Qualifier {
            enum Local: Qualifier { case prod }
            return Local.prod
        }
        let container = Container { Registration(Thing.self, qualifier: first()) { _ in Thing() } }
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Thing.self, qualifier: second())
        }
        #expect(error?.advice?.contains("of another type that is also called AsyncDITests.MissTests.Local.") == true)
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

    @Test func `a miss does not name an unrelated container that has the service`() async throws {
        let unrelated = Container(name: "unrelated") { Registration(Thing.self) { _ in Thing() } }
        #expect(await miss(Thing.self, in: Container())?.description.contains("unrelated") == false)
        withExtendedLifetime(unrelated) {}
    }
}
