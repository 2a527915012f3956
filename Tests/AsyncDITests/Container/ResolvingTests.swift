import Testing

@testable import AsyncDI

private final class Database: Sendable {}
private final class Cache: Sendable {}
private final class Report: Sendable {
    let title: String
    init(_ title: String) { self.title = title }
}
private final class Missing: Sendable {}
private final class Draft {}
private struct Plugin: Sendable, Equatable { let name: String }
private enum Region: Qualifier { case north, south }

/// The methods that request services are the same for every requester.
@Suite(.timeLimit(.minutes(10))) struct ResolvingTests {
    private let container = Container {
        Registration(Database.self, lifetime: .singleton) { _ in Database() }
        Registration(Cache.self, qualifier: Region.north, lifetime: .singleton) { _ in Cache() }
        Registration(Report.self, lifetime: .multiton) { (_, title: String) in Report(title) }
        Registration(Report.self, lifetime: .transient) { (_, title: String, page: Int) in Report("\(title) \(page)") }
        Registration(Report.self) { (_, title: String, page: Int, isLast: Bool) in
            Report("\(title) \(page) \(isLast)")
        }
        Registration(making: Draft.self) { _ in Draft() }
        Registration(Plugin.self) { _ in Plugin(name: "one") }.intoMany(key: 1)
        Registration(Plugin.self) { _ in Plugin(name: "two") }.intoMany(key: 2)
    }

    /// Makes every kind of request.
    private func exercise(_ services: some _Resolving) async throws {
        await expect(.notReady) { try services.ready(Database.self) }
        let database = try await services.resolve(Database.self)
        let inferred: Database = try await services.resolve()
        #expect(inferred === database)
        #expect(try await services.resolve(Database.self, qualifier: nil) === database)
        #expect(try services.ready(Database.self) === database)
        #expect(try services.ready(Database.self, qualifier: nil) === database)
        #expect(try services.ready { (found: Database) in found === database })
        let cache = try await services.resolve(Cache.self, qualifier: Region.north)
        #expect(try await services.resolve(Cache.self, qualifier: Region.north as any Qualifier) === cache)
        #expect(try services.ready(Cache.self, qualifier: Region.north) === cache)
        await expect(.notRegistered) { try await services.resolve(Cache.self, qualifier: Region.south) }

        let report = try await services.resolve(Report.self, arguments: "May")
        #expect(report.title == "May")
        #expect(try await services.resolve(Report.self, arguments: "May") === report)
        #expect(try await services.resolve(Report.self, arguments: "May", 2).title == "May 2")
        #expect(try await services.resolve(Report.self, arguments: "May", 2, true).title == "May 2 true")
        #expect(try await services.optional(Report.self, arguments: "May") === report)
        await expect(.argumentMismatch) { try await services.optional(Report.self, arguments: 1.5) }

        #expect(try await services.optional(Database.self) === database)
        #expect(try await services.optional(Missing.self) == nil)
        await expect(.notRegistered) { try await services.resolve(Missing.self) }
        let drafts = (try await services.make(Draft.self), try await services.make(Draft.self))
        #expect(drafts.0 !== drafts.1)
        #expect(try await services.resolveMany(Plugin.self).map(\.name) == ["one", "two"])
        let plugins = try await services.resolveMap(Plugin.self, keyedBy: Int.self)
        #expect(plugins.mapValues(\.name) == [1: "one", 2: "two"])
    }

    @Test func `every kind of request works through a container`() async throws { try await exercise(container) }

    @Test func `every kind of request works through a container, inside a factory`() async throws {
        try await container.register(Bool.self, lifetime: .transient) { [container] _ in
            try await exercise(container)
            return true
        }
        _ = try await container.resolve(Bool.self)
    }

    @Test func `every kind of request works through an outer container, inside a scope`() async throws {
        try await container.withScope { _ in try await exercise(container) }
    }

    @Test func `every kind of request works through the resolver of a factory`() async throws {
        try await container.register(Bool.self, lifetime: .transient) { r in
            try await exercise(r)
            return true
        }
        _ = try await container.resolve(Bool.self)
    }

    @Test func `every kind of request works through the resolver of a shared creation`() async throws {
        try await container.register(Bool.self, lifetime: .singleton) { r in
            try await exercise(r)
            return true
        }
        _ = try await container.resolve(Bool.self)
    }

    @Test func `every kind of request works through a resolver whose factory has ended`() async throws {
        try await exercise(container.resolve(Resolver.self))
    }

    /// A value that makes requests for a requester.
    private struct Asker: _Resolving { let _requester: _Requester }

    @Test func `every kind of request works through the free functions, and a kept resolver`() async throws {
        try await exercise(Asker(_requester: .task(of: container)))
        try await container.reset()
        try await exercise(Asker(_requester: .keeper(of: container.core.resolver)))
    }

    @Test func `an object that keeps a resolver, and a container, resolve from the scope of the task`() async throws {
        let kept = Asker(_requester: .keeper(of: container.core.resolver))
        let outer = try await container.resolve(Database.self)
        try await container.withScope {
            Registration(Database.self, instance: Database())
            Registration(Report.self) { (_, title: String) in Report("inner \(title)") }
        } operation: { scope in
            let inner = try await scope.resolve(Database.self)
            #expect(inner !== outer)
            for services: any _Resolving in [kept, container, Asker(_requester: .task(of: scope))] {
                #expect(try await services.resolve(Database.self) === inner)
                #expect(try services.ready(Database.self) === inner)
                #expect(try await services.resolve(Report.self, arguments: "May").title == "inner May")
            }
        }
        #expect(try await kept.resolve(Database.self) === outer)
    }

    @Test func `a request that joined a cancelled creation is repeated outside a scope that has ended`() async throws {
        let factory = DrivenFactory<Missing>()
        try await container.register(Missing.self, lifetime: .singleton) { _ in try await factory.run() }
        let first = Task { try await container.resolve(Missing.self) }
        await factory.began()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let lazy = Lazy(Missing.self, from: container)
        let late = try await container.withScope { _ in
            let late = [
                Task { try await resolve(Missing.self) }, Task { try await container.resolve(Missing.self) },
                Task { try await lazy() },
            ]
            await container.core.waiters(of: Missing.self, reach: 3)
            return late
        }
        factory.fail(CancellationError())
        await factory.began(2)
        factory.answer(Missing(), run: 1)
        let instance = try await container.resolve(Missing.self)
        for task in late { #expect(try await task.value === instance) }
    }

    @Test func `a factory that throws an error of another container runs once`() async throws {
        let (mayFail, runs) = (Gate(), Counter())
        let other = Container()
        try await other.dispose()
        try await container.register(Missing.self, lifetime: .singleton) { _ in
            runs.increment()
            await mayFail.pass()
            try await other.register(instance: 1)
            return Missing()
        }
        let late = try await container.withScope { _ in
            let late = Task { try await container.resolve(Missing.self) }
            await mayFail.arrived()
            return late
        }
        mayFail.open()
        await expect(.disposed) { try await late.value }
        #expect(runs.value == 1)
    }

    @Test func `a request that waits for modules is repeated when its scope ends meanwhile`() async throws {
        struct Slow: Module {
            let loading: Gate, mayLoad: Gate
            var registrations: Registrations { Registration(Missing.self) { _ in Missing() } }
            func loaded(_ resolver: Resolver) async throws {
                loading.open()
                await mayLoad.pass()
            }
        }
        let (loading, mayLoad) = (Gate(), Gate())
        let lazy = Lazy(Database.self, from: container)
        let database = try await container.resolve(Database.self)
        let late = try await container.withScope {
            Slow(loading: loading, mayLoad: mayLoad)
        } operation: { scope in
            let late = [
                Task { try await resolve(Database.self) }, Task { try await container.resolve(Database.self) },
                Task { try await lazy() },
            ]
            await loading.pass()
            Task.detached {
                await until { scope.core.table.isClosed }
                mayLoad.open()
            }
            return late
        }
        for task in late { #expect(try await task.value === database) }
    }
}
