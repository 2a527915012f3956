import AsyncDI
import Testing

/// Decorations of a fallback's services, at and after the end of the fallback.
@Suite(.timeLimit(.minutes(10))) struct DecoratedFallbackTests {
    private var decoration: Decoration { Decoration(Cable.self) { _, inner in Cable(around: inner) } }

    /// Checks that requests fail in the same way as without the decoration.
    private func check(_ container: Container, _ code: ResolutionError.Code = .notRegistered) async {
        await expect(code) { try await container.resolve(Cable.self) }
        #expect(throws: ResolutionError.self) { try container.ready(Cable.self) }
        await expect(code) { try await container.withInstance(Cable.self) { _ in } }
    }

    @Test(arguments: [Lifetime.singleton, .multiton, .multiton(capacity: 1), Lifetime("login")], [true, false])
    func `an instance of a disposed fallback is not found in its decorated form`(
        _ lifetime: Lifetime, isClosed: Bool
    ) async throws {
        let registration = Registration(Cable.self, lifetime: lifetime) { _ in Cable() }
        let library = Container {
            if isClosed { registration.onDispose { $0.close() } } else { registration }
        }
        let app = Container(fallbacks: [library]) { decoration }
        let cable = try await app.resolve(Cable.self)
        try await library.dispose()
        #expect(cable.isOpen == !isClosed)
        await check(app)
        let undecorated = Container(fallbacks: [library])
        await check(undecorated)
        try await app.dispose()
    }

    @Test func `a fallback that is being disposed gives no instance to decorate, also in a scope`() async throws {
        let mayClose = Gate()
        let library = Container {
            Registration(Cable.self, lifetime: .singleton) { _ in Cable() }
                .onDispose {
                    await mayClose.pass()
                    $0.close()
                }
        }
        let app = Container(fallbacks: [library])
        try await app.withScope {
            decoration
        } operation: { scope in
            _ = try await scope.resolve(Cable.self)
            let end = Task.detached { try await library.dispose() }
            await mayClose.arrived()
            await check(scope, .disposed)
            await check(app, .disposed)
            mayClose.open()
            try await end.value
            await check(scope)
        }
    }

    @Test func `a decoration that is being made when the fallback ends reaches its requester, and is not kept`()
        async throws
    {
        let gate = Gate()
        let library = Container {
            Registration(Cable.self, lifetime: .singleton) { _ in Cable() }.onDispose { $0.close() }
        }
        let app = Container(fallbacks: [library]) {
            Decoration(Cable.self) { _, inner in
                await gate.pass()
                return Cable(around: inner)
            }
        }
        let request = Task { try await app.resolve(Cable.self) }
        await gate.arrived()
        let end = Task.detached { try await library.dispose() }
        await until { await (try? library.resolve(Cable.self)) == nil }
        gate.open()
        _ = try await request.value
        try await end.value
        await check(app)
    }

    @Test func `instances of a child may use the decorated services of its parent until they are disposed`()
        async throws
    {
        let log = Log<Bool>()
        let root = Container {
            Registration(Cable.self, lifetime: .singleton) { _ in Cable() }.onDispose { $0.close() }
        }
        let child = Container(parent: root) { decoration }
        let cable = try await child.resolve(Cable.self)
        try await child.register(
            Registration(String.self, lifetime: .singleton) { _ in "user" }.onDispose { _ in log.append(cable.isOpen) })
        _ = try await child.resolve(String.self)
        try await root.dispose()
        #expect(log.entries == [true])
        #expect(!cable.isOpen)
    }
}
