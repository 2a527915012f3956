import Testing

@testable import AsyncDI

private struct User: Sendable {}
private protocol Principal: Sendable {}
extension User: Principal {}
private struct Inbox: Sendable {
    let user: User
}
private struct Badge: Sendable {
    let principal: any Principal
}
private struct Screen: Sendable {
    let inbox: Inbox
}
private struct Hint: Sendable {
    let user: User?
    let inbox: Provider<Inbox>
}
private protocol Panel: Sendable {}
private struct InboxPanel: Panel {
    let inbox: Inbox
}
private struct Panels: Sendable {
    let all: [any Panel]
}

/// The start of containers whose eager scoped services need values that only scopes supply.
@Suite(.timeLimit(.minutes(10))) struct ScopedStartTests {
    private let runs = Log<String>()

    /// An application with such services of every kind.
    private func application() -> Container {
        Container(name: "app") { [runs] in
            Registration(expected: User.self).implements((any Principal).self)
            Registration(
                using: { (user: User) in
                    runs.append("inbox"); return Inbox(user: user)
                }, lifetime: .scoped
            ).eager()
            Registration(using: Badge.init, lifetime: .scoped).eager()
            Registration(using: Screen.init, lifetime: .scoped).eager()
            Registration((any Panel).self) { r in InboxPanel(inbox: try await r.resolve()) }.dependencies(Inbox.self)
                .intoMany()
            Registration(using: Panels.init, lifetime: .scoped).eager()
            Registration(Int.self, lifetime: .scoped) { r in
                _ = try await r.resolve(Screen.self)
                return 1
            }
            .dependencies(Screen.self).eager()
            // A closure without a declaration.
            Registration(String.self, lifetime: .scoped) { r in
                runs.append("closure")
                _ = try await r.resolve(Screen.self)
                return ""
            }
            .eager()
            Registration(using: Hint.init, lifetime: .scoped).eager()
            Registration(Double.self, lifetime: .singleton) { _ in 0.5 }.eager()
        }
    }

    @Test func `the start of an application leaves out services that need a value of a scope`() async throws {
        let app = application()
        try await app.validate()
        let report = try await app.start()
        #expect(try app.ready(Double.self) == 0.5)
        #expect(try app.ready(Hint.self).user == nil)
        #expect(runs.entries == ["closure"], "a creation that is known to fail is not begun")
        #expect(Set(report.services.filter(\.isCreated).map(\.key.description)) == ["Double", "Hint"])
        #expect(app.startFailure == nil)
        try await app.prewarm(.scoped)
        let scope = try await app.openScope("ada") { Registration(instance: User()) }
        try await scope.start()
        for service in [Inbox.self, Badge.self, Screen.self, Panels.self, Int.self, String.self] as [any Any.Type] {
            #expect(try scope.isReady(service), "\(service)")
        }
        // A container of one's own may supply the value as well.  // language-ok
        let child = Container(parent: app) { Registration(instance: User()) }
        try await child.start()
        _ = try child.ready(Inbox.self)
        try await app.dispose()
    }

    @Test func `a service whose optional contributions need the value is left out without a run`() async throws {
        struct Menu: Sendable { let users: [User]? }
        let observer = RecordingObserver()
        let app = Container(observers: [observer]) {
            Registration(expected: User.self).intoMany(key: "signed in")
            Registration(using: Menu.init, lifetime: .scoped).eager()
        }
        let report = try await app.start()
        #expect(report.services.isEmpty)
        await app.deliverEvents()
        #expect(observer.events.allSatisfy { $0.kind == .registered })
        let scope = try await app.openScope { Registration(instance: User()).intoMany(key: "signed in") }
        try await scope.start()
        #expect(try scope.ready(Menu.self).users?.isEmpty == false)
        try await app.dispose()
    }

    @Test func `a scope that does not supply the value does not start`() async throws {
        let app = application()
        let scope = try await app.openScope("job")
        await expect(.notRegistered) { try await scope.start() }
        try await app.dispose()
    }

    @Test func `other failures of scoped services are failures of the start`() async throws {
        let missing = Container { Registration(using: Inbox.init, lifetime: .scoped).eager() }
        await expect(.notRegistered) { try await missing.start() }
        let failing = Container {
            Registration(expected: User.self)
            Registration(Inbox.self, lifetime: .scoped) { _ in throw TestError(1) }.eager()
        }
        await #expect(throws: TestError(1)) { try await failing.start() }
        // A singleton never gets the value.
        let singleton = Container {
            Registration(expected: User.self)
            Registration(using: Inbox.init, lifetime: .singleton).eager()
        }
        await expect(.notRegistered) { try await singleton.start() }
        await #expect(throws: ValidationError.self) { try await singleton.validate() }
        let through = Container {
            Registration(expected: User.self)
            Registration(using: Inbox.init, lifetime: .singleton)
            Registration(using: Screen.init, lifetime: .scoped).eager()
        }
        await expect(.notRegistered) { try await through.start() }
        await #expect(throws: ValidationError.self) { try await through.validate() }
    }

    @Test func `a closure may ask for a ready value, and a value that another scope lacks is a failure`() async throws {
        let app = Container {
            Registration(expected: User.self)
            Registration(Inbox.self, lifetime: .scoped) { r in Inbox(user: try r.ready(User.self)) }.eager()
        }
        try await app.start()
        let failing = Container {
            Registration(expected: User.self)
            Registration(Inbox.self, lifetime: .scoped) { r in
                try await app.withScope { Inbox(user: try await $0.resolve(User.self)) }
            }.eager()
        }
        await expect(.notRegistered) { try await failing.start() }
    }

    @Test func `the decoration of a service that is left out stops no start`() async throws {
        let app = Container {
            Registration(expected: User.self)
            Registration(using: Inbox.init, lifetime: .scoped).eager()
            Registration(using: Screen.init, lifetime: .scoped).eager()
            Decoration(Inbox.self) { _, inner in inner }
        }
        try await app.start()
        let child = Container(parent: app) { Decoration(Screen.self) { _, inner in inner } }
        try await child.start()
        let scope = try await child.openScope { Registration(instance: User()) }
        try await scope.start()
        _ = try scope.ready(Screen.self)
        try await app.dispose()
    }

    @Test func `services that need each other do not keep a start from succeeding`() async throws {
        struct Egg: Sendable {
            let hen: Lazy<Hen>
        }
        struct Hen: Sendable {
            let egg: Egg
        }
        let app = Container {
            Registration(expected: User.self)
            Registration(using: Egg.init, lifetime: .scoped).eager()
            Registration(using: Hen.init, lifetime: .scoped).eager()
            Registration(Int.self, lifetime: .scoped) { _ in 1 }.dependencies(String.self).eager()
            Registration(String.self, lifetime: .scoped) { _ in "" }.dependencies(Int.self).eager()
        }
        try await app.start()
        _ = try app.ready(Hen.self)
        #expect(try app.ready(Int.self) == 1)
        try await app.dispose()
    }
}

extension Container {
    /// Whether the instance of a service is ready, which throws the error where it is not.
    fileprivate nonisolated func isReady(_ service: any Any.Type) throws -> Bool {
        func isReady<Service>(_ service: Service.Type) throws -> Bool {
            try Request(key: ServiceKey(service), pack: .none, host: core, asker: nil).readyCell() != nil
        }
        return try _openExistential(service, do: isReady)
    }
}
