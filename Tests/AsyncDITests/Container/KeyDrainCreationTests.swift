import Testing

@testable import AsyncDI

private final class Pool: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}

/// The drain of one key whose instance is in creation.
@Suite(.timeLimit(.minutes(10))) struct KeyDrainCreationTests {
    /// A container whose first instance opens when the gate is open, and closes when another one is.
    private struct Pools {
        let mayOpen = Gate()
        let mayClose = Gate()
        let runs = Counter()
        let log = Log<String>()
        let container: Container

        init(_ lifetime: Lifetime, hasHook: Bool = false, clock: any Clock<Duration> = ContinuousClock()) {
            container = Container(clock: clock) { [mayOpen, mayClose, runs, log] in
                let registration = Registration(Pool.self, lifetime: lifetime) { (_, _: String) in
                    let pool = Pool(runs.increment())
                    if pool.number == 1 { await mayOpen.pass() }
                    return pool
                }
                if hasHook {
                    registration.onDispose { pool in
                        if pool.number == 1 { await mayClose.pass() }
                        log.append("closed \(pool.number)")
                    }
                } else {
                    registration
                }
            }
        }

        /// Leases the instance until the gate is open.
        func lease(until mayLeave: Gate) -> Task<Void, any Error> {
            Task {
                try await container.withInstance(Pool.self, arguments: "a") { _ in
                    await mayLeave.pass()
                    log.append("lease ends")
                }
            }
        }

        /// Drains the key, and returns when the creation is excluded.
        func drain() async -> Task<Void, any Error> {
            let drain = Task {
                try await container.drain(Pool.self, arguments: "a")
                log.append("drained")
            }
            await until { container.core.withState { $0.flights.entries.values.contains(where: \.isInvalidated) } }
            await until { container.activity().creations.contains { $0.waiters > 0 } }
            return drain
        }

        /// Waits until as many creations go on.
        func flights(reach count: Int) async {
            await until { container.core.withState { $0.flights.all.count == count } }
        }

        /// Whether the drain waits for a lease, or is over.
        func drainIsDecided() -> Bool {
            log.entries.contains("drained")
                || container.core.withState { $0.leases.all.contains { !$0.pending.isEmpty } }
        }
    }

    @Test(arguments: [Lifetime.multiton, .singleton])
    func `a drain waits for the lease that a creation delivers`(_ lifetime: Lifetime) async throws {
        try await finishes {
            let (pools, mayLeave) = (Pools(lifetime), Gate())
            let body = pools.lease(until: mayLeave)
            await pools.mayOpen.arrived()
            let drain = await pools.drain()
            pools.mayOpen.open()
            await mayLeave.arrived()
            await until { pools.drainIsDecided() }
            #expect(pools.log.entries == [])
            mayLeave.open()
            try await body.value
            try await drain.value
            #expect(pools.log.entries == ["lease ends", "drained"])
            try await pools.container.dispose()
        }
    }

    @Test(arguments: [true, false])
    func `no second instance of a multiton comes before a drain of its key has ended`(isEarly: Bool) async throws {
        try await finishes {
            let (pools, mayLeave) = (Pools(.multiton), Gate())
            let body = pools.lease(until: mayLeave)
            await pools.mayOpen.arrived()
            let drain = await pools.drain()
            if !isEarly {
                pools.mayOpen.open()
                await mayLeave.arrived()
                await until { pools.drainIsDecided() }
            }
            let next = Task { try await pools.container.resolve(Pool.self, arguments: "a").number }
            let waiters = isEarly ? 2 : 1
            await until { pools.container.core.waiterCount(of: Pool.self) == waiters || pools.runs.value == 2 }
            #expect(pools.runs.value == 1)
            pools.mayOpen.open()
            await mayLeave.arrived()
            mayLeave.open()
            try await body.value
            try await drain.value
            #expect(try await next.value == 2)
            try await pools.container.dispose()
        }
    }

    /// The creation that waits for the first one is cancelled while a drain waits for both.
    @Test func `a cancelled successor does not let another one come before the drained creation has ended`()
        async throws
    {
        try await finishes {
            let pools = Pools(.multiton, hasHook: true)
            let first = Task { try await pools.container.resolve(Pool.self, arguments: "a") }
            await pools.mayOpen.arrived()
            try await pools.container.reset(Pool.self, arguments: "a")
            let second = Task { try await pools.container.resolve(Pool.self, arguments: "a") }
            await pools.flights(reach: 2)
            let drain = Task { try await pools.container.drain(Pool.self, arguments: "a") }
            await until { pools.container.core.withState { $0.flights.invalidated { _ in true }.count == 2 } }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            await pools.flights(reach: 1)
            let third = Task { try await pools.container.resolve(Pool.self, arguments: "a").number }
            await until {
                pools.runs.value == 2
                    || pools.container.core.withState { $0.flights.entries.values.contains { !$0.hasBegun } }
            }
            #expect(pools.runs.value == 1)
            pools.mayOpen.open()
            pools.mayClose.open()
            _ = try await (first.value, drain.value)
            #expect(try await third.value == 2)
            try await pools.container.dispose()
        }
    }

    @Test func `the next instance of a multiton waits for every creation that a drain has found`() async throws {
        try await finishes {
            let (mayOpen, opened, runs) = ([Gate(), Gate()], Counter(), Counter())
            let container = Container {
                Registration(Pool.self, lifetime: .multiton) { (_, _: String) in
                    let pool = Pool(runs.increment())
                    if pool.number <= 2 { await mayOpen[pool.number - 1].pass() }
                    opened.increment()
                    return pool
                }
            }
            @Sendable func request() -> Task<Int, any Error> {
                Task { try await container.resolve(Pool.self, arguments: "a").number }
            }
            var requests = [request()]
            await mayOpen[0].arrived()
            // Without a hook, it holds nothing off.
            try await container.reset(Pool.self, arguments: "a")
            requests.append(request())
            await mayOpen[1].arrived()
            let drain = Task { try await container.drain(Pool.self, arguments: "a") }
            await until { container.core.withState { $0.flights.invalidated { _ in true }.count == 2 } }
            requests.append(request())
            await container.core.waiters(of: Pool.self, reach: 3)
            for index in [1, 0] {
                #expect(runs.value == 2)
                mayOpen[index].open()
                await until { opened.value >= 2 - index }
                await until { container.core.withState { $0.flights.all.count } <= 1 + index }
            }
            for (index, request) in requests.enumerated() { #expect(try await request.value == index + 1) }
            try await drain.value
            try await container.dispose()
        }
    }

    @Test func `the next instance waits for the leases also when the drain's deadline has passed`() async throws {
        try await finishes {
            let (clock, mayLeave) = (ManualClock(), Gate())
            let pools = Pools(.multiton, clock: clock)
            let body = pools.lease(until: mayLeave)
            await pools.mayOpen.arrived()
            let drain = Task {
                try await pools.container.drain(Pool.self, arguments: "a", deadline: .seconds(1))
            }
            await clock.sleepers(reach: 1)
            clock.advance(by: .seconds(1))
            await #expect(throws: DisposalError.self) { try await drain.value }
            let next = Task { try await pools.container.resolve(Pool.self, arguments: "a").number }
            await pools.flights(reach: 2)
            pools.mayOpen.open()
            await mayLeave.arrived()
            await until { pools.runs.value == 2 || pools.drainIsDecided() }
            #expect(pools.runs.value == 1)
            mayLeave.open()
            try await body.value
            #expect(try await next.value == 2)
            try await pools.container.dispose()
        }
    }

    /// An argument that takes the container's lock when it is released.
    private final class Asking: Hashable, Sendable {
        let container: Locked<Container?>
        init(_ container: Locked<Container?>) { self.container = container }
        deinit { container.value?.core.withState { _ in } }
        static func == (first: Asking, second: Asking) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    @Test func `the arguments of drained creations are released outside the lock`() async throws {
        try await finishes(within: 120) {
            let (clock, mayOpen, runs, holder) = (ManualClock(), [Gate(), Gate()], Counter(), Locked<Container?>(nil))
            let container = Container(clock: clock) {
                Registration(Pool.self, lifetime: .multiton) { (_, _: Asking) in
                    let pool = Pool(runs.increment())
                    await mayOpen[pool.number - 1].pass()
                    return pool
                }
            }
            holder.value = container
            let first = Task { try await container.resolve(Pool.self, arguments: Asking(holder)).number }
            await mayOpen[0].arrived()
            try await container.reset(Pool.self)
            let second = Task { try await container.resolve(Pool.self, arguments: Asking(holder)).number }
            await mayOpen[1].arrived()
            // The error keeps the arguments.
            func drainInVain() async {
                let drain = Task {
                    try await container.drain(Pool.self, arguments: Asking(holder), deadline: .seconds(1))
                }
                await clock.sleepers(reach: 1)
                clock.advance(by: .seconds(1))
                await #expect(throws: DisposalError.self) { try await drain.value }
            }
            await drainInVain()
            mayOpen[0].open()
            #expect(try await first.value == 1)
            mayOpen[1].open()
            #expect(try await second.value == 2)
            try await container.dispose()
            holder.value = nil
        }
    }

    @Test func `a drain throws the error of an instance that it has let wait for a lease`() async throws {
        try await finishes {
            let (mayOpen, runs, closed) = ([Gate(), Gate()], Counter(), Gate())
            let container = Container {
                Registration(Pool.self, lifetime: .singleton) { (_, _: String) in
                    let pool = Pool(runs.increment())
                    await mayOpen[pool.number - 1].pass()
                    return pool
                }
                .onDispose { pool in
                    guard pool.number == 1 else { return }
                    closed.open()
                    throw TestError(1)
                }
            }
            let request = Task { try await container.resolve(Pool.self, arguments: "a") }
            await mayOpen[0].arrived()
            let body = Task { try await container.withInstance(Pool.self, arguments: "a") { _ in } }
            await container.core.waiters(of: Pool.self, reach: 2)
            try await container.reset(Pool.self, arguments: "a")
            let second = Task { try await container.resolve(Pool.self, arguments: "a") }
            await mayOpen[1].arrived()
            let drain = Task { try await container.drain(Pool.self, arguments: "a") }
            await until { container.core.withState { $0.flights.invalidated { _ in true }.count == 2 } }
            mayOpen[0].open()
            _ = try await (request.value, body.value)
            await closed.pass()
            await until { container.core.withState { $0.closing.isEmpty } }
            mayOpen[1].open()
            _ = try await second.value
            let error = await #expect(throws: DisposalError.self) { try await drain.value }
            #expect(error?.errors.count == 1)
            try await container.dispose()
        }
    }

    @Test func `a drain waits for an instance of a former registration that is being closed`() async throws {
        try await finishes {
            let pools = Pools(.singleton, hasHook: true)
            let body = Task { try await pools.container.withInstance(Pool.self, arguments: "a") { _ in } }
            await pools.mayOpen.arrived()
            try await pools.container.reset(Pool.self, arguments: "a")
            #expect(try await pools.container.resolve(Pool.self, arguments: "a").number == 2)
            pools.mayOpen.open()
            try await body.value
            await pools.mayClose.arrived()
            try await pools.container.register(Pool.self, lifetime: .singleton) { (_, _: String) in Pool(0) }
            await until { pools.log.entries.contains("closed 2") }
            await until { pools.container.core.withState { $0.closing.count == 1 } }
            let drain = Task {
                try await pools.container.drain(Pool.self, arguments: "a")
                pools.log.append("drained")
            }
            await until {
                pools.log.entries.contains("drained")
                    || pools.container.core.withState { $0.closing.values.contains(where: \.isDrained) }
            }
            pools.mayClose.open()
            try await drain.value
            #expect(pools.log.entries == ["closed 2", "closed 1", "drained"])
            try await pools.container.dispose()
        }
    }

    @Test func `a drain waits for a lease although another request keeps the instance`() async throws {
        try await finishes {
            let (pools, mayLeave) = (Pools(.singleton, hasHook: true), Gate())
            let request = Task { try await pools.container.resolve(Pool.self, arguments: "a") }
            await pools.mayOpen.arrived()
            let body = pools.lease(until: mayLeave)
            await pools.container.core.waiters(of: Pool.self, reach: 2)
            let drain = await pools.drain()
            pools.mayClose.open()
            pools.mayOpen.open()
            await mayLeave.arrived()
            await until { pools.drainIsDecided() }
            #expect(pools.log.entries == [])
            mayLeave.open()
            _ = try await (request.value, body.value, drain.value)
            #expect(pools.log.entries == ["lease ends", "closed 1", "drained"])
            try await pools.container.dispose()
        }
    }

    @Test(arguments: [true, false], [Lifetime.multiton, .singleton])
    func `a drain waits for the creation of a registration that has gone`(
        isReplaced: Bool, _ lifetime: Lifetime
    ) async throws {
        try await finishes {
            let (pools, mayLeave) = (Pools(lifetime), Gate())
            let body = pools.lease(until: mayLeave)
            await pools.mayOpen.arrived()
            if isReplaced {
                try await pools.container.register(Pool.self, lifetime: lifetime) { (_, _: String) in Pool(0) }
            } else {
                await pools.container.unregister(Pool.self)
            }
            let drain = Task {
                try await pools.container.drain(Pool.self, arguments: "a")
                pools.log.append("drained")
            }
            await until {
                pools.log.entries == ["drained"]
                    || pools.container.core.withState {
                        $0.flights.all.contains { $0.requestedEnd?.wasDrained == true }
                    }
            }
            pools.mayOpen.open()
            await mayLeave.arrived()
            await until { pools.drainIsDecided() }
            mayLeave.open()
            _ = try await (body.value, drain.value)
            #expect(pools.log.entries == ["lease ends", "drained"])
            try await pools.container.dispose()
        }
    }

    @Test func `a drain waits for an instance that is being closed, beside a later one`() async throws {
        try await finishes {
            let pools = Pools(.singleton, hasHook: true)
            let body = Task { try await pools.container.withInstance(Pool.self, arguments: "a") { _ in } }
            await pools.mayOpen.arrived()
            try await pools.container.reset(Pool.self, arguments: "a")
            #expect(try await pools.container.resolve(Pool.self, arguments: "a").number == 2)
            pools.mayOpen.open()
            try await body.value
            await pools.mayClose.arrived()
            let drain = Task {
                try await pools.container.drain(Pool.self, arguments: "a")
                pools.log.append("drained")
            }
            await until { pools.log.entries.contains("closed 2") }
            pools.mayClose.open()
            try await drain.value
            #expect(pools.log.entries == ["closed 2", "closed 1", "drained"])
            try await pools.container.dispose()
        }
    }
}
