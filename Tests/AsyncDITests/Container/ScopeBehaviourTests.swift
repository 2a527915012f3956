import Testing

@testable import AsyncDI

private final class User: Sendable {}
private final class Service: Sendable {
    let user: User
    init(user: User) { self.user = user }
}
private struct Config: Sendable, Equatable { var name: String }

/// Scopes, the current scope, captive dependencies.
@Suite(.timeLimit(.minutes(10))) struct ScopeBehaviourTests {
    private func makeContainer() -> Container {
        Container(name: "app") {
            Registration(User.self, lifetime: .scoped) { _ in User() }
            Registration(using: Service.init(user:))
            Registration(Config.self, instance: Config(name: "app"))
        }
    }

    @Test func `each scope has its own scoped instance, and without one the container asked is the scope`() async throws
    {
        let container = makeContainer()
        let first = try await container.openScope("a")
        let second = try await container.openScope("b")
        let own = try await container.resolve(User.self)
        #expect(try await container.resolve(User.self) === own)
        let (a, b) = (try await first.resolve(User.self), try await second.resolve(User.self))
        #expect(a !== b && a !== own)
        #expect(try await first.resolve(User.self) === a)
        #expect(try await first.resolve(Service.self).user === a)
    }

    @Test func `an open key gives that scope`() async throws {
        let container = makeContainer()
        let scope = try await container.openScope(42)
        #expect(try await container.openScope(42) === scope)
        #expect(await container.scope(42) === scope)
        #expect(await container.scope("42") == nil)
        try await container.disposeScope(42)
        #expect(await container.scope(42) == nil)
        #expect(try await container.openScope(42) !== scope)
    }

    @Test func `keys that differ in nothing but their type open a scope each`() async throws {
        let container = makeContainer()
        let scopes = try await [
            container.openScope(1), container.openScope(1.0), container.openScope(UInt8(1)),
            container.openScope(1 as Int?),
        ]
        #expect(Set(scopes.map { ObjectIdentifier($0) }).count == 4)
        #expect(await container.scope(1.0) === scopes[1])
        try await container.disposeScope(1)
        #expect(await container.scope(1) == nil)
        #expect(await container[1.0] === scopes[1])
        #expect(try await container.openScope(UInt8(1)) === scopes[2])
        try await container.dispose()
    }

    @Test func `a parent keeps an open scope that no caller retains`() async throws {
        let container = makeContainer()
        let user = try await container.openScope("kept").resolve(User.self)
        #expect(try await #require(await container.scope("kept")).resolve(User.self) === user)
    }

    @Test func `a scope keeps its parent alive`() async throws {
        let scope = try await makeContainer().openScope("only")
        #expect(try await scope.resolve(Config.self) == Config(name: "app"))
    }

    @Test func `asking an outer container inside withScope asks the innermost scope below it`() async throws {
        let container = makeContainer()
        let outside = try await container.resolve(User.self)
        try await container.withScope("outer") { outer in
            let own = try await outer.resolve(User.self)
            #expect(try await container.resolve(User.self) === own)
            try await outer.withScope("inner") { inner in
                let innermost = try await inner.resolve(User.self)
                #expect(innermost !== own)
                #expect(try await container.resolve(User.self) === innermost)
                #expect(try await outer.resolve(User.self) === innermost)
                #expect(try container.ready(User.self) === innermost)
                async let child = container.resolve(User.self)
                #expect(try await child === innermost)
                let unstructured = Task { try await container.resolve(User.self) }
                #expect(try await unstructured.value === innermost)
            }
            #expect(try await container.resolve(User.self) === own)
            #expect(Container.current === outer)
        }
        #expect(Container.current == nil)
        #expect(try await container.resolve(User.self) === outside)
    }

    @Test func `an unrelated container is not redirected, and neither is another request`() async throws {
        let container = makeContainer()
        let other = makeContainer()
        let foreign = try await other.resolve(User.self)
        try await container.withScope { _ in
            let same = try await other.resolve(User.self)
            #expect(same === foreign)
        }
        try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await container.withScope { scope in
                        let user = try await container.resolve(User.self)
                        await Task.yield()
                        #expect(try await scope.resolve(User.self) === user)
                        return user
                    }
                }
            }
            var users: [User] = []
            for try await user in group { users.append(user) }
            #expect(Set(users.map(ObjectIdentifier.init)).count == 100)
        }
    }

    @Test func `withScope opens one of its own even when the key is open`() async throws {
        let container = makeContainer()
        let open = try await container.openScope("key")
        try await container.withScope("key") { scope in
            #expect(scope !== open)
            #expect(await container.scope("key") === open)
        }
        #expect(await container.scope("key") === open)
    }

    @Test func `a scope's override is seen only by its transient, graph and scoped services`() async throws {
        let container = Container {
            Registration(Config.self, instance: Config(name: "app"))
            Registration(String.self, lifetime: .singleton) { r in try await r.resolve(Config.self).name }
            Registration(String.self, qualifier: "graph", lifetime: .graph) { r in try await r.resolve(Config.self).name
            }
            Registration(String.self, qualifier: "scoped", lifetime: .scoped) { r in
                try await r.resolve(Config.self).name
            }
            Registration(String.self, qualifier: "transient", lifetime: .transient) { r in
                try await r.resolve(Config.self).name
            }
        }
        try await container.withScope(
            "request", registrations: { Registration(Config.self, instance: Config(name: "request")) }
        ) { scope in
            let own = try await container.resolve(String.self)
            #expect(own == "app")
            for name in ["graph", "scoped", "transient"] {
                let named = try await scope.resolve(String.self, qualifier: name)
                #expect(named == "request")
                let redirected = try await container.resolve(String.self, qualifier: name)
                #expect(redirected == "request")
            }
        }
        #expect(try await container.resolve(String.self) == "app")
    }

    @Test func `a creation in the owner sees no current scope`() async throws {
        let container = Container {
            Registration(Bool.self, lifetime: .singleton) { _ in Container.current == nil }
            Registration(Bool.self, qualifier: "scoped", lifetime: .scoped) { _ in Container.current == nil }
        }
        try await container.withScope { _ in
            let isUnbound = try await container.resolve(Bool.self)
            #expect(isUnbound)
            let isUnboundInScope = try await container.resolve(Bool.self, qualifier: "scoped")
            #expect(!isUnboundInScope)
        }
    }

    @Test func `a registration that comes nearer later is not hidden by a cached scoped instance`() async throws {
        let app = Container { Registration(Config.self, lifetime: .scoped) { _ in Config(name: "app") } }
        let session = try await app.openScope("session")
        let request = try await session.openScope("request")
        #expect(try await request.resolve(Config.self).name == "app")
        #expect(try await request.resolve(Config.self).name == "app")
        try await session.register(Config.self, lifetime: .scoped) { _ in Config(name: "session") }
        #expect(try await request.resolve(Config.self).name == "session")
        try await request.register(Config.self, instance: Config(name: "request"))
        #expect(try await request.resolve(Config.self).name == "request")
        await request.unregister(Config.self)
        #expect(try await request.resolve(Config.self).name == "session")
    }

    @Test func `the error for an expected value that no scope supplied names it, with its path`() async throws {
        let container = Container {
            Registration(expected: Config.self)
            Registration(String.self, lifetime: .scoped) { r in try await r.resolve(Config.self).name }
        }
        let error = await expect(.notRegistered) { try await container.resolve(String.self) }
        #expect(error?.path.map(\.description) == ["String", "Config"])
        #expect("\(error!)".contains("expected from each scope"))
        let name = try await container.withScope("r", registrations: { Registration(instance: Config(name: "given")) })
        { _ in
            try await container.resolve(String.self)
        }
        #expect(name == "given")
    }

    // MARK: Captive dependencies

    @Test(arguments: [Lifetime.singleton, .multiton, .weak])
    func `a root instance that needs a scoped service is refused, on every request`(lifetime: Lifetime)
        async throws
    {
        let container = Container(name: "app") {
            Registration(User.self, lifetime: .scoped) { _ in User() }
            Registration(using: Service.init(user:), lifetime: lifetime)
        }
        let scope = try await container.openScope("request")
        for asked in [container, scope, container] {
            await expect(.captiveDependency, path: ["Service", "User"]) { _ = try await asked.resolve(Service.self) }
        }
        // Even when the scoped instance exists already.
        _ = try await container.resolve(User.self)
        _ = try await scope.resolve(User.self)
        await expect(.captiveDependency, path: ["Service", "User"]) { _ = try await scope.resolve(Service.self) }
        try await container.withScope { _ in
            _ = await expect(.captiveDependency, path: ["Service", "User"]) {
                _ = try await container.resolve(Service.self)
            }
        }
    }

    @Test func `a scope's own singleton may hold that scope's instance, not a deeper scope's`() async throws {
        let container = makeContainer()
        let scope = try await container.openScope("session") {
            Registration(using: Service.init(user:), lifetime: .singleton)
        }
        let user = try await scope.resolve(User.self)
        #expect(try await scope.resolve(Service.self).user === user)
        let deeper = try await scope.openScope("request")
        #expect(try await deeper.resolve(Service.self).user === user)
        try await scope.register(Service.self, qualifier: "captive", lifetime: .singleton) { _ in
            Service(user: try await deeper.resolve())
        }
        await expect(.captiveDependency, path: ["Service[captive]", "User"]) {
            _ = try await scope.resolve(Service.self, qualifier: "captive")
        }
    }

    @Test func `a captive is found through a transient, a child task and a captured container`() async throws {
        let container = Container(name: "app")
        let scope = try await container.openScope("request") {
            Registration(User.self, lifetime: .singleton) { _ in User() }
        }
        try await container.register(Service.self, qualifier: "transient", lifetime: .transient) { _ in
            Service(user: try await scope.resolve())
        }
        try await container.register(String.self, lifetime: .singleton) { r in
            _ = try await r.resolve(Service.self, qualifier: "transient")
            return ""
        }
        try await container.register(Int.self, lifetime: .singleton) { r in
            async let user = scope.resolve(User.self)
            _ = try await user
            return 1
        }
        for _ in 0..<2 {
            await expect(.captiveDependency, path: ["String", "Service[transient]", "User"]) {
                _ = try await container.resolve(String.self)
            }
            await expect(.captiveDependency, path: ["Int", "User"]) { _ = try await container.resolve(Int.self) }
            _ = try await scope.resolve(User.self)
        }
        let error = await #expect(throws: ResolutionError.self) { try await container.resolve(Int.self) }
        #expect("\(error!)".contains("container \"app\"") && "\(error!)".contains("container \"request\""))
    }

    @Test func `a singleton that is merely created inside a request holds no captive`() async throws {
        let container = makeContainer()
        try await container.register(Double.self, lifetime: .singleton) { _ in 1 }
        try await container.withScope { scope in
            _ = try await container.resolve(User.self)
            #expect(try await container.resolve(Double.self) == 1)
            #expect(try await scope.resolve(Double.self) == 1)
        }
    }
}
