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
private struct Whole {
    let first: Part
    let second: Part
}

/// A run that creates a graph instance by a mere call of its factory.
@Suite(.timeLimit(.minutes(10))) struct GraphInstanceRunTests {
    /// `Loop` is created while the properties of `Knot` are set, and is held until they are; meanwhile an event occurs.
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

    @Test func `a held instance reaches its caller even when its service is unregistered`() async throws {
        let knot = try await makeKnot { await $0.unregister(Loop.self) }
        #expect(knot.other.withLock { $0?.generation } == 1)
        #expect(knot.other.withLock { $0?.knot } === knot)
        knot.other.withLock { $0 = nil }
    }

    @Test func `a held instance is not created again when a hook of its cycle fails`() async throws {
        // Whether the hook fails before the request waits for it depends on the threads.
        for number in 0..<1000 {
            let runs = Counter()
            let container = Container {
                Registration(Knot.self, lifetime: .graph) { _ in Knot() }
                    .injectProperties { r, _ in
                        _ = try await r.resolve(Loop.self)
                        throw Missing()
                    }
                Registration(Loop.self, lifetime: .graph) { r in
                    runs.increment()
                    return Loop(number, try await r.resolve(Knot.self))
                }
            }
            await #expect(throws: Missing.self) { try await container.resolve(Loop.self) }
            guard runs.value == 1 else {
                Issue.record("\(runs.value) runs in request \(number)")
                break
            }
        }
    }

    @Test func `a held instance is not created again when its service is replaced`() async throws {
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

    @Test func `a failure leaves the graph, and the next request in it begins anew`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Part.self, lifetime: .graph) { _ in
                if runs.increment() == 1 { throw Missing() }
                return Part()
            }
            Registration(Whole.self, lifetime: .graph) { r in
                await #expect(throws: Missing.self) { _ = try await r.resolve(Part.self) }
                return Whole(first: try await r.resolve(), second: try await r.resolve())
            }
        }
        let whole = try await container.resolve(Whole.self)
        #expect(whole.first === whole.second)
        #expect(runs.value == 2)
    }

    @Test func `a waiter for a creation that is cancelled begins anew`() async throws {
        let (made, mayEnd) = (Log<Creation>(), Gate())
        let container = Container {
            Registration(Part.self, lifetime: .graph) { _ in
                made.append(ResolutionContext.run!.creation!)
                if made.entries.count == 1 {
                    await mayEnd.pass()
                    try Task.checkCancellation()
                }
                return Part()
            }
            Registration(Whole.self, lifetime: .graph) { r in
                let maker = Task { try await r.resolve(Part.self) }
                await mayEnd.arrived()
                let waiter = Task { try await r.resolve(Part.self) }
                // Set by the first waiter.
                while !made.entries[0].isInGraph { await Task.yield() }
                maker.cancel()
                mayEnd.open()
                await #expect(throws: CancellationError.self) { try await maker.value }
                let part = try await waiter.value
                return Whole(first: part, second: try await r.resolve())
            }
        }
        let whole = try await container.resolve(Whole.self)
        #expect(whole.first === whole.second)
        #expect(made.entries.count == 2)
    }

    @Test func `many instances of one graph are made at once, each once`() async throws {
        let (mayEnd, count) = (Gate(), 40)
        let container = Container {
            Registration(Int.self, lifetime: .graph) { (_, number: Int) in
                await mayEnd.pass()
                return number
            }
        }
        let numbers = try await container.withGraph { r in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<count { group.addTask { try await r.resolve(Int.self, arguments: number) } }
                await mayEnd.arrived(count)
                // These join.
                for number in 0..<count { group.addTask { try await r.resolve(Int.self, arguments: number) } }
                for _ in 0..<1_000 { await Task.yield() }
                mayEnd.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(numbers.sorted() == (0..<count).flatMap { [$0, $0] })
        #expect(mayEnd.arrivals == count)
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
