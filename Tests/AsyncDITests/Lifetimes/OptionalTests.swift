import Testing

@testable import AsyncDI

private protocol Named: Sendable {}

/// Requests for services that may not be registered.
@Suite(.timeLimit(.minutes(10))) struct OptionalTests {
    @Test func `a result of optional type asks for the optional`() async throws {
        let empty = Container()
        let none: Thing? = try await empty.resolve()
        #expect(none == nil)
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in Thing() } }
        let some: Thing? = try await container.resolve()
        #expect(some != nil)
        #expect(try await container.resolve(Thing.self) === some)
    }

    @Test(arguments: [Lifetime.transient, .graph] + Lifetime.shared)
    func `resolving an optional gives the service when it is registered`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(1) }
            Registration(Thing.self, qualifier: "q", lifetime: lifetime) { (_, number: Int) in Thing(number) }
        }
        #expect(try await container.resolve(Thing?.self)?.number == 1)
        #expect(try await container.resolve(Thing?.self, qualifier: "q", arguments: 2)?.number == 2)
        #expect(try await container.resolve(Thing?.self, qualifier: "q2") == nil)
        #expect(try await container.resolve((any Named)?.self) == nil)
    }

    @Test func `an optional may be registered itself`() async throws {
        let container = Container {
            Registration(Int?.self) { _ in 1 }
            Registration(Int.self) { _ in 2 }
        }
        #expect(try await container.resolve(Int?.self) == 1)
        #expect(try await container.optional(Int.self) == 2)
    }

    @Test func `an optional of an optional does not crash`() async throws {
        let empty = Container()
        let none = try await empty.resolve(Int??.self)
        #expect(none == nil || none == .some(nil))
        let container = Container { Registration(Int.self) { _ in 1 } }
        #expect(try await container.resolve(Int??.self) == 1)
        #expect(try await container.resolve(Int???.self) == 1)
        let value: Int?? = try await container.optional(Int?.self)
        #expect(value == 1)
    }

    @Test func `optional gives nil for an unregistered service, in both forms`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing(1) }
            Registration(Thing.self, qualifier: "q") { (_, number: Int) in Thing(number) }
            Registration([Int].self) { r in
                [
                    try await r.optional(Thing.self)?.number ?? 0,
                    try await r.optional(Thing.self, qualifier: "q", arguments: 2)?.number ?? 0,
                    try await r.optional(Thing.self, qualifier: "none")?.number ?? 0,
                    try await r.optional(Int.self, arguments: 1) ?? 0,
                ]
            }
        }
        #expect(try await container.optional(Thing.self)?.number == 1)
        #expect(try await container.optional(Thing.self, qualifier: "q", arguments: 2)?.number == 2)
        #expect(try await container.optional(Thing.self, qualifier: "none") == nil)
        #expect(try await container.optional(Int.self, arguments: 1) == nil)
        #expect(try await container.resolve([Int].self) == [1, 2, 0, 0])
    }

    @Test func `other argument types are no reason to answer nil`() async throws {
        let container = Container(parent: Container { Registration(Thing.self) { (_, number: Int) in Thing(number) } })
        await expect(.argumentMismatch) { try await container.optional(Thing.self) }
        await expect(.argumentMismatch) { try await container.optional(Thing.self, arguments: "a") }
        await expect(.argumentMismatch) { try await container.resolve(Thing?.self) }
    }

    @Test(arguments: [Lifetime.transient, .graph] + Lifetime.shared)
    func `the error of a missing dependency is thrown`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { r in try await Thing(r.resolve(Int.self)) }
        }
        await expect(.notRegistered, path: ["Thing", "Int"]) { try await container.optional(Thing.self) }
        await expect(.notRegistered, path: ["Thing", "Int"]) { try await container.resolve(Thing?.self) }
    }

    @Test func `the factory's error is thrown`() async throws {
        let container = Container { Registration(Thing.self) { _ in throw TestError(1) } }
        await #expect(throws: TestError(1)) { try await container.optional(Thing.self) }
        await #expect(throws: TestError(1)) { try await container.resolve(Thing?.self) }
    }

    @Test func `a using initializer has its optional dependencies resolved`() async throws {
        struct Report: Sendable {
            let thing: Thing?
            let name: String?
        }
        let container = Container {
            Registration(using: Report.init)
            Registration(Thing.self) { _ in Thing(1) }
        }
        let report = try await container.resolve(Report.self)
        #expect(report.thing?.number == 1)
        #expect(report.name == nil)
    }

    @Test func `a decorated value that no scope has supplied is absent`() async throws {
        let container = Container {
            Registration(expected: Thing.self).implements((any Numbered).self)
            Decoration((any Numbered).self) { _, inner in inner }
        }
        #expect(try await container.optional((any Numbered).self) == nil)
        #expect(try await container.resolve((any Numbered)?.self) == nil)
        let scope = try await container.openScope { Decoration(Thing.self) { _, inner in Thing(inner.number + 1) } }
        #expect(try await scope.optional(Thing.self) == nil)
        let request = try await container.openScope { Registration(instance: Thing(1)) }
        #expect(try await request.optional((any Numbered).self)?.number == 1)
        try await container.dispose()
    }
}

private protocol Numbered: Sendable { var number: Int { get } }
extension Thing: Numbered {}
