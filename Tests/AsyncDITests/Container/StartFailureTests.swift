import Testing

@testable import AsyncDI

/// A start that fails: the service that failed, and the remains of the start.
@Suite(.timeLimit(.minutes(10))) struct StartFailureTests {
    private struct Database: Sendable {}
    private struct Catalogue: Sendable {}
    private struct Cache: Sendable {}
    private struct Mailer: Sendable {}

    @Test func `the services that failed are named beside the factory's error, which is thrown unchanged`()
        async throws
    {
        let isBroken = Locked(true)
        let container = Container {
            Registration(Mailer.self, lifetime: .singleton) { _ in Mailer() }.eager()
            Registration(Database.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Mailer.self)
                if isBroken.withLock({ $0 }) { throw TestError(7) }
                return Database()
            }
            Registration(Catalogue.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Catalogue()
            }
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Mailer.self)
                _ = try await resolver.resolve(Catalogue.self)
                return Cache()
            }
            .eager()
        }
        #expect(container.startFailure == nil)
        await #expect(throws: TestError(7)) { try await container.start() }
        let failure = try #require(container.startFailure)
        #expect(failure.underlying as? TestError == TestError(7))
        #expect(failure.path.map(\.description) == ["Cache", "Catalogue", "Database"])
        #expect(failure.service?.description == "Database")
        #expect(failure.module == nil)
        #expect(failure.report.services.filter(\.isCreated).map { "\($0.key)" } == ["Mailer"])
        #expect("\(failure)".hasPrefix("start failed after "))
        #expect("\(failure)".hasSuffix(": Cache → Catalogue → Database: \(TestError(7))"))

        isBroken.withLock { $0 = false }
        try await container.start()
        #expect(container.startFailure == nil)
        try await container.dispose()
    }

    @Test(arguments: [false, true])
    func `a failure that a factory handles is not the origin of its own`(isHandled: Bool) async throws {
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in throw TestError(7) }
            Registration(Cache.self, lifetime: .singleton) { resolver in
                do { _ = try await resolver.resolve(Database.self) } catch {
                    if !isHandled { throw error }
                }
                throw TestError(8)
            }
            .eager()
        }
        await #expect(throws: TestError(isHandled ? 8 : 7)) { try await container.start() }
        #expect(container.startFailure?.path.map(\.description) == (isHandled ? ["Cache"] : ["Cache", "Database"]))
        try await container.dispose()
    }

    @Test func `a service of the parent that failed is named`() async throws {
        let parent = Container {
            Registration(Database.self, lifetime: .singleton) { _ in
                await Task.yield()
                throw TestError(7)
            }
        }
        let child = Container(parent: parent) {
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Cache()
            }
            .eager()
        }
        await #expect(throws: TestError(7)) { try await child.start() }
        #expect(child.startFailure?.path.map(\.description) == ["Cache", "Database"])
        try await parent.dispose()
    }

    @Test func `a service that failed behind a service of the parent is named`() async throws {
        let parent = Container {
            Registration(Database.self, lifetime: .singleton) { _ in throw TestError(7) }
            Registration(Mailer.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Mailer()
            }
        }
        let child = Container(parent: parent) {
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Mailer.self)
                return Cache()
            }
            .eager()
        }
        await #expect(throws: TestError(7)) { try await child.start() }
        #expect(child.startFailure?.path.map(\.description) == ["Cache", "Mailer", "Database"])
        try await parent.dispose()
    }

    /// A container whose start fails once its `Catalogue` has been created, and counts its disposed databases.
    private func failing(
        _ disposed: Locked<Int>, catalogue: @escaping @Sendable () async throws -> Void
    ) -> Container {
        Container {
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
                .onDispose { _ in disposed.withLock { $0 += 1 } }
            Registration(Catalogue.self, lifetime: .singleton) { _ in
                try await catalogue()
                return Catalogue()
            }
            .eager()
            Registration(Mailer.self, lifetime: .singleton) { resolver in
                while (try? resolver.ready(Catalogue.self)) == nil { await Task.yield() }
                throw TestError(7)
            }
            .eager()
        }
    }

    private func child(of parent: Container) -> Container {
        Container(parent: parent) {
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Cache()
            }
            .eager()
        }
    }

    @Test func `a failed start disposes what the start of a container made in one of its factories created`()
        async throws
    {
        let disposed = Locked(0)
        let place = Locked<Container?>(nil)
        let app = failing(disposed) {
            guard let app = place.withLock({ $0 }) else { return }
            try await self.child(of: app).start()
        }
        place.withLock { $0 = app }
        defer { place.withLock { $0 = nil } }
        await #expect(throws: TestError(7)) { try await app.start() }
        #expect(disposed.withLock { $0 } == 1)
        try await app.dispose()
        #expect(disposed.withLock { $0 } == 1)
    }

    @Test func `a failed start leaves what the start of another container created`() async throws {
        let disposed = Locked(0)
        let mayEnd = Gate()
        let app = failing(disposed) { await mayEnd.pass() }
        let start = Task { try await app.start() }
        await mayEnd.arrived()
        try await child(of: app).start()
        mayEnd.open()
        await #expect(throws: TestError(7)) { _ = try await start.value }
        #expect(disposed.withLock { $0 } == 0)
        try await app.dispose()
        #expect(disposed.withLock { $0 } == 1)
    }

    @Test func `a missing registration leads to the service that needs it`() async throws {
        let container = Container {
            Registration(Cache.self, lifetime: .singleton) { resolver in
                _ = try await resolver.resolve(Database.self)
                return Cache()
            }
            .eager()
        }
        await expect(.notRegistered) { try await container.start() }
        #expect(container.startFailure?.path.map(\.description) == ["Cache"])
        try await container.dispose()
    }

    @Test func `a module that fails is named`() async throws {
        struct Working: Module {
            var registrations: Registrations { Registration(instance: Mailer()) }
        }
        struct Failing: Module {
            var registrations: Registrations { Registration(instance: Cache()) }
            func loaded(_ resolver: Resolver) async throws { throw TestError(3) }
        }
        let container = Container {
            Working()
            Failing()
        }
        await #expect(throws: TestError(3)) { try await container.start() }
        let failure = try #require(container.startFailure)
        #expect(failure.module == Failing.self)
        #expect(failure.path.isEmpty)
        #expect("\(failure)".hasSuffix(": the loading of Failing: \(TestError(3))"))
        try await container.dispose()
    }

    @Test func `a start that fails clears the storages that it filled, and no others`() async throws {
        let storages = Log<StrongStorage>()
        let kept = Lifetime("kept") {
            let storage = StrongStorage()
            storages.append(storage)
            return storage
        }
        let log = Log<String>()
        let container = Container {
            Registration(Int.self, lifetime: kept) { _ in 1 }
                .onDispose { _, reason in log.append("Int \(reason.error.map { "\($0)" } ?? "done")") }
            Registration(Double.self, lifetime: kept) { _ in 0.5 }
            Registration(String.self, lifetime: kept) { _ in "earlier" }
                .onDispose { _ in log.append("String") }
            Registration(Cache.self, lifetime: kept) { resolver in
                _ = try await resolver.resolve(String.self)
                _ = try await resolver.resolve(Int.self)
                _ = try await resolver.resolve(Double.self)
                throw TestError(5)
            }
            .eager()
        }
        _ = try await container.resolve(String.self)
        await #expect(throws: TestError(5)) { try await container.start() }
        #expect(log.entries == ["Int \(TestError(5))"])
        #expect(storages.entries.compactMap { $0.load() as? String } == ["earlier"])
        #expect(storages.entries.filter { $0.load() != nil }.count == 1)
        try await container.dispose()
        #expect(log.entries.suffix(1) == ["String"])
    }

    private struct WiringError: Error {
        let cause: any Error
    }

    @Test(arguments: [false, true], [false, true])
    func `a container whose start failed is freed, although the error leads back to it`(
        isScope: Bool, isDisposed: Bool
    ) async throws {
        @RegistrationBuilder func registrations() -> Registrations {
            Registration(Cache.self, lifetime: .singleton) { resolver in
                do {
                    _ = try await resolver.resolve(Database.self)
                } catch {
                    throw WiringError(cause: error)
                }
                return Cache()
            }
            .eager()
        }
        weak var core: ContainerCore?
        do {
            let root = Container()
            let container = isScope ? try await root.openScope("s") { registrations() } : Container { registrations() }
            core = container.core
            await #expect(throws: WiringError.self) { try await container.start() }
            #expect(container.startFailure != nil)
            if isDisposed {
                try await container.dispose()
                #expect(container.startFailure != nil)
            }
        }
        while core != nil { await Task.yield() }
    }

    @Test func `a start that is refused is the latest one`() async throws {
        let isBroken = Locked(true)
        let container = Container {
            Registration(Database.self, lifetime: .singleton) { _ in
                if isBroken.withLock({ $0 }) { throw TestError(7) }
                return Database()
            }
            .eager()
        }
        await #expect(throws: TestError(7)) { try await container.start() }
        try await container.dispose()
        await expect(.disposed) { try await container.start() }
        #expect((container.startFailure?.underlying as? ResolutionError)?.code == .disposed)

        let invalid = Container {
            Registration(Database.self, lifetime: .transient) { _ in Database() }.onDispose { _ in }
        }
        await expect(.invalidRegistration) { try await invalid.start() }
        #expect((invalid.startFailure?.underlying as? ResolutionError)?.code == .invalidRegistration)
        #expect(invalid.startFailure?.path.isEmpty == true)
    }

    @Test func `an invalid registration of the initializer can be repaired`() async throws {
        func container() -> Container {
            Container { Registration(Database.self, lifetime: .transient) { _ in Database() }.onDispose { _ in } }
        }
        let (replaced, removed) = (container(), container())
        await #expect(throws: ValidationError.self) { try await replaced.validate() }
        try await replaced.register(Database.self, lifetime: .singleton) { _ in Database() }
        try await replaced.validate()
        try await replaced.start()
        await removed.unregisterAll()
        try await removed.validate()
        try await removed.start()
        let forwarding = Container {
            Registration(Database.self, lifetime: .transient) { _ in Database() }
                .implements((any Sendable).self).onDispose { _ in }
        }
        try await forwarding.register(Database.self, lifetime: .transient) { _ in Database() }
        try await forwarding.start()
        _ = try await forwarding.resolve((any Sendable).self)
        let overridden = Container {
            Registration(Database.self, lifetime: .transient) { _ in Database() }.onDispose { _ in }
            Registration(Database.self, lifetime: .singleton) { _ in Database() }
        }
        try await overridden.validate()
        let rejected = Container(onDuplicate: .reject) {
            Registration(Database.self) { _ in Database() }
            Registration(Database.self) { _ in Database() }
        }
        await expect(.duplicateRegistration) { try await rejected.start() }
    }

    @Test func `a start that is cancelled blames no service`() async throws {
        struct Slow: Sendable {}
        let begun = Gate()
        let container = Container {
            Registration(Slow.self, lifetime: .singleton) { _ in
                begun.arrive()
                try await untilCancelled()
                return Slow()
            }
            .eager()
        }
        let start = Task { try await container.start() }
        await begun.arrived()
        start.cancel()
        await #expect(throws: CancellationError.self) { try await start.value }
        #expect(container.startFailure?.path.isEmpty == true)
        #expect(container.startFailure?.service == nil)
    }
}
