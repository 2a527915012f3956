import Testing

@testable import AsyncDI

/// The limits of a drain: its time, and the work that is not its own.
@Suite(.timeLimit(.minutes(10))) struct DrainLimitTests {
    private func pool(fallbacks: [Container] = []) -> Container {
        Container(name: "pool", fallbacks: fallbacks) {
            Registration(String.self, lifetime: .singleton) { _ in "late" }
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
        }
    }

    /// A drain that waits for a body of the container, and what happens meanwhile: outside, and in the body.
    private func duringADrain(
        of container: Container, _ operation: () async throws -> Void,
        inBody: @escaping @Sendable () async throws -> Void = {}
    ) async throws {
        let mayGoOn = Gate()
        let request = Task {
            try await container.withScope { _ in
                await mayGoOn.pass()
                try await inBody()
            }
        }
        await mayGoOn.arrived()
        let drain = Task { try await container.drain() }
        while !container.table.isDraining { await Task.yield() }
        try await operation()
        mayGoOn.open()
        try await request.value
        try await drain.value
    }

    @Test(arguments: [false, true])
    func `an endless body or hook does not hold a drain up for ever`(isHook: Bool) async throws {
        let clock = ManualClock()
        let (isWorking, mayEnd) = (Gate(), Gate())
        let container = Container(clock: clock) {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
            Registration(String.self, lifetime: .singleton) { _ in "" }.onDispose { _ in
                if isHook { await mayEnd.pass() }
            }
        }
        _ = try await container.resolve(String.self)
        let body = Task {
            try await container.withInstance(Thing.self, arguments: 1) { _ in
                isWorking.arrive()
                if !isHook { await mayEnd.pass() }
            }
        }
        await isWorking.arrived()
        if isHook { try await body.value }
        let isOver = Counter()
        let drain = Task {
            defer { isOver.increment() }
            try await container.drain(deadline: .seconds(5))
        }
        var elapsed = 0
        while isOver.value == 0 {
            // Waits of both kinds begin and end by themselves, so each step of time is for a sleeper that is there.
            if clock.hasSleepers {
                clock.advance(by: .seconds(1))
                elapsed += 1
            }
            for _ in 0..<100 where isOver.value == 0 { await Task.yield() }
        }
        #expect(isHook ? elapsed <= 10 : (5...15).contains(elapsed))
        let error = await #expect(throws: DisposalError.self) { try await drain.value }
        #expect((error?.errors.first as? ResolutionError)?.code == .disposalTimedOut)
        mayEnd.open()
        _ = await body.result
        try await container.dispose()
    }

    @Test func `a drain that may not wait at all still disposes`() async throws {
        let isClosed = Counter()
        // Time stands still, so only a disposal without any time for it would be late.
        let container = Container(clock: ManualClock()) {
            Registration(String.self, lifetime: .singleton) { _ in "" }.onDispose { _ in
                for _ in 0..<100 { await Task.yield() }
                isClosed.increment()
            }
        }
        _ = try await container.resolve(String.self)
        try await container.drain(deadline: .zero)
        #expect(isClosed.value == 1)
        await expect(.disposed) { try await container.resolve(String.self) }
    }

    @Test func `the container that drains is named where a service of an open parent is refused`() async throws {
        let parent = pool()
        let container = Container(name: "draining", parent: parent)
        try await duringADrain(of: container) {
            for request in [
                { _ = try await container.resolve(String.self) },
                { _ = try await container.optional(String.self) },
                { try await container.withInstance(Thing.self, arguments: 1) { _ in } },
            ] as [@Sendable () async throws -> Void] {
                let error = await expect(.disposed) { try await request() }
                #expect(error?.message.contains("container \"draining\", which is draining") == true)
            }
            let late = try await parent.resolve(String.self)
            #expect(late == "late")
        }
    }

    @Test func `a container that falls back on the draining one begins no work there`() async throws {
        let pool = pool()
        let app = Container(fallbacks: [pool])
        _ = try await app.withInstance(Thing.self, arguments: 1) { $0.number }
        try await duringADrain(of: pool) {
            await expect(.disposed) { try await app.resolve(String.self) }
            await expect(.disposed) { try await app.withInstance(Thing.self, arguments: 1) { _ in } }
            let cached = try await app.resolve(Thing.self, arguments: 1)
            #expect(cached.number == 1)
        } inBody: {
            let late = try await app.resolve(String.self)
            #expect(late == "late")
        }
    }

    @Test func `the body of another container's lease is no work of the draining one`() async throws {
        let (app, other) = (pool(), pool())
        try await duringADrain(of: app) {
            try await other.withInstance(Thing.self, arguments: 1) { _ in
                await expect(.disposed) { try await app.withScope { _ in } }
                await expect(.disposed) { try await app.resolve(String.self) }
            }
        } inBody: {
            // Inside a body of its own, another lease changes nothing.
            try await other.withInstance(Thing.self, arguments: 1) { _ in
                let late = try await app.resolve(String.self)
                #expect(late == "late")
            }
        }
    }

    @Test func `the body of a lease of its own begins further work`() async throws {
        let app = pool()
        let mayGoOn = Gate()
        let job = Task {
            try await app.withInstance(Thing.self, arguments: 1) { _ in
                await mayGoOn.pass()
                return try await app.withScope { try await $0.resolve(String.self) }
            }
        }
        await mayGoOn.arrived()
        let drain = Task { try await app.drain() }
        while !app.table.isDraining { await Task.yield() }
        mayGoOn.open()
        #expect(try await job.value == "late")
        try await drain.value
    }

    /// Two creations of a singleton may be reset one after the other, and end in any order.
    @Test(arguments: [0, 1])
    func `the drain of a key throws the errors of hooks of a creation that ended before another one did`(
        first: Int
    ) async throws {
        let factory = DrivenFactory<Int>()
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { (_, _: Int) in Thing(try await factory.run()) }
                // So that the instance is disposed as soon as its creation has failed.
                .injectProperties { _, thing in throw TestError(thing.number) }
                .onDispose { thing in throw TestError(10 + thing.number) }
        }
        var requests: [Task<Thing, any Error>] = []
        for count in 1...2 {
            requests.append(Task { try await container.resolve(Thing.self, arguments: 1) })
            await factory.began(count)
            try await container.reset()
        }
        let drain = Task { try await container.drain(Thing.self, arguments: 1) }
        let core = container.core
        while !core.withState({ $0.flights.entries.allSatisfy { $0.key.requestedEnd != nil } }) { await Task.yield() }
        for run in [first, 1 - first] {
            factory.answer(run, run: run)
            await #expect(throws: TestError(run)) { try await requests[run].value }
            // The disposal is over before the other creation ends.
            while core.withState({ !$0.endings.isEmpty }) { await Task.yield() }
        }
        let error = await #expect(throws: DisposalError.self) { try await drain.value }
        #expect(Set(error?.errors.compactMap { ($0 as? TestError)?.number } ?? []) == [10, 11])
    }

    /// Yields until a drain waits for the creation in flight.
    private func drainWaits(for core: ContainerCore) async {
        while core.withState({ $0.flights.entries.allSatisfy { $0.key.requestedEnd?.drains ?? 0 == 0 } }) {
            await Task.yield()
        }
    }

    enum End: CaseIterable { case awaited, deadline, refusal }

    @Test(arguments: End.allCases)
    func `errors of a drained creation's hooks are the drain's only while it waits`(_ end: End) async throws {
        let (factory, clock, hasCaller) = (DrivenFactory<Int>(), ManualClock(), Log<Bool>())
        let container = Container(clock: clock)
        try await container.register(
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in
                if end == .refusal {
                    await expect(.invalidOperation) { try await container.drain(Thing.self, arguments: n) }
                }
                return Thing(try await factory.run())
            }
            .onDispose { _, reason in hasCaller.append(reason.hasCaller) })
        let request = Task { try await container.resolve(Thing.self, arguments: 1) }
        await factory.began()
        if end == .refusal {
            factory.answer(1)
        } else {
            let drain = Task {
                try await container.drain(Thing.self, arguments: 1, deadline: end == .deadline ? .seconds(1) : nil)
            }
            await drainWaits(for: container.core)
            if end == .deadline { await passDeadline(of: drain, on: clock) }
            factory.answer(1)
            if end == .awaited { try await drain.value }
        }
        _ = try await request.value
        try await container.dispose()
        #expect(hasCaller.entries == [end == .awaited])
    }

    private func passDeadline(of drain: Task<Void, any Error>, on clock: ManualClock) async {
        await clock.sleepers(reach: 1)
        clock.advance(by: .seconds(1))
        await #expect(throws: DisposalError.self) { try await drain.value }
    }

    @Test(arguments: [false, true])
    func `errors of a leased instance's hooks are the drain's only while it waits`(isLate: Bool) async throws {
        let (clock, hasCaller) = (ManualClock(), Log<Bool>())
        let container = Container(clock: clock) {
            Registration(Thing.self, lifetime: .multiton) { (_, n: Int) in Thing(n) }
                .onDispose { _, reason in hasCaller.append(reason.hasCaller) }
        }
        let mayEnd = Gate()
        let body = Task { try await container.withInstance(Thing.self, arguments: 1) { _ in await mayEnd.pass() } }
        await mayEnd.arrived()
        let drain = Task { try await container.drain(Thing.self, arguments: 1, deadline: .seconds(1)) }
        if isLate { await passDeadline(of: drain, on: clock) } else { await clock.sleepers(reach: 1) }
        mayEnd.open()
        try await body.value
        if !isLate { try await drain.value }
        try await container.dispose()
        #expect(hasCaller.entries == [!isLate])
    }

    @Test func `an instance that a request keeps is not waited for by the drain of its key`() async throws {
        let (factory, closed) = (DrivenFactory<Int>(), Counter())
        let container = Container {
            Registration(Thing.self, lifetime: .singleton) { (_, _: Int) in Thing(try await factory.run()) }
                .onDispose { _ in closed.increment() }
        }
        let request = Task { try await container.resolve(Thing.self, arguments: 1) }
        await factory.began()
        let drain = Task { try await container.drain(Thing.self, arguments: 1) }
        await drainWaits(for: container.core)
        factory.answer(1)
        _ = try await request.value
        try await drain.value
        #expect(closed.value == 0)
        try await container.dispose()
        #expect(closed.value == 1)
    }
}
