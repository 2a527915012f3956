import Foundation
import Testing

@testable import AsyncDI

private struct Database: Sendable {}
private struct Catalogue: Sendable {}
private struct Handler: Sendable {}
private final class Pool: Sendable {}

/// A snapshot of the work that is under way.
@Suite(.timeLimit(.minutes(10))) struct ActivitySnapshotTests {
    @Test func `a creation reports its waiters, waits, duration and request path`() async throws {
        let clock = ManualClock()
        let factory = DrivenFactory<Database>()
        let container = Container(name: "app", clock: clock) {
            Registration(Database.self, lifetime: .singleton, fileID: "App/A.swift", line: 1) { _ in
                try await factory.run()
            }
            Registration(Catalogue.self, lifetime: .singleton, fileID: "App/A.swift", line: 2) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Catalogue()
            }
            Registration(Handler.self, lifetime: .transient, fileID: "App/A.swift", line: 3) { resolver in
                _ = try await resolver.resolve(Catalogue.self)
                return Handler()
            }
        }
        #expect(container.activity().isEmpty)
        let handler = Task { try await container.resolve(Handler.self) }
        await factory.began()
        clock.advance(by: .seconds(2))
        let other = Task { try await container.resolve(Database.self) }
        while container.activity().creations.map(\.waiters).max() != 2 { await Task.yield() }
        clock.advance(by: .seconds(3))
        let snapshot = container.activity()
        #expect(
            Set(snapshot.description.split(separator: "\n")) == [
                "container \"app\": 2 creations",
                """
                creating Catalogue (App/A.swift:2) for 5 s, 1 waiter, requested by Handler → Catalogue; \
                waits for Database
                """,
                """
                creating Database (App/A.swift:1) for 5 s, 2 waiters, \
                requested by Handler → Catalogue → Database
                """,
            ])
        let catalogue = try #require(snapshot.creations.first { "\($0.instance.key)" == "Catalogue" })
        #expect(catalogue.waits.map(\.key) == [ServiceKey(Database.self)])
        factory.answer(Database())
        _ = try await (handler.value, other.value)
        #expect(container.activity().isEmpty)
    }

    @Test func `a creation reports that it waits for another task's creation`() async throws {
        let factory = DrivenFactory<Database>()
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in try await factory.run() }
            Registration(Catalogue.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Catalogue()
            }
        }
        let first = Task { try await container.resolve(Database.self) }
        await factory.began()
        let second = Task { try await container.resolve(Catalogue.self) }
        while container.activity().creations.flatMap(\.waits).isEmpty { await Task.yield() }
        let snapshot = container.activity()
        #expect(snapshot.creations.flatMap(\.waits).map(\.target) == ["Database"])
        #expect(snapshot.creations.first { "\($0.instance.key)" == "Database" }?.path.count == 1)
        factory.answer(Database())
        _ = try await (first.value, second.value)
    }

    @Test func `leases, scopes at every depth, and disposals that wait are listed`() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let container = Container(name: "app", clock: clock) {
            Registration(Pool.self, lifetime: .multiton, fileID: "App/A.swift", line: 1) { (_, _: String) in Pool() }
                .onDispose { _ in }
            Registration(Handler.self, lifetime: .scoped) { resolver in
                _ = try await resolver.lease(Pool.self, arguments: "acme")
                return Handler()
            }
        }
        let body = Task {
            try await container.withScope("request-1") { outer in
                clock.advance(by: .seconds(1))
                try await outer.withScope("part") { part in
                    _ = try await part.resolve(Handler.self)
                    try await container.withInstance(Pool.self, arguments: "acme") { _ in await gate.pass() }
                }
            }
        }
        await gate.arrived()
        clock.advance(by: .seconds(2))
        #expect(
            container.activity().description == """
                container "app": 0 creations, 1 leased instance, 2 open scopes
                leased Pool("acme") (App/A.swift:1) for 2 s, by 1 body and 1 instance
                open request-1 for 3 s
                open part for 2 s
                """)
        #expect(container.activity().scopes.map(\.hasOwner) == [true, true])
        try await container.reset(Pool.self)
        #expect(
            container.activity().disposals.map { "\($0.instance) \($0.waitsForLeases)" } == [
                "Pool(\"acme\") (App/A.swift:1) true"
            ])
        gate.open()
        try await body.value
        #expect(container.activity().isEmpty)
    }

    @Test func `a body that runs on under its disposed scope is named until it ends`() async throws {
        let gate = Gate()
        let clock = ManualClock()
        let (app, other) = (Container(name: "app", clock: clock), Container(name: "other", clock: clock))
        let body = Task {
            try await app.withScope("request") { request in
                clock.advance(by: .seconds(1))
                try await request.withScope("part") { _ in await gate.pass() }
            }
        }
        let quiet = Task { try await other.withScope("quiet") { _ in } }
        await gate.arrived()
        try await quiet.value
        clock.advance(by: .seconds(3))
        try await other.dispose()
        #expect(other.activity().isEmpty)
        try await app.dispose()
        let activity = app.activity()
        #expect(!activity.isEmpty && activity.scopes.allSatisfy { $0.isDisposed && $0.hasOwner })
        #expect(
            activity.description == """
                container "app": 0 creations, 2 disposed scopes
                disposed request, whose body runs on after 4 s
                disposed part, whose body runs on after 3 s
                """)
        gate.open()
        try await body.value
        #expect(app.activity().isEmpty)
    }

    @Test func `bodies that have ended are forgotten, however many are cut short`() async throws {
        let container = Container()
        for round in 0..<100 {
            let gate = Gate()
            let body = Task { try await container.withScope("\(round)") { _ in await gate.pass() } }
            await gate.arrived()
            for scope in container.core.childCores { try await scope.dispose() }
            #expect(container.activity().scopes.map(\.name) == ["\(round)"])
            gate.open()
            _ = try? await body.value
        }
        #expect(container.core.withState { $0.bodiesCutShort.entries.count } < 20)
    }

    @Test func `a hook that runs is a disposal, and a creation that waits for it says so`() async throws {
        let gate = Gate()
        let container = Container(name: "app") {
            Registration(Pool.self, lifetime: .multiton) { (_, _: Int) in Pool() }.onDispose { _ in await gate.pass() }
        }
        _ = try await container.resolve(Pool.self, arguments: 1)
        let reset = Task { try await container.reset(Pool.self) }
        await gate.arrived()
        let next = Task { try await container.resolve(Pool.self, arguments: 1) }
        while container.activity().creations.flatMap(\.waits).isEmpty { await Task.yield() }
        let snapshot = container.activity()
        #expect(snapshot.disposals.map(\.waitsForLeases) == [false])
        #expect(snapshot.creations.flatMap(\.waits).map(\.target) == ["the disposal of Pool(1)"])
        #expect(snapshot.creations.flatMap(\.waits).map(\.isForDisposal) == [true])
        gate.open()
        try await reset.value
        _ = try await next.value
    }

    @Test func `a hook of a container's disposal is listed, also after its lease has ended`() async throws {
        let mayEnd = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in await mayEnd.pass() }
        }
        let leased = Gate()
        let body = Task {
            try await container.withInstance(Thing.self) { _ in
                leased.arrive()
                await leased.pass()
            }
        }
        await leased.arrived()
        let disposal = Task { try await container.dispose() }
        await until { container.activity().disposals.map(\.waitsForLeases) == [true] }
        leased.open()
        await mayEnd.arrived()
        #expect(container.activity().disposals.map(\.waitsForLeases) == [false])
        #expect(!container.activity().isEmpty)
        mayEnd.open()
        try await disposal.value
        try await body.value
        #expect(container.activity().isEmpty)
    }

    @Test func `a lease that an instance holds is listed, and is no work`() async throws {
        let container = Container {
            Registration(Cable.self, lifetime: .singleton) { _ in Cable() }
                .onDispose { $0.close() }
                .implements((any Line).self) { $0 }
            Decoration((any Line).self) { _, inner in inner }
        }
        _ = try await container.resolve((any Line).self)
        #expect(container.activity().leases.map(\.holders) == [1] && container.activity().isEmpty)
        try await container.withInstance((any Line).self) { _ in #expect(!container.activity().isEmpty) }
        #expect(container.activity().isEmpty)
    }

    @Test func `the hook of an instance that was reset while leased waits for no lease any more`() async throws {
        let mayEnd = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in await mayEnd.pass() }
        }
        try await container.withInstance(Thing.self) { _ in
            try await container.reset(Thing.self)
            #expect(container.activity().disposals.map(\.waitsForLeases) == [true])
        }
        await mayEnd.arrived()
        #expect(container.activity().disposals.map(\.waitsForLeases) == [false])
        mayEnd.open()
        try await container.dispose()
    }

    @Test func `modules that are being loaded are listed, with the services that they wait for`() async throws {
        struct Warming: Module {
            var registrations: Registrations { Registration(instance: Handler()) }
            func loaded(_ resolver: Resolver) async throws { _ = try await resolver.resolve(Database.self) }
        }
        struct Later: Module {
            var registrations: Registrations { Registration(instance: Catalogue()) }
        }
        let clock = ManualClock()
        let factory = DrivenFactory<Database>()
        let container = Container(name: "app", clock: clock) {
            Warming()
            Later()
            Registration(Database.self, lifetime: .singleton, fileID: "App/A.swift", line: 1) { _ in
                try await factory.run()
            }
        }
        let start = Task { try await container.start() }
        await factory.began()
        clock.advance(by: .seconds(2))
        let snapshot = container.activity()
        #expect(!snapshot.isEmpty)
        #expect(
            snapshot.description.split(separator: "\n") == [
                "container \"app\": 2 modules, 1 creation",
                """
                loading Warming, then Later in container "app" for 2 s, 1 waiter; waits for Database
                """,
                "creating Database (App/A.swift:1) for 2 s, 1 waiter",
            ])
        #expect(snapshot.loadings.first?.modules == ["Warming", "Later"])
        let json = String(decoding: try JSONEncoder().encode(snapshot), as: UTF8.self)
        #expect(json.contains("\"Warming\""))
        factory.answer(Database())
        _ = try await start.value
        #expect(container.activity().isEmpty)
    }

    @Test func `as JSON, services and places are texts`() async throws {
        let factory = DrivenFactory<Database>()
        let container = Container(name: "app", clock: ManualClock()) {
            Registration(Database.self, lifetime: .singleton, fileID: "App/A.swift", line: 1) { _ in
                try await factory.run()
            }
        }
        let request = Task { try await container.resolve(Database.self) }
        await factory.began()
        let scope = try await container.openScope()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
            String(decoding: try encoder.encode(container.activity()), as: UTF8.self) == """
                {"container":"container \\"app\\"","creations":[{"instance":{"arguments":"",\
                "container":"container \\"app\\"","service":"Database","site":"App/A.swift:1"},"path":["Database"],\
                "seconds":0,"waiters":1,"waits":[]}],"disposals":[],"leases":[],"loadings":[],\
                "scopes":[{"container":"container \\"app\\"","hasOwner":false,"isDisposed":false,\
                "name":"\(scope.name ?? "")","seconds":0}]}
                """)
        factory.answer(Database())
        _ = try await request.value
        try await scope.dispose()
    }

    @Test func `as JSON, leases and disposals have their instances`() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let container = Container(name: "app", clock: clock) {
            Registration(Pool.self, lifetime: .multiton, fileID: "App/A.swift", line: 1) { (_, _: String) in Pool() }
                .onDispose { _ in }
        }
        let body = Task {
            try await container.withInstance(Pool.self, arguments: "acme") { _ in await gate.pass() }
        }
        await gate.arrived()
        clock.advance(by: .seconds(2))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func json() throws -> String { String(decoding: try encoder.encode(container.activity()), as: UTF8.self) }
        let pool = """
            {"arguments":"\\"acme\\"","container":"container \\"app\\"","service":"Pool(String)",\
            "site":"App/A.swift:1"}
            """
        let leased = try json()
        #expect(
            leased == """
                {"container":"container \\"app\\"","creations":[],"disposals":[],\
                "leases":[{"bodies":1,"holders":0,"instance":\(pool),"seconds":2}],"loadings":[],"scopes":[]}
                """)
        try await container.reset(Pool.self)
        let waiting = try json()
        #expect(waiting.contains("\"disposals\":[{\"instance\":\(pool),\"waitsForLeases\":true}]"))
        gate.open()
        try await body.value
    }

    @Test func `an instance that left the cache before the disposal of its container is listed once`() async throws {
        let (leased, hook) = (Gate(), Gate())
        let container = Container(name: "app") {
            Registration(Pool.self, lifetime: .singleton) { _ in Pool() }.onDispose { _ in await hook.pass() }
        }
        let body = Task {
            try await container.withInstance(Pool.self) { _ in await leased.pass() }
        }
        await leased.arrived()
        let reset = Task { try await container.reset(Pool.self) }
        while container.activity().disposals.isEmpty { await Task.yield() }
        let disposal = Task { try? await container.dispose() }
        while container.core.disposalUnderWay?.subject == nil { await Task.yield() }
        #expect(container.activity().disposals.map(\.waitsForLeases) == [true])
        leased.open()
        await hook.arrived()
        while container.activity().disposals.first?.waitsForLeases != false { await Task.yield() }
        #expect(container.activity().disposals.count == 1)
        hook.open()
        _ = try? await body.value
        _ = try? await reset.value
        await disposal.value
    }
}
