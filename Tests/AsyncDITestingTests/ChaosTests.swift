import AsyncDI
import Testing

@testable import AsyncDITesting

private final class Connection: Sendable {
    let isClosed = Locked(false)
    func close() { isClosed.withLock { $0 = true } }
}

private struct Store: Sendable {
    let connection: Connection
}

private struct Job: Sendable {
    let store: Store
    let pool: Pool
}

private actor Pool {
    let tenant: String
    init(_ tenant: String) { self.tenant = tenant }
}

private struct StoreModule: Module {
    var registrations: Registrations {
        Registration(Connection.self, lifetime: .singleton) { _ in Connection() }.onDispose { $0.close() }
        Registration(Store.self, lifetime: .singleton) { r in Store(connection: try await r.resolve()) }
            .onCreate { _, _ in }
        Registration(Pool.self, lifetime: .multiton(capacity: 2)) { _, tenant in Pool(tenant) }.onDispose { _ in }
        Registration(Job.self, lifetime: .scoped) { r in
            Job(store: try await r.resolve(), pool: try await r.lease(Pool.self, arguments: "acme"))
        }
        .onDispose { _, _ in }
    }
}

@Suite(.timeLimit(.minutes(10)), .container { StoreModule() })
struct ChaosTests {
    @Test func `a registration without a hook may hide one that has a hook`() async throws {
        try await withChaos(seed: 1, rounds: 3, faults: []) { container in
            try await container.withScope("user") { scope in _ = try await scope.resolve(Job.self) }
            try await container.withScope("guest") {
                Registration(Job.self, lifetime: .scoped) { r in
                    Job(store: try await r.resolve(), pool: Pool("guest"))
                }
            } operation: { scope in
                _ = try await scope.resolve(Job.self)
            }
        }
    }

    @Test func `scopes, leases and singletons keep their promises in chaos`() async throws {
        let calls = Log<Int>()
        try await withChaos(seed: 1, rounds: 150) { container in
            await withTaskGroup { group in
                for number in 0..<12 {
                    group.addTask {
                        calls.append(number)
                        _ = try? await container.withScope("job \(number)") { scope in
                            _ = try await scope.resolve(Job.self)
                            try await scope.withInstance(Pool.self, arguments: "\(number % 4)") { _ in
                                await Task.yield()
                            }
                        }
                    }
                }
            }
        }
        #expect(calls.all.count == 150 * 12)
    }

    @Test(arguments: [true, false])
    func `an override that only rounds of chaos resolve is used`(isInstance: Bool) async throws {
        let found = Log<TestReport>()
        let base = Registrations { Registration(String.self, instance: "real") }
        let override = Registrations {
            if isInstance {
                Registration(String.self, instance: "fake")
            } else {
                Registration(String.self) { _ in "fake" }
            }
        }
        let session = TestSession(
            [
                TestSession.Layer(registrations: base, isOfTest: false),
                TestSession.Layer(registrations: override, isOfTest: true),
            ], TestContainerOption.Values([]), testID: nil,
            again: {
                Registrations {
                    base
                    override
                }
            }, report: { found.append($0) })
        try await session.run { _ in
            try await withChaos(seed: 1, rounds: 1, faults: []) { container in
                let text = try await container.resolve(String.self)
                #expect(text == "fake")
            }
        }
        #expect(found.all.isEmpty)
    }

    @Test func `an object with two owners, and addresses that are used again, are no second disposals`() async throws {
        try await withChaos(seed: 1, rounds: 3, faults: []) {
            let pool = Pool("")
            Registration(Pool.self, lifetime: .scoped) { _ in pool }.onDispose { _ in }
        } operation: { container in
            try await container.withScope { outer in
                _ = try await outer.resolve(Pool.self)
                try await outer.withScope { _ = try await $0.resolve(Pool.self) }
            }
            for number in 0..<100 {
                try await container.withScope {
                    Registration(Pool.self, qualifier: "\(number % 2)", instance: Pool("")).onDispose { _ in }
                    Registration(Connection.self, lifetime: .scoped) { _ in Connection() }.onDispose { $0.close() }
                } operation: {
                    _ = try await $0.resolve(Connection.self)
                }
            }
        }
    }

    @Test func `an inherited scoped service that a scope decorates is not created twice`() async throws {
        try await withChaos(seed: 1, rounds: 60, faults: [.throwsError, .suspends]) {
            Registration(Pool.self, lifetime: .scoped) { _ in Pool("") }.onCreate { _, _ in }.onDispose { _ in }
        } operation: { container in
            for _ in 0..<3 {
                try? await container.withScope {
                    Decoration(Pool.self) { _, _ in Pool("decorated") }
                } operation: { scope in
                    for _ in 0..<5 where (try? await scope.resolve(Pool.self)) != nil { break }
                }
            }
        }
    }

