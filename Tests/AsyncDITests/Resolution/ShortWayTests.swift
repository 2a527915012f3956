import Testing

@testable import AsyncDI

private final class Part: Sendable {
    let name: String
    init(_ name: String = "") { self.name = name }
}
private struct Whole: Sendable { let parts: [Part] }
private struct Countdown: Sendable { let steps: Int }
private enum Kind: Qualifier { case red, green }

/// Requests from inside a factory have the same results as those from outside, on the same short path.
@Suite(.timeLimit(.minutes(10))) struct ShortWayTests {
    @Test(arguments: [Lifetime.transient, .graph, .scoped, .singleton, .multiton])
    func `a factory finds the same instances as a request from outside`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(instance: Part("plain"))
            Registration(qualifier: Kind.red, instance: Part("red"))
            Registration(Part.self, lifetime: .multiton) { (_, name: String) in Part(name) }
            Registration(Part.self, lifetime: .multiton) { (_, name: String, _: Int) in Part(name) }
            Registration(Whole.self, lifetime: lifetime) { r in
                Whole(parts: [
                    try await r.resolve(Part.self), try await r.resolve(Part.self, qualifier: Kind.red),
                    try await r.resolve(Part.self, arguments: "one"),
                    try await r.resolve(Part.self, arguments: "two", 2),
                ])
            }
        }
        let scope = try await container.openScope()
        let outside = [
            try await scope.resolve(Part.self), try await scope.resolve(Part.self, qualifier: Kind.red),
            try await scope.resolve(Part.self, arguments: "one"),
            try await scope.resolve(Part.self, arguments: "two", 2),
        ]
        let whole = try await scope.resolve(Whole.self)
        #expect(whole.parts.map(ObjectIdentifier.init) == outside.map(ObjectIdentifier.init))
        let again = try await container.resolve(Whole.self)
        #expect(again.parts.map(ObjectIdentifier.init) == outside.map(ObjectIdentifier.init))
        await #expect(throws: ResolutionError.self) { try await scope.resolve(Part.self, qualifier: Kind.green) }
    }

    @Test func `a factory that resolves its own service with other arguments ends, and with equal ones is a cycle`()
        async throws
    {
        let container = Container {
            Registration(Countdown.self, lifetime: .transient) { (r, number: Int) in
                if number == 0 { return Countdown(steps: 0) }
                let next = number == -1 ? -1 : number - 1
                return Countdown(steps: try await r.resolve(Countdown.self, arguments: next).steps + 1)
            }
        }
        #expect(try await container.resolve(Countdown.self, arguments: 200).steps == 200)
        let error = await #expect(throws: ResolutionError.self) {
            try await container.resolve(Countdown.self, arguments: -1)
        }
        #expect(error?.code == .circularDependency)
    }

    @Test(arguments: [Kind.red, nil])
    fileprivate func `a singleton does not get a ready instance that is reset before it ends`(kind: Kind?) async throws
    {
        let session = Lifetime("session")
        let container = Container {
            Registration(Part.self, lifetime: session) { _ in Part() }
            Registration(Part.self, qualifier: Kind.red, lifetime: session) { _ in Part() }
            Registration(Whole.self, lifetime: .singleton) { r in
                if kind == nil { return Whole(parts: [try await r.resolve(Part.self)]) }
                return Whole(parts: [try await r.resolve(Part.self, qualifier: Kind.red)])
            }
        }
        _ = try await container.resolve(Part.self)
        _ = try await container.resolve(Part.self, qualifier: Kind.red)
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Whole.self) }
        #expect(error?.code == .captiveDependency)
    }

    @Test func `a singleton of a parent does not get an instance of a scope below, by any resolver`() async throws {
        let container = Container()
        let scope = try await container.openScope { Registration(instance: Part("scope's")) }
        try await container.register(Whole.self, lifetime: .singleton) { _ in
            Whole(parts: [try await scope.resolve(Part.self)])
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Whole.self) }
        #expect(error?.code == .captiveDependency)
    }

    @Test func `a request from inside a factory counts as a use`() async throws {
        let container = Container {
            Registration(Part.self, lifetime: .multiton(capacity: 2)) { (_, name: String) in Part(name) }
            Registration(Whole.self, lifetime: .transient) { r in
                Whole(parts: [try await r.resolve(Part.self, arguments: "a")])
            }
        }
        let first = try await container.resolve(Part.self, arguments: "a")
        _ = try await container.resolve(Part.self, arguments: "b")
        #expect(try await container.resolve(Whole.self).parts[0] === first)
        _ = try await container.resolve(Part.self, arguments: "c")
        #expect(await Set(container.cachedArguments(of: Part.self, String.self)) == ["a", "c"])
    }
}
