import Testing

@testable import AsyncDI

/// Without a container at hand, and the remains of a scope that has ended.
extension OutlivedScopeTests {
    // MARK: Without a container at hand

    @Test func `free functions and wrappers ask the container around the scope`() async throws {
        let app = app
        let database = try await app.resolve(Database.self)
        try await afterScope(
            with: given {
                Registration(Settings.self, instance: Settings(name: "request"))
            }
        ) { _ in
            #expect(Injection.container === app)
            #expect(try await resolve(Database.self) === database)
            #expect(try await optional(Database.self) === database)
            _ = try await resolve(Tenant.self, arguments: "acme")
            #expect(try await resolveMany((any Plugin).self).count == 1)
            await self.expectRefusal { try await resolve(User.self) }
            await self.expectRefusal { try await resolve(Settings.self) }
            await self.expectRefusal { try await optional(User.self) }
            await self.expectRefusal { try await resolve(User.self, arguments: "a") }
            let holder = Holder()
            #expect(holder.database === database)
            #expect(holder.user == nil)
            await self.expectRefusal { try holder.$user() }
            #expect(try await Lazy(Database.self)() === database)
            await self.expectRefusal { try await Lazy(User.self)() }
        }
        try await app.dispose()
    }

    @Test func `a Lazy that was refused in such a task is resolved elsewhere`() async throws {
        let app = app
        let lazy = Lazy(User.self, from: app)
        _ = try await afterScope { _ in await self.expectRefusal { try await lazy() } }
        #expect(lazy.isEmpty)
        let user = try await lazy()
        #expect(try await app.resolve(User.self) === user)
        try await app.dispose()
    }

    // MARK: Services that stay

    @Test func `a scope that has ended holds its keys, and no registration or instance`() async throws {
        let app = app
        let instance = Log<WeakReference>()
        let scope = try await app.openScope {
            let draft = Draft()
            let _ = instance.append(WeakReference(draft))
            Registration(Draft.self, instance: draft)
        }
        try await scope.dispose()
        #expect(instance.entries[0].object == nil)
        #expect(scope.core.registeredKeys == [ServiceKey(Draft.self)])
        #expect(try await app.openScope().core.registeredKeys.isEmpty)
        try await app.dispose()
        #expect(app.core.registeredKeys.isEmpty)
    }

    @Test func `a request that is overtaken by the end of the scope is made again`() async throws {
        let app = app
        let database = try await app.resolve(Database.self)
        for _ in 0..<200 {
            let ended = Gate()
            let task = try await app.withScope { _ in
                Task {
                    repeat {
                        let found = try await app.resolve(Database.self, qualifier: nil)
                        #expect(found === database)
                    } while ended.arrivals == 0
                }
            }
            ended.arrive()
            try await task.value
        }
        try await app.dispose()
    }
}

private struct WeakReference: Sendable {
    weak let object: (any AnyObject & Sendable)?
    init(_ object: any AnyObject & Sendable) { self.object = object }
}
