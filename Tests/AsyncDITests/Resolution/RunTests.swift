import Testing

@testable import AsyncDI

private final class Part: Sendable {}
private struct Owner {
    let keeper: Keeper
}

/// The objects that a run keeps alive.
@Suite(.timeLimit(.minutes(10))) struct RunTests {
    private let container = Container { Registration(Part.self, lifetime: .transient) { _ in Part() } }

    private func run(inside parent: Run?) throws -> Run {
        let (binding, table) = try #require(container.core.table.registration(of: ServiceKey(Part.self)))
        return Run(
            of: binding, .none, host: table.host, inside: parent, creation: nil, holder: nil, graph: nil)
    }

    @Test func `a chain of runs that only its last one holds is released in a loop`() throws {
        var last: Run? = try run(inside: nil)
        weak let first = last
        for _ in 0..<100_000 { last = try run(inside: last) }
        #expect(first != nil)
        last = nil
        #expect(first == nil)
    }

    @Test func `a resolver that an inner service keeps does not keep the container`() async throws {
        var container: Container? = Container {
            Registration(Keeper.self, lifetime: .transient) { r in Keeper(r) }
            Registration(Owner.self, lifetime: .transient) { r in Owner(keeper: try await r.resolve()) }
        }
        let owner = try #require(try await container?.resolve(Owner.self))
        _ = try await owner.keeper.resolver.resolve(Keeper.self)
        container = nil
        await expect(.disposed) {
            _ = try await owner.keeper.resolver.resolve(Keeper.self)
        }
    }

    @Test func `a resolver of a run inside another container's says that its own container is disposed`() async throws {
        let other = Locked<Container?>(
            Container { Registration(Keeper.self, lifetime: .transient) { r in Keeper(r) } })
        let container = Container {
            Registration(Owner.self, lifetime: .transient) { _ in
                let asked = try #require(other.withLock { $0 })
                return Owner(keeper: try await asked.resolve())
            }
        }
        let owner = try await container.resolve(Owner.self)
        // Released outside the lock, at once.
        _ = other.withLock { other in
            defer { other = nil }
            return other
        }
        await expect(.disposed) {
            _ = try await owner.keeper.resolver.resolve(Keeper.self)
        }
    }
}
