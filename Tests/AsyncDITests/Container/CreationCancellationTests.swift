import Testing

@testable import AsyncDI

/// Waiters that leave a creation, and the fate of the creation.
@Suite(.timeLimit(.minutes(10))) struct CreationCancellationTests {
    private static let shared: [Lifetime] = [.singleton, .multiton, .weak, .scoped, Lifetime("custom")]

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
    func `a request that is cancelled beforehand starts nothing`(lifetime: Lifetime) async throws {
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
    func `a cancelled task still gets a cached instance`(lifetime: Lifetime) async throws {
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

    @Test func `the creation that the last waiter leaves ends, even if it waits for its cancellation alone`()
        async throws
    {
        let (cancelled, ended) = (Gate(), Gate())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                await withTaskCancellationHandler {
                    await cancelled.pass()
                } onCancel: {
                    cancelled.open()
                }
                ended.open()
                throw CancellationError()
            }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await cancelled.arrived()
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
        try await finishes { await ended.pass() }
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

    @Test func `a request during the end of a cancelled creation gets its value if one comes`() async throws {
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
    func `a request during the end of a cancelled creation starts over if no value comes`(
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
            let error = await expect(.creationCancelled) { try await attempt() }
            #expect(error?.underlying is CancellationError)
            #expect(error?.path.count == 1)
        }
    }

    @Test(arguments: [Lifetime.singleton, .scoped])
    func `a factory that cancels its own task cancels none of its requests`(lifetime: Lifetime) async throws {
        let mayEnd = Gate()
        let container = Container {
            Registration(Thing.self, lifetime: lifetime) { _ in
                await mayEnd.pass()
                withUnsafeCurrentTask { $0?.cancel() }
                try Task.checkCancellation()
                return Thing()
            }
        }
        let requests = (0..<2).map { _ in Task { try await container.resolve(Thing.self) } }
        await container.core.waiters(of: Thing.self, reach: 2)
        mayEnd.open()
        for request in requests {
            let error = await #expect(throws: ResolutionError.self) { try await request.value }
            #expect(error?.code == .creationCancelled && error?.underlying is CancellationError)
            #expect(error?.description.contains("because it has cancelled its own task") == true)
        }
    }
}
