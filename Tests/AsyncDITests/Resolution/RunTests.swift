import Testing

@testable import AsyncDI

private struct Owner {
    let keeper: Keeper
}

/// The objects that a run keeps alive.
@Suite(.timeLimit(.minutes(10))) struct RunTests {
    @Test func `a resolver that an inner service keeps does not keep the container`() async throws {
        var container: Container? = Container {
            Registration(Keeper.self, lifetime: .transient) { r in Keeper(r) }
            Registration(Owner.self, lifetime: .transient) { r in Owner(keeper: try await r.resolve()) }
        }
        let owner = try #require(try await container?.resolve(Owner.self))
        _ = try await owner.keeper.resolver.resolve(Keeper.self)
        container = nil
        await expect(.disposed) { try await owner.keeper.resolver.resolve(Keeper.self) }
    }

    @Test func `a resolver of a run inside another container's says that its own container is disposed`() async throws {
        let other = Locked<Container?>(
            Container { Registration(Keeper.self, lifetime: .transient) { r in Keeper(r) } })
        let container = Container {
            Registration(Owner.self, lifetime: .transient) { _ in
                let asked = try #require(other.value)
                return Owner(keeper: try await asked.resolve())
            }
        }
        let owner = try await container.resolve(Owner.self)
        other.value = nil
        await expect(.disposed) { try await owner.keeper.resolver.resolve(Keeper.self) }
    }
}
