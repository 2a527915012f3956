import Testing

@testable import AsyncDI

/// Scopes that end with their owners: views and controllers.
@Suite(.timeLimit(.minutes(10)))
struct OwnedScopeTests {
    private final class Connection: Sendable {}

    /// A container whose scoped connections pass the gate when they are disposed.
    private static func parent(_ disposed: Gate) -> Container {
        Container {
            Registration(Connection.self, lifetime: .scoped) { _ in Connection() }
                .onDispose { _ in disposed.arrive() }
        }
    }

    private func isDisposed(_ container: Container) async -> Bool {
        do {
            try await container.openScope()
            return false
        } catch {
            return (error as? ResolutionError)?.code == .disposed
        }
    }

    @Test func `a scope is disposed when its owner goes away`() async throws {
        let disposed = Gate()
        let parent = Self.parent(disposed)
        var owner: OwnedScope? = try OwnedScope(in: parent, name: "view")
        let scope = try #require(owner?.container)
        #expect(scope.name == "view")
        _ = try await scope.resolve(Connection.self)
        owner = nil
        // At once, before disposal has ended.
        await #expect(isDisposed(scope))
        await disposed.arrived()
        try await parent.dispose()
        #expect(disposed.arrivals == 1)
    }

    @Test func `the end of a scope whose work failed has the failure as its cause`() async throws {
        let parent = Self.parent(Gate())
        let owner = try OwnedScope(in: parent, name: "view")
        await #expect(throws: TestError(1)) { try await owner.run { _ in throw TestError(1) } }
        let error = await expect(.disposed) { try await owner.end() }
        #expect(error?.underlying as? TestError == TestError(1))
        #expect(error?.message.contains("because it has failed") == true)
        try await parent.dispose()
    }

    @Test func `hooks run when the containers above go away too`() async throws {
        let disposed = Gate()
        var owner: OwnedScope? = try OwnedScope(in: Self.parent(disposed), name: "view")
        _ = try await owner?.container.resolve(Connection.self)
        owner = nil
        await disposed.arrived()
    }

    @Test func `a scope that was disposed before is not disposed again`() async throws {
        let disposed = Gate()
        let parent = Self.parent(disposed)
        var owner: OwnedScope? = try OwnedScope(in: parent, name: "view")
        _ = try await owner?.container.resolve(Connection.self)
        try await owner?.container.dispose()
        owner = nil
        try await parent.dispose()
        #expect(disposed.arrivals == 1)
    }

    // MARK: The slot of a view

    @Test @MainActor func `a slot opens one scope for a key and a parent`() async throws {
        let parent = Container()
        let slot = ScopeSlot()
        var evaluations = 0
        func container(_ key: Int) -> Container? {
            slot.container(below: parent, key: AnyKey(key)) {
                evaluations += 1
                return Registrations()
            }
        }
        let first = try #require(container(1))
        #expect(first !== parent)
        #expect(first.name == "1")
        #expect(container(1) === first)
        #expect(evaluations == 1)
        let second = try #require(container(2))
        #expect(second !== first)
        #expect(evaluations == 2)
        await #expect(isDisposed(first))
        try await second.openScope()
    }

    @Test @MainActor func `another parent's scope takes the place of the first one's`() async throws {
        let disposed = Gate()
        let (parent, other) = (Self.parent(disposed), Container { Registration(Int.self, instance: 2) })
        let slot = ScopeSlot()
        let first = try #require(slot.container(below: parent, key: nil))
        _ = try await first.resolve(Connection.self)
        let second = try #require(slot.container(below: other, key: nil))
        #expect(try await second.resolve(Int.self) == 2)
        await disposed.arrived()
    }

    @Test @MainActor func `two slots with one key have scopes of their own`() throws {
        let parent = Container()
        let (slot, other) = (ScopeSlot(), ScopeSlot())
        let first = try #require(slot.container(below: parent, key: "a"))
        #expect(other.container(below: parent, key: "a") !== first)
    }

    @Test @MainActor func `below a disposed container a slot gives that container, which says so`() async throws {
        let parent = Container()
        try await parent.dispose()
        let slot = ScopeSlot()
        let container = try #require(slot.container(below: parent, key: nil))
        #expect(container === parent)
        await #expect(isDisposed(container))
        #expect(slot.container(below: nil, key: nil) == nil)
    }

    @Test @MainActor func `a slot that goes away disposes its scope`() async throws {
        let disposed = Gate()
        let parent = Self.parent(disposed)
        var slot: ScopeSlot? = ScopeSlot()
        _ = try await slot?.container(below: parent, key: nil)?.resolve(Connection.self)
        slot = nil
        await disposed.arrived()
    }
}
