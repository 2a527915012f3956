import Testing

@testable import AsyncDI

private final class Owner: Sendable {}
private final class Part: Sendable {}
private final class Late: Sendable {
    let keeper: Keeper?
    init(_ keeper: Keeper? = nil) { self.keeper = keeper }
}
private final class Other: Sendable {}
/// Tasks that a factory starts and that make requests after its creation has ended.
@Suite(.timeLimit(.minutes(10))) struct OutlivingTaskTests {
    @Test func `a creation that has ended closes no cycle`() async throws {
        let (lateRuns, partIsMade, ownerMayEnd) = (Gate(), Gate(), Gate())
        let failures = Counter()
        let late = Log<Task<Late, any Error>>()
        let container = Container {
            Registration(Owner.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Part.self)
                partIsMade.open()
                await ownerMayEnd.pass()
                return Owner()
            }
            Registration(Part.self, lifetime: .graph) { r in
                late.append(Task.detached { try await r.resolve(Late.self) })
                await lateRuns.pass()
                return Part()
            }
            Registration(Late.self, lifetime: .transient) { r in
                lateRuns.open()
                await partIsMade.pass()
                _ = try await r.resolve(Other.self)
                return Late()
            }
            Registration(Other.self, lifetime: .singleton) { r in
                do { _ = try await r.resolve(Owner.self) } catch {
                    failures.increment()
                    throw error
                }
                return Other()
            }
        }
        async let owner = container.resolve(Owner.self)
        while container.core.waiterCount(of: Owner.self) < 2, failures.value == 0 { await Task.yield() }
        ownerMayEnd.open()
        _ = try await (owner, late.entries[0].value)
    }

    @Test func `a creation that has ended stays in no graph of waits`() async throws {
        let (lateRuns, ownerIsMade) = (Gate(), Gate())
        let late = Log<Task<Late, any Error>>()
        let runs = Log<Run>()
        let container = Container {
            Registration(Owner.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Part.self)
                return Owner()
            }
            Registration(Part.self, lifetime: .graph) { r in
                runs.append(ResolutionContext.run!)
                late.append(Task.detached { try await r.resolve(Late.self) })
                await lateRuns.pass()
                return Part()
            }
            Registration(Late.self, lifetime: .transient) { r in
                lateRuns.open()
                await ownerIsMade.pass()
                _ = try await r.resolve(Other.self)
                return Late()
            }
            Registration(Other.self, lifetime: .singleton) { _ in Other() }
        }
        _ = try await container.resolve(Owner.self)
        ownerIsMade.open()
        _ = try await late.entries[0].value
        let run = runs.entries[0]
        let (part, owner) = (try #require(run.creation), try #require(run.parent?.creation))
        // On a copy: would the owner still be waiting for the part?
        var graph = Waits.graph.withLock { $0 }
        guard case .wait = graph.ask(Waiter(for: owner), from: part, label: run, for: owner) else {
            Issue.record("the graph of waits still knows of both")
            return
        }
    }

    @Test func `a graph that is made after its run keeps nothing`() async throws {
        let (lateRuns, ownerIsMade) = (Gate(), Gate())
        let container = Container {
            Registration(Late.self, lifetime: .transient) { r in
                lateRuns.open()
                await ownerIsMade.pass()
                return Late(try await r.resolve(Keeper.self))
            }
            Registration(Keeper.self, lifetime: .graph) { r in Keeper(r) }
        }
        let graph = Log<ResolutionGraph>()
        let late = Log<Task<Void, any Error>>()
        try await container.register(Owner.self, lifetime: .singleton) { r in
            let run = ResolutionContext.run!
            late.append(
                Task.detached {
                    _ = try await r.resolve(Late.self)
                    graph.append(run.graph)
                })
            await lateRuns.pass()
            return Owner()
        }
        _ = try await container.resolve(Owner.self)
        ownerIsMade.open()
        try await late.entries[0].value
        #expect(graph.entries[0].count == 0)
    }
}
