import Testing

@testable import AsyncDI

/// The body of a `withScope` in the graph of waits: the leases of the scope's instances end after it.
@Suite(.timeLimit(.minutes(10))) struct ScopeBodyTests {
    private final class Pool: Sendable {}
    private final class UnitOfWork: Sendable {}
    private final class Report: Sendable {}

    private static func container(_ report: DrivenFactory<Void>? = nil) -> Container {
        Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }.onDispose { _ in }
            Registration(UnitOfWork.self, lifetime: .scoped) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                return UnitOfWork()
            }
            Registration(Report.self, lifetime: .singleton) { r in
                try await report?.run()
                _ = try await r.resolve(Pool.self, arguments: "a")
                return Report()
            }
        }
    }

    @Test func `a singleton that needs the successor of an instance leased in the scope is refused`() async throws {
        let container = Self.container()
        try await container.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            await expect(.circularDependency) { _ = try await container.resolve(Report.self) }
        }
        _ = try await container.resolve(Report.self)
        try await container.dispose()
    }

    @Test func `a body that waits already when its scope takes the lease is refused`() async throws {
        let factory = DrivenFactory<Void>()
        let container = Self.container(factory)
        try await container.withScope { scope in
            let report = Task { try await container.resolve(Report.self) }
            await factory.began()
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            factory.answer(())
            await expect(.circularDependency) { _ = try await report.value }
        }
        try await container.dispose()
    }

    @Test func `a lease that a scope takes while its body waits for the successor is noticed`() async throws {
        let factory = DrivenFactory<Void>()
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in Pool() }.onDispose { _ in }
            Registration(UnitOfWork.self, lifetime: .scoped) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                try await factory.run()
                return UnitOfWork()
            }
            Registration(Report.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Pool.self, arguments: "a")
                return Report()
            }
        }
        try await container.withScope { scope in
            async let unit = scope.resolve(UnitOfWork.self)
            await factory.began()
            try await container.reset(Pool.self, arguments: "a")
            await expect(.circularDependency) { _ = try await container.resolve(Report.self) }
            factory.answer(())
            _ = try await unit
        }
        try await container.dispose()
    }

    @Test func `a body that joins the creation is refused, and its first request waits for the scope`() async throws {
        let container = Self.container()
        let outside = Locked<Task<Report, any Error>?>(nil)
        try await container.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            let task = Task.detached { try await container.resolve(Report.self) }
            outside.withLock { $0 = task }
            await until { container.core.withState { $0.flights.entries.count } == 2 }
            await expect(.circularDependency) { _ = try await container.resolve(Report.self) }
            #expect(container.core.withState { $0.flights.entries.count } == 2)
        }
        let task = try #require(outside.withLock { $0 })
        _ = try await task.value
        try await container.dispose()
    }

    @Test func `a scope inside the body belongs to it, and so does the body of a withInstance`() async throws {
        let container = Self.container()
        try await container.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            try await scope.withScope { _ in
                _ = await expect(.circularDependency) { _ = try await container.resolve(Report.self) }
            }
            try await container.withScope { _ in
                _ = await expect(.circularDependency) { _ = try await container.resolve(Report.self) }
            }
        }
        try await container.withScope { scope in
            try await scope.withInstance(Pool.self, arguments: "b") { _ in
                _ = try await scope.resolve(UnitOfWork.self)
                try await container.reset(Pool.self, arguments: "a")
                await expect(.circularDependency) { _ = try await container.resolve(Report.self) }
                try await scope.withScope { _ in
                    _ = await expect(.circularDependency) { _ = try await container.resolve(Report.self) }
                }
            }
        }
        try await container.dispose()
    }

    @Test func `the body of a scope that a factory opens belongs to the factory`() async throws {
        let inner = Self.container()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { r in
                try await inner.withScope { scope in
                    _ = try await scope.resolve(UnitOfWork.self)
                    try await inner.reset(Pool.self, arguments: "a")
                    await expect(.circularDependency) { _ = try await inner.resolve(Report.self) }
                    await expect(.circularDependency) { _ = try await r.resolve(Thing.self) }
                }
                return Thing()
            }
        }
        _ = try await container.resolve(Thing.self)
        try await container.dispose()
        try await inner.dispose()
    }

    @Test func `a singleton is created once the holder of the lease has been reset`() async throws {
        let container = Self.container()
        try await container.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            try await scope.reset(UnitOfWork.self)
            _ = try await container.resolve(Report.self)
        }
        try await container.dispose()
    }

    @Test func `a task that outlives the body waits for the end of the scope`() async throws {
        let container = Self.container()
        let gate = Gate()
        let task = try await container.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            return Task {
                await gate.pass()
                return try await container.resolve(Report.self)
            }
        }
        gate.open()
        _ = try await task.value
        try await container.dispose()
    }

    @Test(arguments: [Lifetime.transient, .graph, .scoped])
    func `a request through another service in a scope inside a lease belongs to the scope`(
        lifetime: Lifetime
    ) async throws {
        let container = Self.container()
        try await container.register(Thing.self, lifetime: lifetime) { r in
            _ = try await r.resolve(Report.self)
            return Thing()
        }
        try await container.withInstance(Pool.self, arguments: "b") { _ in
            try await container.withScope { scope in
                _ = try await scope.resolve(UnitOfWork.self)
                try await container.reset(Pool.self, arguments: "a")
                await expect(.circularDependency) { _ = try await scope.resolve(Thing.self) }
            }
        }
        try await container.dispose()
    }

    /// How a scope is opened.
    enum Opening: CaseIterable, Sendable { case withScope, openScope, ownedScope }

    @Test(arguments: Opening.allCases)
    func `a hook at the end of the scope cannot wait for the end of the scope's lease`(opening: Opening) async throws {
        let container = Self.container()
        let refusals = Log<ResolutionError.Code>()
        try await container.register(
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }
                .onDispose { _ in
                    do {
                        _ = try await container.resolve(Report.self)
                    } catch let error as ResolutionError {
                        refusals.append(error.code)
                    }
                })
        @Sendable func work(in scope: Container) async throws {
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            // Disposed before the unit of work.
            _ = try await scope.resolve(Thing.self)
        }
        switch opening {
        case .withScope:
            try await container.withScope { scope in try await work(in: scope) }
        case .openScope:
            let scope = try await container.openScope("by hand")
            try await work(in: scope)
            try await scope.dispose()
        case .ownedScope:
            let scope = try OwnedScope(in: container)
            try await work(in: scope.container)
            try await scope.end()
        }
        #expect(refusals.entries == [.circularDependency])
        try await container.dispose()
    }

    // MARK: Other waits

    @Test func `a drain in the body is refused when the scope takes the lease meanwhile`() async throws {
        let (pools, units) = (DrivenFactory<Void>(), DrivenFactory<Void>())
        let container = Container {
            Registration(Pool.self, lifetime: .multiton) { (_, _: String) in
                try await pools.run()
                return Pool()
            }
            .onDispose { _ in }
            Registration(UnitOfWork.self, lifetime: .scoped) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                try await units.run()
                return UnitOfWork()
            }
        }
        try await container.withScope { scope in
            let unit = Task { try await scope.resolve(UnitOfWork.self) }
            await pools.began()
            let drain = Task { try await container.drain(Pool.self, arguments: "a") }
            await until {
                container.core.withState { state in state.flights.entries.contains { $0.value.isInvalidated } }
            }
            pools.answer(())
            await units.began()
            await expect(.invalidOperation) { try await drain.value }
            units.answer(())
            _ = try await unit.value
        }
        try await container.dispose()
    }

    @Test func `a drain of a key in the body is refused, and the instance stays`() async throws {
        let container = Self.container()
        try await container.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            let pool = try await container.resolve(Pool.self, arguments: "a")
            let error = await expect(.invalidOperation) {
                try await container.drain(Pool.self, arguments: "a")
            }
            #expect(error?.description.contains("the body of container \"scope\" drains Pool(String)") == true)
            #expect(try await container.resolve(Pool.self, arguments: "a") === pool)
            try await container.drain(Pool.self, arguments: "b")
        }
        try await container.drain(Pool.self, arguments: "a")
        try await container.dispose()
    }

    @Test func `a disposal of another container whose instance the scope leases is refused in the body`() async throws {
        let pools = Self.container()
        let app = Container(fallbacks: [pools]) {
            Registration(Thing.self, lifetime: .scoped) { r in
                _ = try await r.lease(Pool.self, arguments: "a")
                return Thing()
            }
        }
        try await app.withScope { scope in
            _ = try await scope.resolve(Thing.self)
            let error = await expect(.invalidOperation) { try await pools.dispose() }
            #expect(error?.description.contains("the body of a withScope disposes") == true)
        }
        try await pools.dispose()
        try await app.dispose()
    }

    @Test func `a body may dispose the container, also while a reset waits for the scope's lease`() async throws {
        let container = Self.container()
        try await container.withScope { scope in
            _ = try await scope.resolve(UnitOfWork.self)
            try await container.reset(Pool.self, arguments: "a")
            try await container.dispose()
        }
        await expect(.disposed) { try await container.resolve(Report.self) }
    }
}
