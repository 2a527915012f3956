import Testing

@testable import AsyncDI

/// One creation at a time for each key: DESIGN 3.3.
@Suite(.timeLimit(.minutes(10))) struct SharedCreationTests {
    static let shared: [Lifetime] = [.singleton, .multiton, .weak, .scoped, Lifetime("custom")]

    @Test(arguments: shared)
    func `ten thousand askers get one instance of one run`(lifetime: Lifetime) async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in try await factory.run() }
        }
        let askers = (0..<10_000).map { _ in Task { try await container.resolve(Thing.self) } }
        await container.core.waiters(of: Thing.self, reach: 10_000)
        let thing = Thing(1)
        factory.answer(thing)
        for asker in askers { #expect(try await asker.value === thing) }
        #expect(factory.count == 1)
    }

    @Test func `other services resolve while a factory runs`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() }
            Registration(Int.self, lifetime: .singleton) { _ in 7 }
            Registration(String.self) { _ in "quick" }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await factory.began()
        #expect(try await container.resolve(Int.self) == 7)
        #expect(try await container.resolve(String.self) == "quick")
        try await container.register(Double.self, instance: 0.5)
        #expect(try await container.resolve(Double.self) == 0.5)
        factory.answer(Thing())
        _ = try await asker.value
    }

    @Test func `arguments that differ are created side by side`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { (_, _: Int) in try await factory.run() }
        }
        let one = Task { try await container.resolve(Thing.self, arguments: 1) }
        let two = Task { try await container.resolve(Thing.self, arguments: 2) }
        await factory.began(2)
        factory.answer(Thing(10), run: 0)
        factory.answer(Thing(20), run: 1)
        let (first, second) = (try await one.value, try await two.value)
        #expect(first !== second)
        #expect(try await container.resolve(Thing.self, arguments: 1) === first)
    }

    @Test func `an error reaches every waiter, unchanged, and is not cached`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let askers = (0..<5).map { _ in Task { try await container.resolve(Thing.self) } }
        await container.core.waiters(of: Thing.self, reach: 5)
        factory.fail(TestError(3))
        for asker in askers {
            await #expect(throws: TestError(3)) { try await asker.value }
        }
        let retry = Task { try await container.resolve(Thing.self) }
        await factory.began(2)
        factory.answer(Thing(1), run: 1)
        #expect(try await retry.value.number == 1)
    }

    @Test func `a waiter that retries in its catch meets a new creation`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                if runs.increment() == 1 { throw TestError() }
                return Thing(2)
            }
        }
        do {
            _ = try await container.resolve(Thing.self)
            Issue.record("the first creation fails")
        } catch {
            #expect(try await container.resolve(Thing.self).number == 2)
        }
    }

    @Test func `what a failed factory had resolved stays cached`() async throws {
        let runs = Counter()
        let container = Container {
            Registration(Int.self, lifetime: .singleton) { _ in runs.increment() }
            Registration(Thing.self, lifetime: .singleton) { r in
                _ = try await r.resolve(Int.self)
                throw TestError()
            }
        }
        for _ in 0..<2 {
            await #expect(throws: TestError.self) { try await container.resolve(Thing.self) }
        }
        #expect(runs.value == 1)
    }

    // MARK: Cancellation

    @Test func `a cancelled waiter leaves alone, at once`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let stays = Task { try await container.resolve(Thing.self) }
        await factory.began()
        let leaves = Task { try await container.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 2)
        leaves.cancel()
        // The factory has not been answered: only prompt cancellation ends this.
        await #expect(throws: CancellationError.self) { try await leaves.value }
        factory.answer(Thing(4))
        #expect(try await stays.value.number == 4)
        #expect(factory.count == 1)
    }

    @Test func `the first asker may leave and the others still get the instance`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let first = Task { try await container.resolve(Thing.self) }
        await factory.began()
        let second = Task { try await container.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        factory.answer(Thing(4))
        #expect(try await second.value.number == 4)
    }

    @Test(arguments: shared + [.graph, .transient])
    func `who is cancelled before asking starts nothing`(lifetime: Lifetime) async throws {
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in Thing(runs.increment()) }
        }
        let gate = Gate()
        let asker = Task {
            await gate.pass()
            return try await container.resolve(Thing.self)
        }
        asker.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await asker.value }
        #expect(runs.value == 0)
    }

    @Test(arguments: [Lifetime.singleton, .multiton, .scoped])
    func `a cancelled task still gets what is there`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { (_, number: Int) in Thing(number) }
            Registration(Int.self, lifetime: lifetime) { _ in 3 }
        }
        let thing = try await container.resolve(Thing.self, arguments: 1)
        _ = try await container.resolve(Int.self)
        let gate = Gate()
        let asker = Task {
            await gate.pass()
            return (try await container.resolve(Thing.self, arguments: 1), try await container.resolve(Int.self))
        }
        asker.cancel()
        gate.open()
        #expect(try await asker.value.0 === thing)
    }

    @Test func `when the last waiter leaves, the creation is cancelled`() async throws {
        let cancelled = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                await withTaskCancellationHandler {
                    await cancelled.pass()
                } onCancel: {
                    cancelled.open()
                }
                throw CancellationError()
            }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await cancelled.arrived()
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
    }

    @Test func `with finish, an abandoned creation runs on and its instance is kept`() async throws {
        let factory = DrivenFactory<Thing>()
        let wasCancelled = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                let thing = try await factory.run()
                if Task.isCancelled { wasCancelled.increment() }
                return thing
            }.whenAbandoned(.finish)
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await factory.began()
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
        let thing = Thing(9)
        factory.answer(thing)
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(wasCancelled.value == 0)
        #expect(factory.count == 1)
    }

    @Test func `who asks while a cancelled creation winds down gets its value if one comes`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let first = Task { try await container.resolve(Thing.self) }
        await factory.began()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await container.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 1)
        let thing = Thing(5)
        factory.answer(thing)
        #expect(try await second.value === thing)
        #expect(try await container.resolve(Thing.self) === thing)
        #expect(factory.count == 1)
    }

    @Test(arguments: [CancellationError() as any Error & Sendable, TestError(1)])
    func `who asks while a cancelled creation winds down starts over if no value comes`(
        error: any Error & Sendable
    ) async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let first = Task { try await container.resolve(Thing.self) }
        await factory.began()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await container.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 1)
        #expect(factory.count == 1)  // Never two runs at once.
        factory.fail(error)
        await factory.began(2)
        factory.answer(Thing(6), run: 1)
        #expect(try await second.value.number == 6)
    }

    @Test func `a scope that joined its parent's creation starts over in the scope`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let scope = try await container.openScope()
        let first = Task { try await container.resolve(Thing.self) }
        await factory.began()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await scope.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 1)
        let own = Thing(7)
        try await scope.register(instance: own)
        factory.fail(TestError(1))
        #expect(try await second.value === own)
        #expect(factory.count == 1)
    }

    @Test func `a scope that joined its parent's creation leaves it at once when cancelled`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let scope = try await container.openScope()
        let first = Task { try await container.resolve(Thing.self) }
        await factory.began()
        let second = Task { try await scope.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 2)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(container.core.waiterCount(of: Thing.self) == 1)
        factory.answer(Thing(8))
        #expect(try await scope.resolve(Thing.self) === first.value)
    }

    @Test func `a CancellationError of the factory's own is a failure of that factory`() async throws {
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in throw CancellationError() }
            Registration(Int.self, lifetime: .transient) { _ in throw CancellationError() }
            Registration(String.self, lifetime: .graph) { _ in throw CancellationError() }
            Registration(making: [Int].self) { _ in throw CancellationError() }
        }
        let attempts: [@Sendable () async throws -> Void] = [
            { _ = try await container.resolve(Thing.self) }, { _ = try await container.resolve(Int.self) },
            { _ = try await container.resolve(String.self) }, { _ = try await container.make([Int].self) },
        ]
        for attempt in attempts {
            let error = await #expect(throws: ResolutionError.self) { try await attempt() }
            #expect(error?.code == .creationCancelled)
            #expect(error?.underlying is CancellationError)
            #expect(error?.path.count == 1)
        }
    }

    // MARK: Changes in flight

    @Test func `after a reset in flight the next asker gets a new creation, the waiters the old one`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let before = Task { try await container.resolve(Thing.self) }
        await factory.began()
        try await container.reset(Thing.self)
        let after = Task { try await container.resolve(Thing.self) }
        await factory.began(2)
        factory.answer(Thing(1), run: 0)
        #expect(try await before.value.number == 1)
        factory.answer(Thing(2), run: 1)
        #expect(try await after.value.number == 2)
        #expect(try await container.resolve(Thing.self).number == 2)
    }

    @Test func `after a replacement in flight nobody after the waiters gets the old one`() async throws {
        let old = DrivenFactory<Thing>()
        let disposed = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in try await old.run() }
                .onDispose { disposed.append($0.number) }
        }
        let before = Task { try await container.resolve(Thing.self) }
        await old.began()
        try await container.register(Thing.self, lifetime: .singleton) { _ in Thing(2) }
        #expect(try await container.resolve(Thing.self).number == 2)
        old.answer(Thing(1))
        #expect(try await before.value.number == 1)
        #expect(try await container.resolve(Thing.self).number == 2)
        try await container.dispose()
        #expect(disposed.entries == [1])
    }

    @Test func `after unregister in flight the next asker is told, the waiters get it`() async throws {
        let factory = DrivenFactory<Thing>()
        let container = Container { Registration(Thing.self, lifetime: .singleton) { _ in try await factory.run() } }
        let before = Task { try await container.resolve(Thing.self) }
        await factory.began()
        #expect(await container.unregister(Thing.self))
        await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
        factory.answer(Thing(1))
        #expect(try await before.value.number == 1)
    }

    // MARK: Surroundings

    @TaskLocal static var request: String?

    @Test(arguments: [Lifetime.singleton, .multiton, .weak])
    func `a creation in the owner sees no task-local of its asker`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Log<String?>.self, lifetime: lifetime) { _ in
                let log = Log<String?>()
                log.append(Self.request)
                return log
            }
        }
        let log = try await Self.$request.withValue("42") { try await container.resolve(Log<String?>.self) }
        #expect(log.entries == [nil])
    }

    @Test(arguments: [Lifetime.scoped, .graph, .transient])
    func `a scoped, graph or transient creation sees its asker's task-locals`(lifetime: Lifetime) async throws {
        let container = Container {
            Registration(Log<String?>.self, lifetime: lifetime) { _ in
                let log = Log<String?>()
                log.append(Self.request)
                return log
            }
        }
        let log = try await Self.$request.withValue("42") { try await container.resolve(Log<String?>.self) }
        #expect(log.entries == ["42"])
    }

    @Test @MainActor func `transient and graph factories run on the caller's executor, shared ones do not`()
        async throws
    {
        let container = Container {
            Registration(Int.self, lifetime: .transient) { _ in await isOnMainActor() ? 1 : 0 }
            Registration(Double.self, lifetime: .graph) { _ in await isOnMainActor() ? 1 : 0 }
            Registration(String.self, lifetime: .singleton) { _ in await isOnMainActor() ? "main" : "elsewhere" }
        }
        #expect(try await container.resolve(Int.self) == 1)
        #expect(try await container.resolve(Double.self) == 1)
        #expect(try await container.resolve(String.self) == "elsewhere")
    }

    @Test func `a waiter's higher priority reaches the creation`() async throws {
        let factory = DrivenFactory<Void>()
        let priorities = Log<TaskPriority>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                priorities.append(Task.currentPriority)
                try await factory.run()
                priorities.append(Task.currentPriority)
                return Thing()
            }
        }
        let low = Task.detached(priority: .background) { try await container.resolve(Thing.self) }
        await factory.began()
        let high = Task.detached(priority: .high) { try await container.resolve(Thing.self) }
        await container.core.waiters(of: Thing.self, reach: 2)
        factory.answer(())
        _ = try await high.value
        _ = try await low.value
        #expect(priorities.entries.first == .background)
        #expect(priorities.entries.last == .high)
    }

    @Test func `a waiter whose priority is raised while it waits passes it on`() async throws {
        let factory = DrivenFactory<Void>()
        let container = Container {
            Registration(TaskPriority.self, lifetime: .singleton) { _ in
                try await factory.run()
                return Task.currentPriority
            }
        }
        let low = Task.detached(priority: .background) { try await container.resolve(TaskPriority.self) }
        await factory.began()
        await container.core.waiters(of: TaskPriority.self, reach: 1)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { low.escalatePriority(to: .high) }
        factory.answer(())
        #expect(try await low.value == .high)
    }

    /// A singleton whose factory stands in the thread of who asks first, and then gives the priority that it gets.
    private func standing(in thread: ThreadGate, _ begun: Gate) -> Container {
        Container {
            Registration(TaskPriority.self, lifetime: .singleton) { _ in
                begun.arrive()
                thread.wait()
                for _ in 0..<1_000_000 where Task.currentPriority < .high { await Task.yield() }
                return Task.currentPriority
            }
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `an asker that is raised while the factory runs in its thread passes it on`() async throws {
        let (thread, begun) = (ThreadGate(), Gate())
        let container = standing(in: thread, begun)
        let low = Task.detached(priority: .background) {
            try await withTaskPriorityEscalationHandler {
                try await container.resolve(TaskPriority.self)
            } onPriorityEscalated: { _, _ in
                thread.open()
            }
        }
        await begun.arrived()
        low.escalatePriority(to: .high)
        #expect(try await low.value == .high)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `who joins while the factory runs in the first one's thread raises it`() async throws {
        let (thread, begun) = (ThreadGate(), Gate())
        let container = standing(in: thread, begun)
        let low = Task.detached(priority: .background) { try await container.resolve(TaskPriority.self) }
        await begun.arrived()
        let high = Task.detached(priority: .high) { try await container.resolve(TaskPriority.self) }
        await container.core.waiters(of: TaskPriority.self, reach: 1)
        thread.open()
        #expect(try await high.value == .high)
        #expect(try await low.value == .high)
    }
}

/// Whether the calling code runs on the main actor's executor.
private nonisolated(nonsending) func isOnMainActor() async -> Bool {
    #isolation === MainActor.shared
}
