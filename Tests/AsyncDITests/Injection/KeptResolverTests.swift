import Testing

@testable import AsyncDI

private enum Requests { @TaskLocal static var user = 0 }

private final class User: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}

/// A singleton that calls a provider for each entry.
private final class AuditLog: Sendable {
    let user: Provider<User>
    let injected = Injected<User>()
    init(user: Provider<User>) { self.user = user }
    func currentUser() async throws -> Int { try await user().number }
}

private final class Page: Sendable {
    let user: Lazy<User>
    init(user: Lazy<User>) { self.user = user }
}

private final class Report: Sendable {
    let user: User
    init(_ user: User) { self.user = user }
}

/// A provider or a `Lazy` of an object that outlives requests, or that a request has left behind.
@Suite(.timeLimit(.minutes(10))) struct KeptResolverTests {
    private static let lifetimes: [Lifetime] = [.transient, .graph, .scoped]

    private func application() -> Container {
        Container(name: "application") {
            Registration(User.self, lifetime: .scoped) { _ in User(Requests.user) }
            Registration(using: AuditLog.init, lifetime: .singleton)
            for lifetime in Self.lifetimes {
                Registration(Int.self, qualifier: "\(lifetime)", lifetime: lifetime) { r in
                    try await r.resolve(AuditLog.self).currentUser()
                }
                .onCreate { r, user in
                    let log = try await r.resolve(AuditLog.self)
                    let (now, injected) = (try await log.currentUser(), try log.injected())
                    #expect(now == user && injected.number == user)
                }
            }
        }
    }

    @Test(arguments: lifetimes)
    func `a singleton's provider, called by a factory or hook of a request, gives that request's instance`(
        lifetime: Lifetime
    ) async throws {
        let application = application()
        for user in 1...3 {
            try await Requests.$user.withValue(user) {
                try await application.withScope { scope in
                    let seen = try await application.resolve(Int.self, qualifier: "\(lifetime)")
                    #expect(seen == user)
                    let own = try await scope.resolve(User.self)
                    #expect(own.number == user)
                }
            }
        }
        await expect(.notReady) { _ = try application.ready(User.self) }
        try await application.dispose()
    }

    @Test func `a provider called by the factory of another singleton gives no scoped instance`() async throws {
        let application = application()
        try await application.register(Report.self, lifetime: .singleton) { r in
            Report(try await r.resolve(AuditLog.self).user())
        }
        _ = try await application.resolve(AuditLog.self)
        try await application.withScope { _ in
            _ = await expect(.captiveDependency) { _ = try await application.resolve(Report.self) }
        }
        try await application.dispose()
    }

    @Test(arguments: [true, false])
    func `a singleton does not keep the scoped instance of a request by its Lazy, even after the request`(
        hasEnded: Bool
    ) async throws {
        let left = Locked<Page?>(nil)
        let application = Container {
            Registration(User.self, lifetime: .scoped) { _ in User(1) }
            Registration(Double.self, lifetime: .singleton) { _ in 0.5 }
            Registration(using: Page.init, lifetime: .scoped)
            Registration(Report.self, lifetime: .singleton) { _ in
                guard let page = left.withLock({ $0 }) else { throw CancellationError() }
                return Report(try await page.user())
            }
        }
        func refuse() async {
            await expect(hasEnded ? .disposed : .captiveDependency) { _ = try await application.resolve(Report.self) }
        }
        try await application.withScope { _ in
            let page = try await application.resolve(Page.self)
            _ = try await page.user()
            left.withLock { $0 = page }
            if !hasEnded { await refuse() }
        }
        if hasEnded { await refuse() }
        try await application.dispose()
    }

    @Test func `a singleton may keep a singleton that it receives by the Lazy of an ended request`() async throws {
        let left = Locked<Lazy<AuditLog>?>(nil)
        let application = application()
        try await application.register(Report.self, lifetime: .singleton) { _ in
            let log = try await left.withLock { $0 }?()
            return Report(User(log == nil ? 0 : 7))
        }
        try await application.withScope { scope in
            let lazy = try await scope.resolve(Lazy<AuditLog>.self)
            _ = try await lazy()
            left.withLock { $0 = lazy }
        }
        #expect(try await application.resolve(Report.self).user.number == 7)
        try await application.dispose()
    }

    /// How a scope replaces or surrounds a service of the container above.
    enum Replacement: CaseIterable { case override, decoration, hook }

    @Test(arguments: Replacement.allCases)
    func `an override, a decoration and a hook in a scope receive the original by the provider of a singleton`(
        replacement: Replacement
    ) async throws {
        let application = application()
        try await Requests.$user.withValue(1) { _ = try await application.resolve(User.self) }
        let original = { @Sendable (r: Resolver) in try await r.resolve(AuditLog.self).currentUser() }
        let scope = try await application.openScope {
            switch replacement {
            case .override:
                Registration(User.self, lifetime: .scoped) { r in User(try await original(r) + 1) }
            case .decoration:
                Decoration(User.self) { r, _ in User(try await original(r) + 1) }
            case .hook:
                Registration(User.self, lifetime: .scoped) { _ in User(2) }
                    .onCreate { r, _ in
                        let found = try await original(r)
                        #expect(found == 1)
                    }
            }
        }
        #expect(try await scope.resolve(User.self).number == 2)
        try await application.dispose()
    }

    @Test func `a hook at the end of a scope may use the provider of a singleton`() async throws {
        let seen = Log<Int>()
        let application = Container {
            Registration(User.self, lifetime: .transient) { _ in User(3) }
            Registration(using: AuditLog.init, lifetime: .singleton)
        }
        let log = try await application.resolve(AuditLog.self)
        try await application.register(
            Registration(Report.self, lifetime: .scoped) { _ in Report(User(0)) }
                .onDispose { _ in seen.append(try await log.currentUser()) })
        try await application.withScope { scope in _ = try await scope.resolve(Report.self) }
        #expect(seen.entries == [3])
    }

    @Test(arguments: [true, false])
    func `the Lazy of an ended request gives a singleton nothing that the request overrode or decorated`(
        isOverride: Bool
    ) async throws {
        let left = Locked<Page?>(nil)
        let application = Container {
            Registration(User.self, lifetime: .singleton) { _ in User(1) }
            Registration(using: Page.init, lifetime: .scoped)
            Registration(Report.self, lifetime: .singleton) { _ in
                guard let page = left.withLock({ $0 }) else { throw CancellationError() }
                return Report(try await page.user())
            }
        }
        try await application.withScope {
            if isOverride { Registration(instance: User(2)) } else { Decoration(User.self) { _, _ in User(2) } }
        } operation: { scope in
            let page = try await scope.resolve(Page.self)
            let user = try await page.user()
            #expect(user.number == 2)
            left.withLock { $0 = page }
        }
        _ = await expect(.disposed) { _ = try await application.resolve(Report.self) }
        try await application.dispose()
    }
}
