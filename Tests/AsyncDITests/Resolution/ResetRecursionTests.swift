import Testing

@testable import AsyncDI

private final class Token: Sendable {}

private final class Outside: Sendable {
    let token: Token
    init(_ token: Token) { self.token = token }
}

/// A service that resets itself in its own factory and then requests itself, and whether that ends.
@Suite(.timeLimit(.minutes(10))) struct ResetRecursionTests {
    /// A service whose factory resets it, and requests it again with the next argument until there is none.
    private func resetting(
        _ lifetime: Lifetime, _ runs: Counter, _ next: @escaping @Sendable (Int) -> Int?
    ) async throws -> Container {
        let container = Container()
        try await container.register(Nest.self, lifetime: lifetime) { (r, number: Int) in
            // So that an unnoticed recursion ends too.
            guard runs.increment() < 3 * RunSearch.mostUnknown, let next = next(number) else { return Nest() }
            try await container.reset()
            return Nest(try await r.resolve(Nest.self, arguments: next))
        }
        return container
    }

    @Test(arguments: [.singleton, .scoped] as [Lifetime])
    func `it is refused a thousand levels deep`(
        lifetime: Lifetime
    ) async throws {
        let runs = Counter()
        let container = try await resetting(lifetime, runs) { $0 }
        let error = await expect(.circularDependency) { _ = try await container.resolve(Nest.self, arguments: 1) }
        #expect(error?.path.count == 2)
        #expect(runs.value == 1_024)
        try await container.dispose()
    }

    @Test func `it is refused for two arguments in turn`() async throws {
        let runs = Counter()
        let container = try await resetting(.singleton, runs) { 1 - $0 }
        await expect(.circularDependency) { _ = try await container.resolve(Nest.self, arguments: 1) }
        #expect(runs.value == 1_024)
        try await container.dispose()
    }

    enum Detour: CaseIterable { case factory, hook }

    /// The graph service counts as a level, and another one around both makes every level of the singleton an odd one.
    @Test(arguments: Detour.allCases, [false, true])
    func `it is refused through a graph service, too`(
        detour: Detour, isInside: Bool
    ) async throws {
        let runs = Counter()
        let container = Container()
        try await container.register(Token.self, lifetime: .singleton) { r in
            // So that an unnoticed recursion ends too.
            guard runs.increment() < 2_500 else { return Token() }
            try await container.reset()
            _ = try await r.resolve(Nest.self)
            return Token()
        }
        try await container.register(
            Registration(Nest.self, lifetime: .graph) { r in
                detour == .factory ? Nest(try await r.resolve(Token.self)) : Nest()
            }
            .injectProperties { r, _ in
                if detour == .hook { _ = try await r.resolve(Token.self) }
            })
        try await container.register(Outside.self, lifetime: .singleton) { r in
            Outside(try await r.resolve(Token.self))
        }
        await expect(.circularDependency) {
            if isInside { _ = try await container.resolve(Outside.self) }
            _ = try await container.resolve(Token.self)
        }
        #expect(runs.value == 512)
        try await container.dispose()
    }

    @Test func `it is refused with another argument at every other level`()
        async throws
    {
        let (runs, fresh) = (Counter(), Counter())
        let container = try await resetting(.singleton, runs) { $0 == 0 ? fresh.increment() : 0 }
        await expect(.circularDependency) { _ = try await container.resolve(Nest.self, arguments: 1_000_000) }
        #expect(runs.value == 1_024)
        try await container.dispose()
    }

    @Test func `it ends with other arguments each time`() async throws {
        let runs = Counter()
        let container = try await resetting(.singleton, runs) { $0 == 0 ? nil : $0 - 1 }
        _ = try await container.resolve(Nest.self, arguments: 1_500)
        #expect(runs.value == 1_501)
        try await container.dispose()
    }
}