    @Test func `singletons that are reset in chaos are disposed once each`() async throws {
        try await withChaos(seed: 1, rounds: 50, resets: true) { container in
            await withTaskGroup { group in
                for number in 0..<12 {
                    group.addTask {
                        _ = try? await container.resolve(Store.self)
                        if number % 4 == 3 { try? await container.reset(Connection.self) }
                    }
                }
            }
        }
    }

    @Test(
        .container(.defaultLifetime(.singleton)) {
            Registration(Connection.self) { _ in Connection() }.onDispose { $0.close() }
        })
    func `rounds have the default lifetime of the test's container`() async throws {
        try await withChaos(seed: 1, rounds: 3, faults: []) { container in
            let first = try await container.resolve(Connection.self)
            #expect(try await container.resolve(Connection.self) === first)
        }
        try await withChaos(seed: 1, rounds: 3, faults: [], defaultLifetime: .singleton) {
            Registration(Connection.self) { _ in Connection() }.onDispose { $0.close() }
        } operation: { container in
            _ = try await container.resolve(Connection.self)
        }
    }

    @Test func `registrations that cannot be evaluated again are an error with advice`() async throws {
        let error = await #expect(throws: TestContainerError.self) {
            try await withTestContainer {
                StoreModule()
            } operation: { _ in
                try await withChaos(seed: 1, rounds: 1) { _ in }
            }
        }
        #expect(error?.description.contains("Pass them to withChaos") == true)
    }

    @Test func `a round is repeated by its seed`() async throws {
        func plan(_ seed: UInt64) async -> [String]? {
            let error = await #expect(throws: ChaosFailure.self) {
                try await withChaos(seed: seed, rounds: 1) { container in
                    for _ in 0..<20 {
                        try? await container.withScope { _ = try await $0.resolve(Job.self) }
                    }
                    throw TestError(number: 3)
                }
            }
            #expect(error?.description.contains("The body threw what was not planned: TestError(number: 3)") == true)
            #expect(error?.description.contains("withChaos(seed: \(seed), rounds: 1)") == true)
            return error?.plan
        }
        let first = await plan(5)
        #expect(first?.isEmpty == false)
        #expect(await plan(5) == first)
        #expect(await plan(6) != first)
    }

    @Test func `every fault happens`() async throws {
        let plan = ChaosPlan(seed: 3, faults: Set(ChaosFault.allCases))
        let faults = (0..<400).map { plan.fault("Store factory", number: $0)?.fault }
        for fault in ChaosFault.allCases { #expect((20...90).contains(faults.count { $0 == fault })) }
        #expect((140...260).contains(faults.count { $0 == nil }))
        #expect(ChaosPlan(seed: 3, faults: []).fault("Store factory", number: 0) == nil)
    }

    @Test(arguments: [(true, "has not ended within"), (false, "the onDispose of Pool")])
    func `a body or a disposal that hangs fails its round, with its waits`(isBody: Bool, problem: String) async throws {
        let (gate, clock) = (Gate(), HeldClock())
        let hang: @Sendable () async -> Void = {
            clock.letGo()
            await gate.wait()
        }
        let error = await #expect(throws: ChaosFailure.self) {
            try await Patience.$clock.withValue(clock) {
                try await withChaos(seed: 1, rounds: 1, faults: []) {
                    Registration(Pool.self, lifetime: .singleton) { _ in
                        if isBody { await hang() }
                        return Pool("late")
                    }
                    .onDispose { _ in if !isBody { await hang() } }
                } operation: { container in
                    _ = try await container.resolve(Pool.self)
                }
            }
        }
        gate.open()
        #expect(error?.problems.first?.contains(problem) == true)
    }

    @Test func `planned errors may leave the body, and all kinds of them do`() async throws {
        let errors = Log<String>()
        try await withChaos(seed: 1, rounds: 60) { container in
            do {
                try await container.withScope { _ = try await $0.resolve(Job.self) }
            } catch {
                errors.append("\(type(of: error))")
                throw error
            }
        }
        #expect(Set(errors.all).isSuperset(of: ["ChaosError"]))
        #expect(errors.all.count > 10)
    }
}

/// The checks, with containers that break their promises.
@Suite(.timeLimit(.minutes(10)))
struct ChaosRecordTests {
    private let key: ServiceKey
    private let site: RegistrationSite?

    init() {
        let entry = Registrations { Registration(Pool.self, lifetime: .singleton) { _ in Pool("") } }.entries[0]
        (key, site) = (entry.key, entry.site)
    }

