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
        let error = #expect(throws: ResolutionError.self) { try container.ready(User.self) }
        #expect(error?.code == .notRegistered)
        #expect(error?.description.contains("withScope") == true)
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
