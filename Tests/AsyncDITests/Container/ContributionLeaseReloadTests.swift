import Testing

@testable import AsyncDI

/// Leases of contributions that are replaced meanwhile.
@Suite(.timeLimit(.minutes(10))) struct ContributionLeaseReloadTests {
    private typealias Handler = ContributedHandler

    private let handler = HandlerContributor()
    private var closed: Log<String> { handler.closed }
    /// Opened when the factory of a ``waitingHandler(then:)`` begins, which then waits for the other one.
    private let began = Gate()
    private let mayGo = Gate()

    private func waitingHandler(
        then work: @escaping @Sendable (Resolver) async throws -> Void = { _ in }
    ) -> Registration<Handler> {
        handler("b", as: "b") { [began, mayGo] r in
            began.open()
            await mayGo.pass()
            try await work(r)
        }
    }

    /// Resets the handlers, and returns the reset when it waits for a lease.
    private func resetAll(in container: Container) async -> Task<Void, any Error> {
        let reset = Task.detached { try await container.reset(Handler.self) }
        await until { container.core.withState { !$0.leases.pending { _ in true }.isEmpty } }
        return reset
    }

    /// Whether a creation waits for the disposal of an instance of this container; the graph of waits has those of all.
    private func isAwaitingDisposal(in container: Container) -> Bool {
        Waits.all().contains { ($0.to as? Disposable)?.home === container.core }
    }

    private enum Caller { case body, factory, detachedTaskOfFactory }

    @Test(arguments: [Caller.body, .factory, .detachedTaskOfFactory])
    private func `a contribution may need the successor of one that is leased with it`(caller: Caller) async throws {
        let container = Container {
            handler("a", as: "a")
            waitingHandler { r in _ = try await r.lease(Handler.self, contributedAs: "a") }
            Registration(Int.self, lifetime: .singleton) { r in
                if caller == .factory { return try await r.leaseMany(Handler.self).count }
                return try await Task.detached { try await r.leaseMany(Handler.self).count }.value
            }
        }
        try await container.withInstance(Handler.self, contributedAs: "a") { _ in }
        let job = Task {
            if caller != .body { return try await container.resolve(Int.self) }
            return try await container.withInstances(Handler.self) { $0.count }
        }
        await began.pass()
        let reset = await resetAll(in: container)
        mayGo.open()
        // The disposal of the leased one would wait for the job, and the job for the disposal.
        #expect(try await job.value == 2)
        if caller == .body { await until { closed.entries.contains("a") } }
        try await container.dispose()
        try? await reset.value
        #expect(closed.entries.filter { $0 == "a" }.count == 2)
    }

    @Test func `a successor that already waits is decided on again when a body takes its lease over late`()
        async throws
    {
        let mayMake = Gate()
        let container = Container {
            handler("a", as: "a") { _ in await mayMake.pass() }
            waitingHandler { r in _ = try await r.lease(Handler.self, contributedAs: "a") }
        }
        let executor = HeldTaskExecutor()
        let job = Task(executorPreference: executor) {
            try await container.withInstances(Handler.self) { $0.map(\.name) }
        }
        while mayMake.arrivals == 0 || mayGo.arrivals == 0 || executor.runJobs() {
            executor.runJobs()
            await Task.yield()
        }
        mayMake.open()
        await until { container.core.withState { !$0.leases.isEmpty } }
        // The first handler is leased, but the task that asked for it has not run since.
        let reset = await resetAll(in: container)
        mayGo.open()
        await until { isAwaitingDisposal(in: container) }
        let isOver = Counter()
        let pump = Task.detached {
            while isOver.value == 0 {
                executor.runJobs()
                await Task.yield()
            }
        }
        let names = try await {
            defer { isOver.increment() }
            return try await finishes { try await job.value }
        }()
        await pump.value
        #expect(names == ["a", "b"])
        try await reset.value
        try await container.dispose()
        #expect(closed.entries.filter { $0 == "a" }.count == 2)
    }

    @Test func `a successor that already waits is decided on again when an instance of its scope becomes the holder`()
        async throws
    {
        let container = Container {
            handler("a", as: "a")
            waitingHandler()
            Registration(Set<Int>.self, lifetime: .scoped) { r in
                _ = try await r.leaseMany(Handler.self)
                return []
            }
        }
        try await container.withInstance(Handler.self, contributedAs: "a") { _ in }
        let name = try await container.withScope { scope in
            async let holder = scope.resolve(Set<Int>.self)
            await began.pass()
            let reset = await resetAll(in: container)
            async let name = container.withInstance(Handler.self, contributedAs: "a") { $0.name }
            // It waits for the disposal of the one before, which waits for the factory's lease.
            await until { isAwaitingDisposal(in: container) }
            mayGo.open()
            _ = try await holder
            defer { withExtendedLifetime(reset) {} }
            return try await name
        }
        #expect(name == "a")
        try await container.dispose()
        #expect(closed.entries.filter { $0 == "a" }.count == 2)
    }

    @Test func `jobs that lease reloaded handlers never see them closed, and only the current ones stay alive`()
        async throws
    {
        let kinds = ["a", "b", "c"]
        let made = Counter()
        let container = Container()
        func load(_ generation: Int) async throws {
            for kind in kinds {
                try await container.register(
                    handler("\(kind) \(generation)", as: kind) { _ in
                        made.increment()
                        await Task.yield()
                    })
            }
        }
        try await load(0)
        let closedUnderway = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(worker))
                    for job in 0..<250 {
                        if job.isMultiple(of: 5) { try await load(worker * 1_000 + job) }
                        let kind = random.pick(kinds)
                        let isWhole = random.chance(0.3)
                        let yields = random.chance(0.5)
                        let run = { @Sendable (handler: Handler?) async in
                            if yields { await Task.yield() }
                            if handler?.isClosed != false { closedUnderway.increment() }
                        }
                        if isWhole {
                            try await container.withInstanceMap(Handler.self, keyedBy: String.self) { handlers in
                                await run(handlers[kind])
                            }
                        } else {
                            try await container.withInstance(Handler.self, contributedAs: kind) { await run($0) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(closedUnderway.value == 0)
        await until { made.value - closed.entries.count <= kinds.count }
        #expect(container.core.withState { $0.ledger.count } <= kinds.count)
        #expect(container.core.withState { $0.leases.isEmpty })
        try await container.dispose()
        #expect(closed.entries.count == made.value && Set(closed.entries).count <= made.value)
    }
}
