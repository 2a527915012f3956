import Testing

@testable import AsyncDI

extension Lifetime {
    fileprivate static let perScope = Lifetime("perScope", ownedBy: .resolvingContainer)
}

/// A task that outlives the scope which is its current one.
@Suite(.timeLimit(.minutes(10))) struct OutlivedScopeTests {
    final class Database: Sendable {}
    final class User: Sendable {}
    final class Draft: Sendable {}
    struct Pair: Sendable {
        let database: Database
        let user: User
    }
    struct Settings: Sendable, Equatable { var name: String }
    struct Path: Sendable, Hashable { var text: String }
    protocol Store: AnyObject, Sendable {}
    final class Tenant: Store {}
    final class Builder {}
    protocol Plugin: Sendable {}
    struct Named: Plugin { var name: String }
    struct Holder: Sendable {
        @Inject var database: Database
        @WeakInject var user: User?
    }

    let app = Container(name: "app") {
        Registration(Database.self, lifetime: .singleton) { _ in Database() }
        Registration(Database.self, qualifier: "backup", lifetime: .singleton) { _ in Database() }
        Registration(Tenant.self, lifetime: .multiton) { (_, _: String) in Tenant() }
            .implements((any Store).self) { $0 }
        Registration(Tenant.self, lifetime: .multiton) { (_, _: String, _: Int) in Tenant() }
        Registration(Tenant.self, lifetime: .multiton) { (_, _: String, _: Int, _: Bool) in Tenant() }
        Registration(Draft.self, lifetime: .transient) { _ in Draft() }
        Registration(Draft.self, lifetime: .transient) { (_, _: Int) in Draft() }
        Registration(making: Builder.self) { _ in Builder() }
        Registration(User.self, lifetime: .scoped) { _ in User() }
        Registration(User.self, qualifier: "custom", lifetime: .perScope) { _ in User() }
        Registration(User.self, lifetime: .scoped) { (_, _: String) in User() }
        Registration(Settings.self, instance: Settings(name: "app"))
        Registration(expected: Path.self)
        Registration((any Plugin).self) { _ in Named(name: "app") }.intoMany(key: "app")
        Registration(using: Pair.init)
        Registration(Provider<Database>.self, qualifier: "kept", lifetime: .singleton) { r in try await r.resolve() }
        Registration(Provider<User>.self, qualifier: "kept", lifetime: .singleton) { r in try await r.resolve() }
    }

    func given(@RegistrationBuilder _ registrations: () -> Registrations) -> Registrations { registrations() }

    /// Runs a body in a task that was started in a scope, once the scope has ended.
    func afterScope<R: Sendable>(
        with registrations: Registrations = Registrations(),
        _ body: @escaping @Sendable (_ scope: Container) async throws -> R
    ) async throws -> R {
        let ended = Gate()
        let task = try await app.withScope("request", registrations: { registrations }) { scope in
            Task {
                await ended.pass()
                return try await body(scope)
            }
        }
        ended.open()
        return try await task.value
    }

    /// The same in a scope in another one, which is still open, or has ended too.
    func afterInnerScope(
        of outer: Registrations, with inner: Registrations, outerHasEnded: Bool,
        _ body: @escaping @Sendable (_ outer: Container) async throws -> Void
    ) async throws {
        let ended = Gate()
        let task = try await app.withScope("outer", registrations: { outer }) { outer in
            let task = try await outer.withScope("inner", registrations: { inner }) { _ in
                Task {
                    await ended.pass()
                    try await body(outer)
                }
            }
            if !outerHasEnded {
                ended.open()
                try await task.value
            }
            return task
        }
        ended.open()
        try await task.value
    }

    /// The error of such a task for services of the scope.
    @discardableResult func expectRefusal<R>(
        at location: SourceLocation = #_sourceLocation, _ body: () async throws -> R
    ) async -> ResolutionError? {
        let error = await #expect(throws: ResolutionError.self, sourceLocation: location) { _ = try await body() }
        #expect(error?.code == .disposed, sourceLocation: location)
        let says = error?.description.contains("which ended before this task requested it") == true
        #expect(says, sourceLocation: location)
        return error
    }

    // MARK: Requests that are answered

    @Test func `a service shared above the scope is answered by the container asked`() async throws {
        let app = app
        let database = try await app.resolve(Database.self)
        let backup = try await app.resolve(Database.self, qualifier: "backup")
        let tenant = try await app.resolve(Tenant.self, arguments: "acme")
        let second = try await app.resolve(Tenant.self, arguments: "acme", 2)
        let third = try await app.resolve(Tenant.self, arguments: "acme", 2, true)
        try await afterScope { _ in
            #expect(try await app.resolve(Database.self) === database)
            #expect(try await app.resolve(Database.self, qualifier: "backup") === backup)
            #expect(try await app.resolve(Database.self, qualifier: .named("backup") as any Qualifier) === backup)
            #expect(try await app.resolve(Tenant.self, arguments: "acme") === tenant)
            #expect(try await app.resolve((any Store).self, arguments: "acme") === tenant)
            #expect(try await app.resolve(Tenant.self, arguments: "acme", 2) === second)
            #expect(try await app.resolve(Tenant.self, arguments: "acme", 2, true) === third)
            #expect(try await app.resolve(Settings.self) == Settings(name: "app"))
            #expect(try await app.optional(Database.self) === database)
            #expect(try await app.optional(Tenant.self, arguments: "acme") === tenant)
            #expect(try await app.optional(Int.self) == nil)
            #expect(try await app.resolve(Int?.self) == nil)
            #expect(try app.ready(Database.self) === database)
            #expect(try app.ready(using: { (database: Database) in database }) === database)
            #expect(try await app.withInstance(Tenant.self, arguments: "acme") { $0 } === tenant)
            #expect(try await app.withGraph { try await $0.resolve(Database.self) } === database)
            #expect(try await app.resolveMany((any Plugin).self).count == 1)
            #expect(try await app.resolveMap((any Plugin).self, keyedBy: String.self).keys.sorted() == ["app"])
            #expect(try await app.resolve([any Plugin].self).count == 1)
            #expect(try await app.resolve(Lazy<Database>.self)() === database)
            #expect(try await Lazy(Database.self, from: app)() === database)
            #expect(try await app.resolve(Provider<Database>.self)() === database)
            #expect(try await app.resolve(Provider<Database>.self, qualifier: "kept")() === database)
            _ = try await app.make(Builder.self)
        }
        try await app.dispose()
    }

    @Test func `an instance that does not exist yet is created`() async throws {
        let app = app
        let tenant = try await afterScope { _ in
            let drafts = try await [app.resolve(Draft.self), app.resolve(Draft.self, arguments: 1)]
            #expect(drafts[0] !== drafts[1])
            let database = try await app.resolve(Database.self)
            #expect(try await app.resolve(Database.self) === database)
            return try await app.resolve(Tenant.self, arguments: "acme")
        }
        #expect(try await app.resolve(Tenant.self, arguments: "acme") === tenant)
        try await app.dispose()
    }

    @Test func `a scope that is opened in the task is asked as ever`() async throws {
        let app = app
        try await afterScope { _ in
            try await app.withScope("second") { scope in
                let user = try await app.resolve(User.self)
                #expect(try await scope.resolve(User.self) === user)
                #expect(try await app.resolve(Pair.self).user === user)
            }
        }
        try await app.dispose()
    }

    // MARK: Requests that are refused

    @Test func `an instance that was scoped there is refused`() async throws {
        let app = app
        let error = try await afterScope { _ in
            await self.expectRefusal { try await app.resolve(User.self, qualifier: "custom") }
            await self.expectRefusal { try await app.resolve(User.self, arguments: "a") }
            await self.expectRefusal { try await app.optional(User.self) }
            await self.expectRefusal { try await app.optional(User.self, arguments: "a") }
            await self.expectRefusal { try app.ready(User.self) }
            await self.expectRefusal { try app.ready(using: { (user: User) in user }) }
            await self.expectRefusal { try await app.withInstance(User.self) { $0 } }
            await self.expectRefusal { try await app.withGraph { try await $0.resolve(User.self) } }
            let graph = GraphIdentifier()
            await self.expectRefusal { try await app.withGraph(graph) { try await $0.resolve(User.self) } }
            await self.expectRefusal { try await app.resolve(User?.self) }
            await self.expectRefusal { try await app.resolve(Lazy<User>.self)() }
            await self.expectRefusal { try await Lazy(User.self, from: app)() }
            await self.expectRefusal { try await app.resolve(Provider<User>.self)() }
            await self.expectRefusal { try await app.resolve(Provider<User>.self, qualifier: "kept")() }
            return await self.expectRefusal { try await app.resolve(User.self) }
        }
        #expect(error?.path.map(\.description) == ["OutlivedScopeTests.User"])
        #expect(error?.description.contains("container \"request\"") == true)
        // Where the scope is not the current one, no request is refused, and no refusal remains.
        _ = try await app.resolve(User.self)
        try await app.dispose()
    }

    @Test func `a value that was supplied or overridden there is refused`() async throws {
        let app = app
        try await afterScope(
            with: given {
                Registration(Path.self, instance: Path(text: "/"))
                Registration(Settings.self, instance: Settings(name: "request"))
                Registration(Database.self, qualifier: "backup", lifetime: .singleton) { _ in Database() }
                Registration(Tenant.self) { (_, _: String) in Tenant() }
                Registration(making: Builder.self) { _ in Builder() }
                Registration(String.self, instance: "only there")
            }
        ) { _ in
            await self.expectRefusal { try await app.resolve(Path.self) }
            await self.expectRefusal { try await app.resolve(Settings.self) }
            await self.expectRefusal { try await app.resolve(Database.self, qualifier: "backup") }
            await self.expectRefusal { try await app.resolve(Tenant.self, arguments: "acme") }
            await self.expectRefusal { _ = try await app.make(Builder.self) }
            await self.expectRefusal { try await app.resolve(String.self) }
            await self.expectRefusal { try await app.optional(String.self) }
            await self.expectRefusal { try await app.resolve(Lazy<String>.self)() }
            _ = try await app.resolve(Database.self)
            _ = try await app.resolve(Tenant.self, arguments: "acme", 2)
        }
        try await app.dispose()
    }

    @Test func `a service that was decorated there is refused`() async throws {
        let app = app
        try await afterScope(
            with: given {
                Decoration(Settings.self) { _, settings in Settings(name: settings.name + "!") }
            }
        ) { _ in
            await self.expectRefusal { try await app.resolve(Settings.self) }
            _ = try await app.resolve(Database.self)
        }
        try await app.dispose()
    }

    @Test func `a contribution of the scope is refused`() async throws {
        let app = app
        try await afterScope(
            with: given {
                Registration((any Plugin).self) { _ in Named(name: "request") }.intoMany(key: 1)
                Registration((any Plugin).self, qualifier: "own") { _ in Named(name: "request") }.intoMany()
            }
        ) { _ in
            await self.expectRefusal { try await app.resolveMany((any Plugin).self) }
            await self.expectRefusal { try await app.resolve([any Plugin].self) }
            await self.expectRefusal { try await app.resolveMany((any Plugin).self, qualifier: "own") }
            await self.expectRefusal { try await app.resolve([any Plugin].self, qualifier: "own") }
            await self.expectRefusal { try await app.resolveMap((any Plugin).self, keyedBy: Int.self) }
            await self.expectRefusal { try await app.resolve([Int: any Plugin].self) }
            // None of these was contributed in the scope.
            let map = try await app.resolveMap((any Plugin).self, keyedBy: String.self)
            #expect(map.keys.sorted() == ["app"])
        }
        try await app.dispose()
    }

    @Test(arguments: [Lifetime.transient, .graph])
    func `a service created in the task is refused where it needs a value that was overridden there`(lifetime: Lifetime)
        async throws
    {
        let app = app
        try await app.register(using: Pair.init, qualifier: "made", lifetime: lifetime)
        try await app.register(String.self, lifetime: lifetime) { r in try await r.resolve(Settings.self).name }
        try await app.register(String.self, qualifier: "captured", lifetime: lifetime) { _ in
            try await app.resolve(Settings.self).name
        }
        try await app.register(String.self, qualifier: "shared", lifetime: .singleton) { r in
            try await r.resolve(Settings.self).name
        }
        try await afterScope(
            with: given {
                Registration(Settings.self, instance: Settings(name: "request"))
            }
        ) { _ in
            let error = await self.expectRefusal { try await app.resolve(Pair.self, qualifier: "made") }
            #expect(error?.path.map(\.description) == ["OutlivedScopeTests.Pair[made]", "OutlivedScopeTests.User"])
            await self.expectRefusal { try await app.resolve(String.self) }
            await self.expectRefusal { try await app.resolve(String.self, qualifier: "captured") }
            // Made by its owner, which never saw the scope.
            let shared = try await app.resolve(String.self, qualifier: "shared")
            #expect(shared == "app")
        }
        #expect(try await app.resolve(String.self) == "app")
        try await app.dispose()
    }

    @Test func `a container that has ended itself refuses everything`() async throws {
        let app = app
        _ = try await app.resolve(Database.self)
        try await afterScope { scope in
            await expect(.disposed) { try await scope.resolve(Database.self) }
            await expect(.disposed) { try scope.ready(Database.self) }
        }
        let ended = Gate()
        let task = try await app.withScope { _ in
            Task {
                await ended.pass()
                return try await app.resolve(Database.self)
            }
        }
        try await app.dispose()
        ended.open()
        await expect(.disposed) { try await task.value }
    }
}
