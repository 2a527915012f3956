import Testing

@testable import AsyncDI

private final class Part: Sendable {
    let name: String
    init(_ name: String = "") { self.name = name }
}
private struct Whole: Sendable { let parts: [Part] }
private enum Kind: Qualifier { case red, green }
/// Every value has the same hash.
private struct Clash: Qualifier {
    let number: Int
    func hash(into hasher: inout Hasher) {}
}

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
        await expect(.captiveDependency) { try await container.resolve(Whole.self) }
    }

    @Test func `a singleton of a parent does not get an instance of a scope below, by any resolver`() async throws {
        let container = Container()
        let scope = try await container.openScope { Registration(instance: Part("scope's")) }
        try await container.register(Whole.self, lifetime: .singleton) { _ in
            Whole(parts: [try await scope.resolve(Part.self)])
        }
        await expect(.captiveDependency) { try await container.resolve(Whole.self) }
    }

    @Test func `transient services are not confused when their qualifiers have the same hash`() async throws {
        let container = Container {
            for number in 0..<20 {
                Registration(Part.self, qualifier: Clash(number: number), lifetime: .transient) { _ in
                    Part("\(number)")
                }
            }
            Registration(Whole.self, lifetime: .transient) { (r, numbers: Range<Int>) in
                var parts: [Part] = []
                for number in numbers {
                    parts.append(try await r.resolve(Part.self, qualifier: Clash(number: number)))
                }
                return Whole(parts: parts)
            }
        }
        for number in 0..<20 {
            #expect(try await container.resolve(Part.self, qualifier: Clash(number: number)).name == "\(number)")
        }
        let whole = try await container.resolve(Whole.self, arguments: 0..<20)
        #expect(whole.parts.map(\.name) == (0..<20).map { "\($0)" })
        await expect(.notRegistered) { try await container.resolve(Part.self, qualifier: Clash(number: 20)) }
        await expect(.notRegistered) { try await container.resolve(Whole.self, arguments: 20..<21) }
        try await container.dispose()
        await expect(.disposed) { try await container.resolve(Part.self, qualifier: Clash(number: 0)) }
    }

    @Test func `a transient service with a qualifier that needs itself is a cycle with a path`() async throws {
        let container = Container {
            Registration(Part.self, qualifier: Kind.red, lifetime: .transient) { r in
                try await r.resolve(Part.self, qualifier: Kind.green)
            }
            Registration(Part.self, qualifier: Kind.green, lifetime: .transient) { r in
                try await r.resolve(Part.self, qualifier: Kind.red)
            }
        }
        let error = await expect(.circularDependency) {
            try await container.resolve(Part.self, qualifier: Kind.red)
        }
        #expect(error?.path.map { $0.qualifier as? Kind } == [.red, .green, .red])
    }

    @Test func `a transient service with a qualifier is that of the nearest container`() async throws {
        let container = Container(name: "app") {
            Registration(Part.self, qualifier: Kind.red, lifetime: .transient) { _ in Part("app's") }
            Registration(Part.self, qualifier: Kind.green, lifetime: .transient) { _ in Part("app's") }
        }
        let inside = try await container.withScope {
            Registration(Part.self, qualifier: Kind.red, lifetime: .transient) { _ in Part("scope's") }
        } operation: { scope in
            [
                try await scope.resolve(Part.self, qualifier: Kind.red).name,
                try await container.resolve(Part.self, qualifier: Kind.red).name,
                try await scope.resolve(Part.self, qualifier: Kind.green).name,
            ]
        }
        #expect(inside == ["scope's", "scope's", "app's"])
        #expect(try await container.resolve(Part.self, qualifier: Kind.red).name == "app's")
        let child = Container(parent: container)
        #expect(try await child.resolve(Part.self, qualifier: Kind.red).name == "app's")
        try await container.dispose()
        await expect(.disposed) { try await child.resolve(Part.self, qualifier: Kind.red) }
    }

    @Test func `a transient service with a qualifier is recorded as a dependency of its requester`() async throws {
        let container = Container {
            Registration(Part.self, qualifier: Kind.red, lifetime: .transient) { _ in Part() }
            Registration(Whole.self, lifetime: .transient) { r in
                Whole(parts: [try await r.resolve(Part.self, qualifier: Kind.red)])
            }
        }
        await container.startRecording()
        _ = try await container.resolve(Whole.self)
        _ = try await container.resolve(Part.self, qualifier: Kind.red)
        let graph = await container.dependencyGraph()
        #expect(graph.edges.map { "\($0.from) -> \($0.to)" } == ["Whole -> Part[red]"])
        #expect(graph.details.compactMap(\.creations).sorted() == [1, 2])
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
