import Testing

@testable import AsyncDI

/// Instances that are shared within one resolution.
@Suite(.timeLimit(.minutes(10))) struct GraphTests {
    private struct Left: Sendable { let leaf: Thing }
    private struct Right: Sendable { let leaf: Thing }
    private struct Top: Sendable {
        let left: Left
        let right: Right
        let leaf: Thing
        var isShared: Bool { left.leaf === right.leaf && left.leaf === leaf }
    }

    @Test func `a graph instance is shared within one resolution and not between two`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Left.self) { r in try await Left(leaf: r.resolve()) }
            Registration(Right.self) { r in try await Right(leaf: r.resolve()) }
            Registration(Top.self) { r in
                try await Top(left: r.resolve(), right: r.resolve(), leaf: r.resolve())
            }
        }
        let (one, two) = (try await container.resolve(Top.self), try await container.resolve(Top.self))
        #expect(one.isShared && two.isShared)
        #expect(one.leaf !== two.leaf)
    }

    @Test func `a graph instance is shared through using`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(using: { Thing(runs.increment()) })
            Registration(using: Left.init)
            Registration(using: Right.init)
            Registration(using: Top.init)
        }
        #expect(try await container.resolve(Top.self).isShared)
        #expect(runs.value == 1)
        #expect(try await container.resolve(Top.self).isShared)
        #expect(runs.value == 2)
    }

    @Test func `a graph instance is shared with child tasks of a factory`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(ThingPair.self) { r in
                async let first = r.resolve(Thing.self)
                async let second = r.resolve(Thing.self)
                return try await ThingPair(first: first, second: second)
            }
        }
        #expect(try await container.resolve(ThingPair.self).isShared)
    }

    @Test func `a graph instance is shared through a transient in between`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Left.self, lifetime: .transient) { r in try await Left(leaf: r.resolve()) }
            Registration(ThingPair.self) { r in
                let left = try await r.resolve(Left.self)
                return try await ThingPair(first: left.leaf, second: r.resolve())
            }
        }
        #expect(try await container.resolve(ThingPair.self).isShared)
    }

    @Test func `a graph instance is shared by requests with equal arguments`() async throws {
        let container = Container {
            Registration(Thing.self) { (_, number: Int, text: String) in Thing(number) }
            Registration([Thing].self) { r in
                [
                    try await r.resolve(Thing.self, arguments: 1, "a"),
                    try await r.resolve(Thing.self, arguments: 1, "a"),
                    try await r.resolve(Thing.self, arguments: 2, "a"),
                    try await r.resolve(Thing.self, arguments: 1, "b"),
                ]
            }
        }
        let things = try await container.resolve([Thing].self)
        #expect(things[0] === things[1])
        #expect(things.map(\.number) == [1, 1, 2, 1])
        #expect(things[3] !== things[0])
    }

    @Test func `a graph is shared by a factory that asks a captured container`() async throws {
        let parent = Container { Registration(Thing.self) { _ in Thing() } }
        try await parent.register(ThingPair.self) { r in
            try await ThingPair(first: r.resolve(), second: parent.resolve())
        }
        #expect(try await parent.resolve(ThingPair.self).isShared)
    }

    @Test(arguments: Lifetime.shared)
    func `a shared creation starts a graph of its own`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(ThingPair.self, lifetime: lifetime) { r in
                try await ThingPair(first: r.resolve(), second: r.resolve())
            }
            Registration([Thing].self) { r in
                let own = try await r.resolve(Thing.self)
                let pair = try await r.resolve(ThingPair.self)
                return try await [own, pair.first, pair.second, r.resolve()]
            }
        }
        let things = try await container.resolve([Thing].self)
        #expect(things[1] === things[2])
        #expect(things[0] === things[3])
        #expect(things[0] !== things[1])
    }

    @Test func `two shared creations in one resolution have a graph each`() async throws {
        let container = Container {
            Registration(Thing.self) { _ in Thing() }
            Registration(Left.self, lifetime: .singleton) { r in try await Left(leaf: r.resolve()) }
            Registration(Right.self, lifetime: .singleton) { r in try await Right(leaf: r.resolve()) }
            Registration(using: Top.init)
        }
        let top = try await container.resolve(Top.self)
        #expect(top.left.leaf !== top.right.leaf)
        #expect(top.leaf !== top.left.leaf)
    }

    @Test func `arguments that are not equal to themselves are refused, because the graph could not find the instance`()
        async throws
    {
        let container = Container {
            Registration(Thing.self) { (_, _: Double) in Thing() }.injectProperties { _, _ in }
            Registration(Int.self) { r in try await r.resolve(Thing.self, arguments: Double.nan).number }
            Registration(String.self) { (r, number: Double) in try await r.resolve(String.self, arguments: number) }
        }
        await expect(.invalidArgument) { _ = try await container.resolve(Int.self) }
        await expect(.invalidArgument) { _ = try await container.resolve(String.self, arguments: Double.nan) }
    }
}