    private func call(_ kind: InterceptedCall.Kind, _ lifetime: Lifetime = .singleton) async throws -> InterceptedCall {
        final class Catcher: ContainerInterceptor {
            let calls = Log<InterceptedCall>()
            var wantedEvents: ContainerEvent.Kinds { [] }
            nonisolated(nonsending) func willRun(_ call: InterceptedCall) async throws { calls.append(call) }
        }
        let catcher = Catcher()
        let container = Container(observers: [catcher]) {
            Registration(Pool.self, lifetime: lifetime) { _ in Pool("") }.onDispose { _ in }
        }
        _ = try await container.resolve(Pool.self)
        try await container.dispose()
        return try #require(catcher.calls.all.first { $0.kind == kind })
    }

    private func created() -> ContainerEvent { .created(key, duration: .zero, waiters: 1) }

    /// A factory has returned an instance, which is cached.
    private func create(
        by factory: InterceptedCall, arguments: [AnyHashable] = [], in container: UInt64, _ record: inout ChaosRecord
    ) {
        record.noteReturn(of: factory)
        record.happen(created(), arguments: arguments, in: container)
    }

    @Test func `a record of a correct run has no problem`() async throws {
        var record = ChaosRecord()
        let (factory, hook) = (try await call(.factory), try await call(.disposalHook))
        let pool = Pool("")
        record.begin(factory)
        record.make(key, ObjectIdentifier(pool))
        record.end(factory)
        record.happen(created(), arguments: [], in: 1)
        record.begin(hook)
        record.close(hook, ObjectIdentifier(pool))
        record.end(hook)
        record.happen(.disposed(key), arguments: [], in: 1)
        record.check()
        #expect(record.problems.isEmpty)
    }

    @Test func `two factories at once`() async throws {
        var record = ChaosRecord()
        let factory = try await call(.factory)
        record.begin(factory)
        record.begin(factory)
        #expect(record.problems == ["Pool was being created twice at once in one container."])
    }

    @Test func `two instances in one container`() async throws {
        var record = ChaosRecord()
        let factory = try await call(.factory)
        record.begin(factory)
        for _ in 0..<2 { create(by: factory, in: 1, &record) }
        record.check()
        #expect(record.problems.contains("Pool was created twice in one container."))
    }

    @Test func `an instance is one of its container, until it is evicted or disposed`() async throws {
        for lifetime in [Lifetime.singleton, .scoped] {
            var record = ChaosRecord()
            let factory = try await call(.factory, lifetime)
            record.begin(factory)
            create(by: factory, in: 1, &record)
            create(by: factory, in: 2, &record)
            record.happen(.evicted(key), arguments: [], in: 1)
            create(by: factory, in: 1, &record)
            record.happen(.disposed(key), arguments: [], in: 2)
            create(by: factory, in: 2, &record)
            create(by: factory, arguments: [1], in: 2, &record)
            var earlier = record
            earlier.check()
            #expect(!earlier.problems.contains { $0.contains("twice") })
            create(by: factory, arguments: [1], in: 2, &record)
            record.check()
            #expect(record.problems.count { $0.contains("twice") } == 1)
        }
    }

    @Test func `a multiton, and a service that is one elsewhere, may be created again without an eviction`()
        async throws
    {
        var record = ChaosRecord()
        record.begin(try await call(.factory))
        record.begin(try await call(.factory, .multiton))
        let factory = try await call(.factory, .multiton)
        for _ in 0..<2 { create(by: factory, in: 1, &record) }
        record.check()
        #expect(!record.problems.contains { $0.contains("twice") })
    }

    @Test func `an instance that is disposed twice, and one that is not disposed`() async throws {
        var record = ChaosRecord()
        let hook = try await call(.disposalHook)
        let pool = Pool("")
        // A factory may return one object twice, which is then two instances.
        for _ in 0..<2 { record.make(key, ObjectIdentifier(pool)) }
        for _ in 0..<2 { record.close(hook, ObjectIdentifier(pool)) }
        #expect(record.problems.isEmpty)
        record.close(hook, ObjectIdentifier(pool))
        #expect(record.problems == ["An instance of Pool was disposed twice."])
        record = ChaosRecord()
        record.happen(created(), arguments: ["1"], in: 1)
        record.check()
        #expect(record.problems == ["Pool was created 1 times and disposed 0 times."])
    }

    @Test func `a hook that did not run, and an error that was lost`() async throws {
        var record = ChaosRecord()
        let factory = try await call(.factory)
        record.begin(factory)
        record.begin(try await call(.disposalHook))
        create(by: factory, in: 1, &record)
        record.happen(.disposed(key), arguments: [], in: 1)
        record.inject("fails", into: try await call(.factory), isError: true)
        record.check()
        #expect(record.problems.count == 2)
        #expect(record.problems.contains("1 errors of Pool were thrown, and observers were told of 0."))
        #expect(record.problems.contains("Pool was disposed 1 times, and its onDispose ran 0 times."))
    }
}
