import AsyncDI
import Testing

/// Several scopes, of which some have ended.
extension OutlivedScopeTests {
    @Test func `the next open scope outwards answers in place of one that has ended`() async throws {
        let app = app
        let outer = given {
            Registration(Settings.self, instance: Settings(name: "outer"))
            Registration(Int.self, lifetime: .scoped) { _ in 1 }
        }
        let inner = given { Registration(Path.self, instance: Path(text: "/")) }
        try await afterInnerScope(of: outer, with: inner, outerHasEnded: false) { outer in
            let settings = try await [app.resolve(Settings.self), outer.resolve(Settings.self)]
            #expect(settings == .init(repeating: Settings(name: "outer"), count: 2))
            await self.expectRefusal { try await app.resolve(Path.self) }
            await self.expectRefusal { try await outer.resolve(Path.self) }
            // Each scope has one of its own, and that of the inner one is gone.
            await self.expectRefusal { try await app.resolve(Int.self) }
            await self.expectRefusal { try await outer.resolve(User.self) }
        }
        try await app.dispose()
    }

    @Test func `when both have ended the container asked answers, and neither is forgotten`() async throws {
        let app = app
        let outer = given { Registration(Settings.self, instance: Settings(name: "outer")) }
        let inner = given { Registration(Path.self, instance: Path(text: "/")) }
        try await afterInnerScope(of: outer, with: inner, outerHasEnded: true) { outer in
            _ = try await app.resolve(Database.self)
            await self.expectRefusal { try await app.resolve(Path.self) }
            let error = await self.expectRefusal { try await app.resolve(Settings.self) }
            #expect(error?.description.contains("container \"outer\"") == true)
            await expect(.disposed) { try await outer.resolve(Database.self) }
        }
        try await app.dispose()
    }

    @Test func `a scope that is being disposed has ended for every other caller`() async throws {
        let app = app
        let (inHook, hookMayEnd) = (Gate(), Gate())
        try await app.register(Draft.self, lifetime: .scoped) { _ in Draft() }
        try await app.withScope("request") {
            Registration(Tenant.self, lifetime: .scoped) { _ in Tenant() }.onDispose { _ in await hookMayEnd.pass() }
        } operation: { scope in
            _ = try await scope.resolve(Tenant.self)
            let task = Task {
                await inHook.pass()
                _ = try await app.resolve(Database.self)
                await self.expectRefusal { try await app.resolve(Tenant.self) }
                await self.expectRefusal { try await app.resolve(Draft.self) }
                hookMayEnd.open()
            }
            Task {
                await hookMayEnd.arrived()
                inHook.open()
                try await task.value
            }
        }
        try await app.dispose()
    }

    @Test func `a child container that has ended counts with its fallbacks`() async throws {
        let app = app
        let fallback = Container(name: "fallback", parent: app) { Registration(Int.self, instance: 1) }
        let child = Container(name: "child", parent: app, fallbacks: [fallback])
        let ended = Gate()
        let task = Injection.with(child) {
            Task {
                await ended.pass()
                await self.expectRefusal { try await app.resolve(Int.self) }
                _ = try await app.resolve(Database.self)
            }
        }
        try await child.dispose()
        ended.open()
        try await task.value
        try await app.dispose()
    }
}
