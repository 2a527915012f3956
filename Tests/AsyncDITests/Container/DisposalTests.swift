import Testing

@testable import AsyncDI

/// Disposal is ordered, awaited and exactly once, and never hangs.
@Suite(.timeLimit(.minutes(10))) struct DisposalTests {
    @Test func `instances are disposed in the reverse order of their completion, each once`() async throws {
        let log = Log<String>()
        let container = Container {
            for name in ["a", "b", "c"] {
                Registration(String.self, qualifier: name, lifetime: .singleton) { _ in name }
                    .onDispose { log.append($0) }
            }
            Registration(Thing.self, lifetime: .multiton) { (r, n: Int) in
                _ = try await r.resolve(String.self, qualifier: "c")
                return Thing(n)
            }
            .onDispose { log.append("thing \($0.number)") }
        }
        for name in ["b", "a"] { _ = try await container.resolve(String.self, qualifier: name) }
        _ = try await container.resolve(Thing.self, arguments: 1)
        try await container.dispose()
        #expect(log.entries == ["thing 1", "c", "a", "b"])
        try await container.dispose()
        #expect(log.entries.count == 4)
    }

    @Test func `a request to a disposed container throws disposed and names it`() async throws {
        let container = Container(name: "app") { Registration(Int.self, instance: 1) }
        let scope = try await container.openScope("request")
        _ = try await container.resolve(Int.self)
        try await container.dispose()
        let attempts: [@Sendable () async throws -> Void] = [
            { _ = try await container.resolve(Int.self) }, { _ = try await container.optional(Int.self) },
            { _ = try await container.resolve(Int?.self) }, { _ = try await container.make(Int.self) },
            { _ = try container.ready(Int.self) }, { try await container.register(Int.self, instance: 2) },
            { try await container.reset() }, { try await container.reset(.singleton) }, { try await container.start() },
            { try await container.openScope("x") }, { try await container.withScope { _ in } },
            { _ = try await scope.resolve(Int.self) },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = await #expect(throws: ResolutionError.self, "attempt \(index)") { try await attempt() }
            #expect(error?.code == .disposed, "attempt \(index)")
            #expect(
                "\(error!)".contains(index == attempts.count - 1 ? "\"request\"" : "\"app\""),
                "attempt \(index): \(error!)")
        }
        #expect(await container.unregister(Int.self) == false)
        #expect(await container.isRegistered(Int.self) == false)
    }

    @Test func `a hook that throws does not stop the rest, and all errors come back together`() async throws {
        let log = Log<Int>()
        let container = Container {
            for n in 1...3 {
                Registration(Int.self, qualifier: "\(n)", lifetime: .singleton) { _ in n }
                    .onDispose {
                        log.append($0)
                        if $0 != 2 { throw TestError($0) }
                    }
            }
        }
        for n in 1...3 { _ = try await container.resolve(Int.self, qualifier: "\(n)") }
        let error = await #expect(throws: DisposalError.self) { try await container.dispose() }
        #expect(error?.errors.map { ($0 as? TestError)?.number } == [3, 1])
        #expect(log.entries == [3, 2, 1])
        try await container.dispose()
    }

    @Test func `two callers both wait for the one disposal`() async throws {
        let gate = Gate()
        let runs = Counter()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in
                runs.increment()
                await gate.pass()
            }
        }
        _ = try await container.resolve(Thing.self)
        let ended = Counter()
        let callers = (0..<2).map { _ in
            Task {
                try await container.dispose()
                ended.increment()
            }
        }
        await gate.arrived()
        for _ in 0..<100 { await Task.yield() }
        #expect(ended.value == 0)
        gate.open()
        for caller in callers { try await caller.value }
        #expect(runs.value == 1)
    }

    @Test func `disposal runs to the end in a cancelled task, and its hooks do not see the cancellation`() async throws
    {
        let log = Log<Bool>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in
                await Task.yield()
                log.append(Task.isCancelled)
            }
        }
        _ = try await container.resolve(Thing.self)
        let gate = Gate()
        let caller = Task {
            await gate.pass()
            try await container.dispose()
        }
        caller.cancel()
        gate.open()
        try await caller.value
        #expect(log.entries == [false])
    }

    @Test func `a creation in flight is cancelled and awaited, its product disposed, its waiters told`() async throws {
        let (begun, cancelled, answer) = (Gate(), Gate(), Gate())
        let log = Log<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { _ in
                begun.arrive()
                await withTaskCancellationHandler {
                    await answer.pass()
                } onCancel: {
                    cancelled.arrive()
                }
                return Thing(7)
            }
            .onDispose { log.append($0.number) }
        }
        let asker = Task { try await container.resolve(Thing.self) }
        await begun.arrived()
        let disposal = Task { try await container.dispose() }
        await cancelled.arrived()
        await expect(.disposed) { try await asker.value }
        #expect(log.entries.isEmpty)
        answer.open()
        try await disposal.value
        #expect(log.entries == [7])
    }

    @Test func `open scopes go first, the latest first, then children, then the container's own`() async throws {
        let log = Log<String>()
        let parent = Container(name: "parent") {
            Registration(String.self, lifetime: .scoped) { r in r.host.displayName }.onDispose { log.append($0) }
        }
        _ = try await parent.resolve(String.self)
        let a = try await parent.openScope("a")
        _ = try await a.resolve(String.self)
        let b = try await parent.openScope("b")
        let inner = try await a.openScope("a.a")
        _ = try await b.resolve(String.self)
        _ = try await inner.resolve(String.self)
        let child = Container(name: "child", parent: parent)
        _ = try await child.resolve(String.self)
        try await parent.dispose()
        #expect(
            log.entries.map { $0.dropFirst("container ".count) } == [
                "\"b\"", "\"a.a\"", "\"a\"", "\"child\"", "\"parent\"",
            ])
        await #expect(throws: ResolutionError.self) { try await child.resolve(String.self) }
    }

    @Test func `a disposer that disposes its own container returns`() async throws {
        let log = Log<String>()
        let container = Container(name: "app")
        let scope = try await container.openScope("scope") {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { _ in
                try await container.scope("other")?.dispose()
                try await container.dispose()
                log.append("scope")
            }
        }
        try await container.register(
            Registration(Int.self, lifetime: .singleton) { _ in 1 }.onDispose { _ in
                try await container.dispose()
                log.append("app")
            })
        _ = try await scope.resolve(Thing.self)
        _ = try await container.resolve(Int.self)
        try await scope.dispose()
        try await container.dispose()
        #expect(log.entries == ["scope", "app"])
    }

    @Test func `a disposer that a reset runs may dispose the container`() async throws {
        let container = Container()
        try await container.register(
            Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { [unowned container] _ in
                try await container.dispose()
            })
        _ = try await container.resolve(Thing.self)
        try await container.reset()
        try await container.dispose()
        await #expect(throws: ResolutionError.self) { try await container.resolve(Thing.self) }
    }

    @Test(arguments: [Lifetime.singleton, .transient, .graph, .scoped])
    func `a factory that disposes its own container gets an error`(lifetime: Lifetime) async throws {
        let container = Container()
        try await container.register(Thing.self, lifetime: lifetime) { [unowned container] _ in
            try await container.dispose()
            return Thing()
        }
        await expect(.invalidOperation) { try await container.resolve(Thing.self) }
        try await container.dispose()
    }

    @Test func `a deadline names the unfinished work, and the disposal goes on`() async throws {
        let gate = Gate()
        let log = Log<Int>()
        let clock = ManualClock()
        let container = Container(name: "app", clock: clock) {
            Registration(Thing.self, lifetime: .singleton) { _ in Thing(1) }.onDispose {
                await gate.pass()
                log.append($0.number)
            }
        }
        _ = try await container.resolve(Thing.self)
        let disposal = Task { try await container.dispose(deadline: .seconds(5)) }
        await gate.arrived()
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: DisposalError.self) { try await disposal.value }
        #expect((error?.errors.first as? ResolutionError)?.code == .disposalTimedOut)
        #expect("\(error!)".contains("Thing"))
        gate.open()
        try await container.dispose()
        #expect(log.entries == [1])
    }

    @Test func `a disposal that ends before its deadline leaves no sleeper`() async throws {
        let clock = ManualClock()
        let container = Container(clock: clock)
        try await container.dispose(deadline: .seconds(5))
        await clock.sleepers(reach: 0)
    }

    // MARK: withScope

    @Test func `withScope disposes on return, throw and cancellation, before it returns`() async throws {
        let log = Log<String>()
        let container = Container {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.onDispose { _, reason in
                await Task.yield()
                log.append(reason.error.map { "\(type(of: $0))" } ?? "returned")
            }
        }
        let seven = try await container.withScope {
            _ = try await $0.resolve(Thing.self)
            return 7
        }
        #expect(seven == 7 && log.entries == ["returned"])
        await #expect(throws: TestError(4)) {
            try await container.withScope {
                _ = try await $0.resolve(Thing.self)
                throw TestError(4)
            }
        }
        #expect(log.entries == ["returned", "TestError"])
        let begun = Gate()
        let body = Task {
            try await container.withScope { scope in
                _ = try await scope.resolve(Thing.self)
                begun.arrive()
                try await untilCancelled()
            }
        }
        await begun.arrived()
        body.cancel()
        await #expect(throws: CancellationError.self) { try await body.value }
        #expect(log.entries == ["returned", "TestError", "CancellationError"])
    }

    @Test func `the body's error wins over the disposal's, which reaches the observers`() async throws {
        let observer = RecordingObserver()
        let container = Container(observers: [observer]) {
            Registration(Thing.self, lifetime: .scoped) { _ in Thing() }.onDispose { _ in throw TestError(2) }
        }
        await #expect(throws: TestError(1)) {
            try await container.withScope {
                _ = try await $0.resolve(Thing.self)
                throw TestError(1)
            }
        }
        await observer.received {
            if case .failed(_, let error) = $0 { error as? TestError == TestError(2) } else { false }
        }
        await #expect(throws: TestError(2)) {
            try await container.withScope { _ = try await $0.resolve(Thing.self) }
        }
    }

    @Test func `replaced and unregistered instances are disposed too, and dispose waits for them`() async throws {
        let gate = Gate()
        let log = Log<Int>()
        func registration(_ n: Int) -> Registration<Thing> {
            Registration(lifetime: .singleton) { _ in Thing(n) }.onDispose {
                await gate.pass()
                log.append($0.number)
            }
        }
        let container = Container { registration(1) }
        _ = try await container.resolve(Thing.self)
        try await container.register(registration(2))
        _ = try await container.resolve(Thing.self)
        await container.unregister(Thing.self)
        await gate.arrived(2)
        let disposal = Task { try await container.dispose() }
        gate.open()
        try await disposal.value
        #expect(log.entries.sorted() == [1, 2])
    }

    @Test func `an instance is disposed only with a hook of its own, and an instance whose hook failed is disposed`()
        async throws
    {
        let log = Log<String>()
        let container = Container {
            Registration(Thing.self, instance: Thing())
            Registration(Int.self, instance: 1).onDispose { _ in log.append("instance") }
            Registration(String.self, lifetime: .singleton) { _ in "made" }
                .onCreate { _, _ in throw TestError() }
                .onDispose { log.append($0) }
        }
        await #expect(throws: TestError.self) { try await container.resolve(String.self) }
        try await container.reset()
        #expect(try await container.resolve(Int.self) == 1)
        try await container.dispose()
        #expect(log.entries.sorted() == ["instance", "made"])
    }

    @Test func `a dropped container leaks nothing and runs no hook`() async throws {
        let log = Log<Int>()
        weak var thing: Thing?
        weak var core: ContainerCore?
        weak var scopeCore: ContainerCore?
        do {
            let container = Container {
                Registration(Thing.self, lifetime: .singleton) { _ in Thing() }.onDispose { log.append($0.number) }
                // Keeps its resolver, and with it the core: a cycle, were the container not a handle.
                Registration(Keeper.self, lifetime: .singleton) { r in Keeper(r) }
            }
            thing = try await container.resolve(Thing.self)
            _ = try await container.resolve(Keeper.self)
            let scope = try await container.openScope("open")
            _ = try await scope.resolve(Keeper.self)
            core = container.core
            scopeCore = scope.core
            #expect(thing != nil && core != nil && scopeCore != nil)
        }
        #expect(thing == nil && core == nil && scopeCore == nil)
        #expect(log.entries.isEmpty)
    }

    @Test func `a resolver kept beyond its container says that this is disposed`() async throws {
        var container: Container? = Container { Registration(Keeper.self, lifetime: .singleton) { r in Keeper(r) } }
        let keeper = try await container!.resolve(Keeper.self)
        container = nil
        await expect(.disposed) { try await keeper.resolver.resolve(Keeper.self) }
    }

    @Test func `a deadline that comes before the first waiter is not lost`() async {
        for _ in 0..<5000 {
            #expect(await !Disposal(below: nil).wait(atMost: .zero, clock: StandingClock()))
        }
    }
}
