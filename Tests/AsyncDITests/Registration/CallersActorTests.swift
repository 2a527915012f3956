import Testing

@testable import AsyncDI

private struct Own: Sendable {
    let isOnActor: Bool
    let task: Int
}
private struct First: Sendable {}
private struct Second: Sendable {}
private struct User: Sendable {
    let own: Own
    init(own: Own, first: First, second: Second) { self.own = own }
}
private struct Numbered: Sendable {
    let own: Own
}
private struct Pair: Sendable {
    let (one, other): (Numbered, Numbered)
    init(one: Numbered, other: Numbered) { (self.one, self.other) = (one, other) }
}
private protocol Reading: Sendable { var own: Own { get } }
private struct Reader: Reading { let own: Own }

/// The factories of transient and graph services run in their caller's task, on its actor.
@Suite(.timeLimit(.minutes(10))) @MarkedActor struct CallersActorTests {
    nonisolated private static func here() -> Own { Own(isOnActor: MarkedActor.isHere, task: currentTask()) }

    private func isHere(_ own: Own) -> Bool { own.isOnActor && own.task == currentTask() }

    @Test(arguments: [Lifetime.transient, .graph])
    func `a parameter is created there while others are created concurrently`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Own.self, lifetime: lifetime) { _ in Self.here() }
            Registration(First.self, lifetime: .singleton) { _ in First() }
            Registration(Second.self, lifetime: .singleton) { _ in Second() }
            Registration(using: User.init, lifetime: .transient)
            Registration(using: User.init, with: .resolved, .resolved, .resolved, qualifier: "with", lifetime: .graph)
        }
        #expect(isHere(try await container.resolve(User.self).own))
        try await container.reset()
        #expect(isHere(try await container.resolve(User.self, qualifier: "with").own))
        try await container.dispose()
    }

    @Test(arguments: [Lifetime.transient, .graph])
    func `parameters with arguments are created there`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in 1 }
            Registration(String.self, instance: "one")
            Registration(Numbered.self, lifetime: lifetime) { (_, _: Int) in Numbered(own: Self.here()) }
            Registration(Numbered.self, lifetime: lifetime) { (_, _: String) in Numbered(own: Self.here()) }
            Registration(using: Pair.init, with: .resolved(by: Int.self), .resolved(by: String.self))
        }
        let pair = try await container.resolve(Pair.self)
        #expect(isHere(pair.one.own) && isHere(pair.other.own))
        try await container.dispose()
    }

    @Test(arguments: [Lifetime.transient, .graph])
    func `a decorated inherited or forwarded service is created there`(lifetime: Lifetime) async throws {
        let parent = Container {
            Registration(Own.self, lifetime: lifetime) { _ in Self.here() }
            Registration(Reader.self, lifetime: lifetime) { _ in Reader(own: Self.here()) }
                .implements((any Reading).self) { $0 }
            Decoration((any Reading).self) { _, reading in reading }
        }
        let child = Container(parent: parent) {
            Decoration(Own.self) { _, own in own }
        }
        #expect(isHere(try await child.resolve(Own.self)))
        #expect(isHere(try await child.resolve((any Reading).self).own))
        try await parent.dispose()
    }
}
