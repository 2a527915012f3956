import Testing

@testable import AsyncDI

private final class User: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
}

/// Wrappers that were created with a container, and are used in several of its scopes.
@Suite(.timeLimit(.minutes(10))) struct ScopedLazyTests {
    private let shared = Counter()

    private func app() -> Container {
        Container {
            Registration(expected: String.self)
            Registration(User.self, lifetime: .scoped) { User(try await $0.resolve(String.self)) }
            Registration(Thing.self, lifetime: .singleton) { [shared] _ in Thing(shared.increment()) }
        }
    }

    private nonisolated(nonsending) func request<R: Sendable>(
        of name: String, in app: Container, _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        try await app.withScope {
            Registration(instance: name)
        } operation: { _ in
            try await body()
        }
    }

    @Test func `a lazy of the application gives each request its own instance, and all the shared one`() async throws {
        let app = app()
        let (user, thing) = (Lazy(User.self, from: app), Lazy(Thing.self, from: app))
        for name in ["Ada", "Bob", "Ada"] {
            let (first, second) = try await request(of: name, in: app) { (try await user(), try await user()) }
            #expect(first.name == name)
            #expect(first === second)
            #expect(try await request(of: name, in: app) { try await thing().number } == 1)
        }
        await expect(.notRegistered) { try await user() }
        #expect(try await thing().number == 1)
    }

    /// Runs a body with a child container, which is released without a disposal.
    private nonisolated(nonsending) func inChild<R: Sendable>(
        of app: Container, _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        try await Injection.with(Container(parent: app) { Registration(instance: "Bob") }) { try await body() }
    }

    private struct WeakUser: Sendable {
        weak let user: User?
    }

    @Test func `a lazy of the application forgets an instance when its scope ends, and containers forget the lazy`()
        async throws
    {
        let app = app()
        let memos = { app.core.withState { $0.memos.count } }
        do {
            let (user, thing) = (Lazy(User.self, from: app), Lazy(Thing.self, from: app))
            let ended = try await request(of: "Ada", in: app) { WeakUser(user: try await user()) }
            #expect(ended.user == nil)
            #expect(user.isEmpty)
            _ = try await thing()
            #expect(memos() == 1)
            thing.release()
        }
        #expect(memos() == 0)
        let user = Lazy(User.self, from: app)
        let released = try await inChild(of: app) {
            let released = WeakUser(user: try await user())
            #expect(released.user?.name == "Bob" && !user.isEmpty)
            return released
        }
        #expect(released.user == nil && user.isEmpty)
        try await app.dispose()
    }

    @Test func `two requests at once get two instances`() async throws {
        let app = app()
        let user = Lazy(User.self, from: app)
        let (first, second) = (Gate(), Gate())
        let ada = Task {
            try await request(of: "Ada", in: app) {
                first.open()
                await second.pass()
                return try await user().name
            }
        }
        await first.pass()
        let bob = try await request(of: "Bob", in: app) {
            let name = try await user().name
            second.open()
            #expect(try await ada.value == "Ada")
            // Still Bob's, although Ada's came last.
            return try await [name, user().name]
        }
        #expect(bob == ["Bob", "Bob"])
    }

    @Test func `each scope has one instance, also of a service that is not shared`() async throws {
        let app = Container { Registration(Thing.self) { [shared] _ in Thing(shared.increment()) } }
        let thing = Lazy(Thing.self, from: app)
        let outside = try await thing()
        try await app.withScope { _ in
            let first = try await thing()
            try await app.withScope { _ in
                let inner = try await thing()
                #expect(inner !== first && inner !== outside)
            }
            let second = try await thing()
            #expect(first === second && first !== outside)
        }
        #expect(try await thing() === outside)
        #expect(shared.value == 3)
    }

    @Test func `a thousand requests that call one lazy never get another one's instance`() async throws {
        let app = app()
        let user = Lazy(User.self, from: app)
        try await withThrowingTaskGroup { group in
            for number in 0..<1000 {
                group.addTask {
                    let names = try await request(of: "\(number)", in: app) {
                        try await (0..<3).asyncMap { _ in try await user().name }
                    }
                    #expect(names == ["\(number)", "\(number)", "\(number)"])
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a weak property gives each request its own instance`() async throws {
        struct Model {
            @WeakInject var user: User?
            init(_ app: Container) { _user = WeakInject(from: app) }
        }
        let app = app()
        let model = Model(app)
        let ada = try await request(of: "Ada", in: app) {
            let user = try await app.resolve(User.self)
            #expect(model.user === user)
            return user
        }
        try await request(of: "Bob", in: app) {
            let user = try await app.resolve(User.self)
            #expect(model.user === user)
        }
        #expect(model.user == nil)
        #expect(ada.name == "Ada")
    }

    @Test func `a lazy dependency that was given another container still may not hold a shorter-lived instance`()
        async throws
    {
        struct Owner: Sendable { let user: Lazy<User> }
        let app = app()
        try await app.register(Owner.self, lifetime: .singleton) { Owner(user: try await $0.resolve(Lazy<User>.self)) }
        let owner = try await app.resolve(Owner.self)
        let scope = try await app.openScope { Registration(instance: "Ada") }
        owner.user.use(scope)
        await expect(.captiveDependency) { try await owner.user() }
    }

    @Test func `a collection without contributions is missing, not empty`() async throws {
        struct Menu: Sendable { let entries: [Thing] }
        let container = Container {
            Registration(using: Menu.init)
            Registration(Int.self, lifetime: .singleton) { _ in 1 }
        }
        await expect(.notRegistered) { try await container.resolve(Menu.self) }
        await expect(.notRegistered) { try container.ready(using: Menu.init) }
        await expect(.notRegistered) { try container.ready([Thing].self) }
        await expect(.notRegistered) { try container.ready([String: Thing].self) }
        let missing = OptionalInject([Thing].self, from: container).wrappedValue
        #expect(missing == nil)
    }

    @Test func `the scope that replaces an owned one is opened beside it`() async throws {
        let app = app()
        let first = try OwnedScope(in: app) { Registration(instance: "Ada") }
        #expect(first.place(ofSuccessorIn: first.container) === app)
        #expect(first.place(ofSuccessorIn: app) === app)
        let second = try OwnedScope(in: first.place(ofSuccessorIn: first.container)) { Registration(instance: "Bob") }
        try await first.end()
        #expect(try await second.container.resolve(User.self).name == "Bob")
    }
}

extension Sequence {
    fileprivate nonisolated(nonsending) func asyncMap<R>(
        _ transform: nonisolated(nonsending) (Element) async throws -> R
    ) async rethrows -> [R] {
        var results: [R] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
