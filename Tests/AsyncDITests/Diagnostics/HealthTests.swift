import Testing

@testable import AsyncDI

/// Health checks of the instances that are alive.
@Suite(.timeLimit(.minutes(10))) struct HealthTests {
    private struct Broken: Error {}

    private final class Database: Sendable {
        let isBroken: Bool
        init(isBroken: Bool = false) { self.isBroken = isBroken }
        func ping() throws { if isBroken { throw Broken() } }
    }

    private struct Repository: Sendable {
        let database: Database
    }

    private struct Handler: Sendable {
        let repository: Repository
    }

    private func database(isBroken: Bool = false) -> Registration<Database> {
        Registration(Database.self, lifetime: .singleton) { _ in Database(isBroken: isBroken) }
            .healthCheck { try $0.ping() }
    }

    @Test func `only instances that are alive are checked, and none is created`() async throws {
        let container = Container { database() }
        #expect(await container.health(timeout: .seconds(60)).entries.isEmpty)
        _ = try await container.resolve(Database.self)
        let report = await container.health(timeout: .seconds(60))
        #expect(report.isHealthy && report.entries.map { "\($0.key)" } == ["Database"])
        try await container.dispose()
        let last = await container.health(timeout: .seconds(60))
        #expect(last.entries.isEmpty && last.isDisposed && !last.isHealthy)
        #expect(last.description == "the container is disposed")
    }

    @Test func `a failed contribution names the services that need it`() async throws {
        struct Checks: Sendable {
            let all: [String: Repository]
        }
        let container = Container {
            database(isBroken: false)
            Registration(using: Repository.init, lifetime: .singleton)
                .healthCheck { _ in throw Broken() }.intoMany(key: "main")
            Registration(using: Checks.init, lifetime: .singleton)
        }
        _ = try await container.resolve(Checks.self)
        let report = await container.health(timeout: .seconds(60))
        #expect(report.entries.first { !$0.isHealthy }?.affected == ["[Repository]", "Checks"])
    }

    @Test func `in a scope, a failed service names its users that are registered above`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .scoped) { _ in Database(isBroken: true) }
                .healthCheck { try $0.ping() }
            Registration(using: Repository.init, lifetime: .scoped)
            Registration(using: Handler.init, lifetime: .scoped)
        }
        let affected = try await container.withScope { scope in
            _ = try await scope.resolve(Handler.self)
            return await scope.health(timeout: .seconds(60)).entries.map(\.affected)
        }
        #expect(affected == [["Repository", "Handler"]])
        try await container.dispose()
    }

    @Test(arguments: [Duration(attoseconds: .min), .seconds(Int64.min), .seconds(Int64.max)])
    func `the timeout may be any duration`(timeout: Duration) async throws {
        let container = Container { database() }
        _ = try await container.resolve(Database.self)
        #expect(await container.health(timeout: timeout).entries.count == 1)
        try await container.dispose()
    }

    /// Returns an instance of another type than the one that it was given.
    private final class WrongStorage: InstanceStorage {
        func load() -> (any Sendable)? { "a string" }
        func store(_ instance: any Sendable) {}
        func clear() {}
    }

    @Test func `a storage that returns another type has failed, and is not ready`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: Lifetime("wrong") { WrongStorage() }) { _ in Database() }
                .healthCheck { try $0.ping() }
        }
        await expect(.typeMismatch) { try await container.resolve(Database.self) }
        await expect(.typeMismatch) { try container.ready(Database.self) }
        let report = await container.health(timeout: .seconds(60))
        #expect(!report.isHealthy && report.description.contains("the storage of Database returned an instance of"))
        try await container.dispose()
    }

    private protocol Plugin: Sendable {}

    private final class Editor: Plugin {}

    @Test func `a failed contribution is not taken for the registration of the same service`() async throws {
        struct Window: Sendable {
            let plugin: any Plugin
        }
        struct Menu: Sendable {
            let all: [any Plugin]
        }
        let container = Container {
            Registration((any Plugin).self, lifetime: .singleton) { _ in Editor() }
            Registration((any Plugin).self, lifetime: .singleton) { _ in Editor() }
                .healthCheck { _ in throw Broken() }.intoMany()
            Registration(using: Window.init)
            Registration(using: Menu.init)
        }
        _ = try await container.resolve(Window.self)
        _ = try await container.resolve(Menu.self)
        let report = await container.health(timeout: .seconds(60))
        #expect(report.entries.map(\.affected) == [["[Plugin]", "Menu"]])
    }

    @Test func `a failed instance of a scope affects the services of the scope`() async throws {
        let container = Container(name: "app") {
            Registration(Database.self, lifetime: .scoped) { _ in Database(isBroken: true) }
                .healthCheck { try $0.ping() }
        }
        try await container.withScope("request") {
            Registration(using: Repository.init)
        } operation: { scope in
            _ = try await scope.resolve(Repository.self)
            let report = await scope.health(timeout: .seconds(60))
            #expect(report.entries.map(\.affected) == [["Repository"]])
        }
    }

    @Test func `an instance in a storage is checked, unless its storage has lost it`() async throws {
        let shelf = UserStorage()
        let container = Container {
            Registration(Database.self, lifetime: Lifetime("session", storage: { shelf })) { _ in
                Database(isBroken: true)
            }
            .healthCheck { try $0.ping() }
        }
        #expect(await container.health(timeout: .seconds(60)).entries.isEmpty)
        _ = try await container.resolve(Database.self)
        let report = await container.health(timeout: .seconds(60))
        #expect(report.entries.count == 1 && !report.isHealthy)
        shelf.clear()
        #expect(await container.health(timeout: .seconds(60)).entries.isEmpty)
        try await container.dispose()
    }

    @Test func `a failure names the services that need the instance, the nearest first`() async throws {
        let container = Container {
            database(isBroken: true)
            Registration(using: Repository.init)
            Registration(using: Handler.init)
        }
        _ = try await container.resolve(Handler.self)
        let report = await container.health(timeout: .seconds(60))
        let entry = try #require(report.entries.first)
        #expect(!report.isHealthy && report.entries.count == 1)
        #expect(entry.affected == ["Repository", "Handler"])
        guard case .failed(let error) = entry.status else {
            Issue.record("it failed")
            return
        }
        #expect(error is Broken)
        #expect(report.description.hasSuffix("\(error); needed by Repository, Handler"))
        try await container.dispose()
    }

    @Test func `each instance of a multiton has a check of its own, and checks run side by side`() async throws {
        let arrivals = Gate()
        let container = Container {
            Registration(Database.self, lifetime: .multiton(capacity: 2)) { (_, _: String) in Database() }
                .healthCheck { _ in
                    arrivals.arrive()
                    await arrivals.arrived(2)
                }
        }
        for tenant in ["acme", "globex"] { _ = try await container.resolve(Database.self, arguments: tenant) }
        let report = await container.health(timeout: .seconds(60))
        #expect(report.isHealthy && report.entries.map { "\($0.arguments)" } == ["[\"acme\"]", "[\"globex\"]"])
        // A check is no use: the first one is still the next to go.
        _ = try await container.resolve(Database.self, arguments: "third")
        #expect(Set(await container.cachedArguments(of: Database.self, String.self)) == ["globex", "third"])
        try await container.dispose()
    }

    @Test func `a check that does not return is left behind, and cancelled`() async throws {
        let clock = ManualClock()
        let (hasBegun, isCancelled) = (Gate(), Gate())
        let container = Container(name: "app", clock: clock) {
            Registration(Int.self, instance: 1)
                .healthCheck { _ in
                    hasBegun.arrive()
                    for await _ in AsyncStream(Int.self, { _ in }) {}
                    isCancelled.arrive()
                }
        }
        let report = Task { await container.health(timeout: .seconds(2)) }
        await hasBegun.arrived()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(2))
        let entry = try #require(await report.value.entries.first)
        guard case .timedOut = entry.status else {
            Issue.record("it has not returned")
            return
        }
        #expect(entry.duration == .seconds(2))
        await isCancelled.arrived()
        try await container.dispose()
    }

    @Test func `a check that runs on is not started again before its end`() async throws {
        let (gate, begun) = (Gate(), Counter())
        let clock = ManualClock()
        let container = Container(clock: clock) {
            Registration(Database.self, lifetime: .multiton) { (_, _: String) in Database() }
                .healthCheck { _ in if begun.increment() == 1 { await gate.pass() } }
        }
        _ = try await container.resolve(Database.self, arguments: "a")
        func health() async -> Bool {
            let report = Task { await container.health(timeout: .seconds(1)) }
            await clock.sleepers(reach: 1)
            clock.advance(by: .seconds(1))
            return await report.value.isHealthy
        }
        for _ in 0..<3 { #expect(await !health()) }
        #expect(begun.value == 1)
        // Another instance is checked.
        _ = try await container.resolve(Database.self, arguments: "b")
        let both = Task { await container.health(timeout: .seconds(1)) }
        await clock.sleepers(reach: 1)
        await until { begun.value == 2 }
        clock.advance(by: .seconds(1))
        #expect(await both.value.entries.map(\.isHealthy) == [false, true])
        let waiting = Task { await container.health(timeout: .seconds(1)) }
        await clock.sleepers(reach: 1)
        gate.open()
        #expect(await waiting.value.isHealthy)
        #expect(begun.value == 4)
        #expect(container.core.withState { $0.checks.isEmpty })
        try await container.dispose()
    }

    @Test func `the successor of an instance whose check hangs is checked`() async throws {
        let (gate, made) = (Gate(), Counter())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(made.increment()) }
                .healthCheck { thing in if thing.number == 1 { await gate.pass() } }
        }
        _ = try await container.resolve(Thing.self)
        #expect(await !container.health(timeout: .milliseconds(1)).isHealthy)
        try await container.reset(Thing.self)
        _ = try await container.resolve(Thing.self)
        #expect(await container.health(timeout: .seconds(60)).isHealthy)
        gate.open()
        try await container.dispose()
    }

    @Test func `a cancelled report does not wait for a check that hangs`() async throws {
        let gate = Gate()
        let container = Container {
            Registration(Database.self, instance: Database()).healthCheck { _ in
                gate.arrive()
                await gate.pass()
            }
        }
        let first = Task { await container.health(timeout: .seconds(3_600)) }
        await gate.arrived()
        let second = Task { await container.health(timeout: .seconds(3_600)) }
        second.cancel()
        #expect(await !second.value.isHealthy)
        gate.open()
        #expect(await first.value.isHealthy)
    }

    @Test func `the failure of an instance that was reset meanwhile means nothing`() async throws {
        let mayGoOn = Gate()
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
                .healthCheck { _ in
                    await mayGoOn.pass()
                    throw Broken()
                }
        }
        _ = try await container.resolve(Database.self)
        let report = Task { await container.health(timeout: .seconds(60)) }
        await mayGoOn.arrived()
        try await container.reset(Database.self)
        mayGoOn.open()
        #expect(await report.value.entries.isEmpty)
        try await container.dispose()
    }

    @Test func `the failure of a weak instance means nothing for its successor`() async throws {
        let mayGoOn = Gate()
        let container = Container {
            Registration(Database.self, lifetime: .weak) { _ in Database() }
                .healthCheck { _ in
                    await mayGoOn.pass()
                    throw Broken()
                }
        }
        let first = try await container.resolve(Database.self)
        let report = Task { await container.health(timeout: .seconds(60)) }
        await mayGoOn.arrived()
        try await container.reset(Database.self)
        let second = try await container.resolve(Database.self)
        mayGoOn.open()
        #expect(await report.value.entries.isEmpty)
        withExtendedLifetime((first, second)) {}
        try await container.dispose()
    }

    @Test func `a health check of a graph service is an invalid registration`() async throws {
        let container = Container {
            Registration(Database.self, lifetime: .graph) { _ in Database() }.healthCheck { try $0.ping() }
        }
        await expect(.invalidRegistration) { try await container.resolve(Database.self) }
    }

    @Test func `a given instance that is decorated is checked as it is, before and after the first request`()
        async throws
    {
        let checked = Log<ObjectIdentifier>()
        let database = Database(isBroken: true)
        let container = Container {
            Registration(instance: database).healthCheck { database in
                checked.append(ObjectIdentifier(database))
                try database.ping()
            }
            Decoration(Database.self) { _, _ in Database() }
        }
        #expect(await container.health(timeout: .seconds(60)).entries.map(\.isHealthy) == [false])
        _ = try await container.resolve(Database.self)
        #expect(await container.health(timeout: .seconds(60)).entries.map(\.isHealthy) == [false])
        #expect(checked.entries == [ObjectIdentifier(database), ObjectIdentifier(database)])
    }

    @Test func `thousands of instances that fail are reported with their users, each once`() async throws {
        struct Pool: Sendable { let tenant: Int }
        struct Reader: Sendable {}
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { _, tenant in Pool(tenant: tenant) }
                .healthCheck { _ in
                    await Task.yield()
                    throw Broken()
                }
            for number in 0..<300 {
                Registration(Reader.self, qualifier: "\(number)", lifetime: .singleton) { _ in Reader() }
                    .dependencies(Provider<Pool>.self)
            }
        }
        for tenant in 0..<8000 { _ = try await container.resolve(Pool.self, arguments: tenant) }
        let report = await container.health(timeout: .seconds(600))
        #expect(report.entries.count == 8000)
        #expect(report.entries.allSatisfy { $0.affected.count == 300 && !$0.isHealthy })
    }
}
