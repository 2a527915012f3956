import Testing

@testable import AsyncDI

private struct User: Sendable { let name: String }
private protocol Principal: Sendable {}
extension User: Principal {}

/// Values that each scope is expected to supply, where none has.
@Suite(.timeLimit(.minutes(10))) struct ExpectedValueTests {
    private let container = Container(name: "app") {
        Registration(expected: User.self).implements((any Principal).self)
        Registration(String.self, lifetime: .transient) { r in try await r.optional(User.self)?.name ?? "nobody" }
    }

    @Test func `optional requests get nil, others an error that says where to supply it`() async throws {
        #expect(try await container.optional(User.self) == nil)
        #expect(try await container.resolve(User?.self) == nil)
        #expect(try await container.optional((any Principal).self) == nil)
        #expect(try container.ready(User?.self) == nil)
        #expect(try await container.resolve(String.self) == "nobody")
        await expect(.notRegistered) { try await container.resolve(User.self) }
        await expect(.notRegistered) { try await container.withInstance(User.self) { _ in } }
        let error = await expect(.notRegistered) { try container.ready(User.self) }
        #expect(error?.description.contains("withScope") == true)
        try await container.dispose()
    }

    @Test func `the advice supplies the value under its qualifier`() async throws {
        let container = Container {
            Registration(expected: User.self, qualifier: "admin")
            Registration((any Principal).self, lifetime: .singleton) { r in
                try await r.resolve(User.self, qualifier: "admin")
            }
        }
        func advice(in container: Container) async -> String? {
            await expect(.notRegistered) { try await container.resolve(User.self, qualifier: "admin") }?.advice
        }
        let registration = "Registration(User.self, qualifier: \"admin\", instance: …)"
        #expect(await advice(in: container)?.contains("registrations: { \(registration) }") == true)
        try await container.withScope {
            Registration(instance: User(name: "Ada"))
        } operation: { scope in
            #expect(await advice(in: scope)?.hasSuffix("under the expected key, \(registration).") == true)
        }
    }

    @Test func `an alias means the value that the scope has supplied`() async throws {
        let name = try await container.withScope {
            Registration(instance: User(name: "Ada"))
        } operation: { scope in
            let optional = try await scope.optional((any Principal).self) as? User
            let resolved = try await scope.resolve((any Principal).self) as? User
            let ready = try scope.ready((any Principal).self) as? User
            #expect(optional?.name == resolved?.name && ready?.name == resolved?.name)
            return resolved?.name
        }
        #expect(name == "Ada")
        #expect(try await container.optional((any Principal).self) == nil, "the value stays in its scope")
        try await container.dispose()
    }

    @Test func `a service with arguments beside it does not count`() async throws {
        let container = Container {
            Registration(expected: User.self)
            Registration(User.self) { (_, name: String) in User(name: name) }
        }
        #expect(try await container.optional(User.self) == nil)
        #expect(try await container.resolve(User?.self) == nil)
        try await container.dispose()
    }

    @Test func `an instance that outlives the scopes does not keep nil`() async throws {
        let container = Container {
            Registration(expected: User.self)
            Registration(Int.self, lifetime: .singleton) { r in try await r.optional(User.self) == nil ? 0 : 1 }
            Registration(Set<Int>.self, lifetime: .scoped) { r in try await r.resolve(User?.self) == nil ? [] : [1] }
        }
        try await container.withScope {
            Registration(instance: User(name: "Ada"))
        } operation: { scope in
            let error = await expect(.notRegistered) { try await scope.resolve(Int.self) }
            // Not to supply it, which this scope has done.
            #expect(error?.advice?.contains("give it a Provider<User>") == true)
            let supplied = try await scope.resolve(Set<Int>.self)
            #expect(supplied == [1])
        }
        let unsupplied = try await container.withScope { try await $0.resolve(Set<Int>.self) }
        #expect(unsupplied == [])
        try await container.dispose()
    }

    @Test func `a contribution that no scope supplies is not left out`() async throws {
        let container = Container { Registration(expected: User.self).intoMany(key: "user") }
        await expect(.notRegistered) { try await container.resolveMany(User.self) }
        await expect(.notRegistered) { try await container.withInstances(User.self) { _ in } }
        try await container.dispose()
    }

    @Test func `an option that needs an instance is refused, with the way out`() async throws {
        let container = Container {
            Registration(expected: User.self).eager()
            Registration(expected: Int.self).onDispose { _ in }
            Registration(expected: String.self).onCreate { _, _ in }
            Registration(expected: Double.self).injectProperties { _, _ in }
        }
        let error = await #expect(throws: ValidationError.self) { try await container.validate() }
        let texts = error?.problems.map(\.description) ?? []
        #expect(texts.count == 4)
        for type in ["String", "Double"] {
            let text = "\(type) is expected to be supplied by each scope, and has a creation hook"
            #expect(texts.contains { $0.contains(text) })
        }
        #expect(texts.contains { $0.contains("User is expected to be supplied by each scope, and eager") })
        #expect(texts.contains { $0.contains("Remove .eager().") })
        #expect(texts.contains { $0.contains("Int is expected to be supplied by each scope, and has an onDispose") })
        #expect(texts.contains { $0.contains("Move the hook to the registration that supplies it.") })
        try await container.dispose()
    }

    @Test func `a scope without the value may resolve a service that does not require it`() async throws {
        let container = Container {
            Registration(expected: User.self)
            Registration(using: { (user: User?) in user?.name ?? "nobody" }, lifetime: .scoped)
        }
        let scope = try await container.openScope()
        let report = try await scope.validationReport(resolving: [String.self])
        #expect(report.problems.isEmpty)
        #expect(try await scope.resolve(String.self) == "nobody")
        try await container.dispose()
    }

    @Test func `an optional property is nil`() async throws {
        struct Owner {
            @OptionalInject var user: User?
        }
        let container = container
        let name = Injection.with(container) { Owner().user?.name }
        #expect(name == nil)
        let supplied = try await container.withScope {
            Registration(instance: User(name: "Ada"))
        } operation: { scope in
            (Owner().user?.name, try await scope.optional(User.self)?.name, try await scope.resolve(String.self))
        }
        #expect(supplied == ("Ada", "Ada", "Ada"))
        try await container.dispose()
    }
}
