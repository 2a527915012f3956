import Testing

@testable import AsyncDI

private enum Env: String, Qualifier { case prod, test }
private enum Stage: String, Qualifier { case prod }

private typealias Pet = Zoo.Pet
private typealias Cat = Zoo.Cat

/// The properties that distinguish two registrations.
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
        await expect(.argumentMismatch) { try await plain.resolve(Int.self, arguments: String?("a")) }
        await expect(.argumentMismatch) { try await optional.resolve(Int.self, arguments: "a") }
    }

    @Test func `a qualified request does not fall back to the unqualified registration, nor back`() async throws {
        let unqualified = Container { Registration(Int.self) { _ in 0 } }
        let qualified = Container { Registration(Int.self, qualifier: Env.prod) { _ in 1 } }
        await expect(.notRegistered) { try await unqualified.resolve(Int.self, qualifier: Env.prod) }
        await expect(.notRegistered) { try await qualified.resolve(Int.self) }
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
