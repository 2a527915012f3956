import Testing

@testable import AsyncDI

private final class Knot: Sendable {
    let other = Locked<Loop?>(nil)
}
private final class Loop: Sendable {
    let generation: Int
    let knot: Knot
    init(_ generation: Int, _ knot: Knot) {
        self.generation = generation
        self.knot = knot
    }
}
private struct Missing: Error {}
private final class Part: Sendable {}

/// The short way to a graph instance.
@Suite(.timeLimit(.minutes(10))) struct GraphRunTests {
    /// `Loop` is made while the properties of `Knot` are set, and is held until they are; meanwhile something happens.
    private func makeKnot(while action: @escaping @Sendable (Container) async throws -> Void) async throws -> Knot {
        let container = Container {
            Registration(Knot.self, lifetime: .graph) { _ in Knot() }
                .injectProperties { r, knot in
                    let loop = try await r.resolve(Loop.self)
                    knot.other.withLock { $0 = loop }
                }
        }
        try await container.register(Loop.self, lifetime: .graph) { r in
            let knot = try await r.resolve(Knot.self)
            if let container = r.container { try await action(container) }
            return Loop(1, knot)
        }
        return try await container.resolve(Knot.self)
    }

    @Test func `what is unregistered while it is held is given to who made it`() async throws {
        let knot = try await makeKnot { await $0.unregister(Loop.self) }
        #expect(knot.other.withLock { $0?.generation } == 1)
        #expect(knot.other.withLock { $0?.knot } === knot)
        knot.other.withLock { $0 = nil }
    }

    @Test func `what is replaced while it is held is not made anew`() async throws {
        let runs = Counter()
        let knot = try await makeKnot { container in
            try await container.register(Loop.self, lifetime: .graph) { r in
                runs.increment()
                return Loop(2, try await r.resolve(Knot.self))
            }
        }
        #expect(knot.other.withLock { $0?.generation } == 1)
        #expect(runs.value == 0)
        knot.other.withLock { $0 = nil }
    }

    @Test func `a failure leaves the graph, and the next request begins anew`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Part.self, lifetime: .graph) { _ in
                if runs.increment() == 1 { throw Missing() }
                return Part()
            }
        }
        await #expect(throws: Missing.self) { _ = try await container.resolve(Part.self) }
        _ = try await container.resolve(Part.self)
        #expect(runs.value == 2)
    }

    @Test func `a cancelled task begins nothing`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Part.self, lifetime: .graph) { _ in
                runs.increment()
                return Part()
            }
        }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await container.resolve(Part.self)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(runs.value == 0)
    }
}
